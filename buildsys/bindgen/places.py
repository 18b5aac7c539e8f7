"""Where the generated files are, relative to the project's root."""

from __future__ import annotations

from pathlib import Path

BINDINGS = Path("package", "llama_cpp", "_native", "bindings")
PROBE = Path("buildsys", "native", "abi_probe.c")
