"""Options that choose the compilers, and the programs that the stages call."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from buildsys import toolchains


def add_tool_options(parser: argparse.ArgumentParser) -> None:
    """Add `--toolchain`, `--toolkit` and `--keep-build-tree`."""
    parser.add_argument("--toolchain", choices=sorted(toolchains.listed()), default="", help="instead of the row's own")
    parser.add_argument(
        "--toolkit", default="", metavar="PROVIDER", help="where a CUDA row's toolkit comes from (default: the first that has it)"
    )
    parser.add_argument("--keep-build-tree", action="store_true", help="keep CMake's build tree, for quick rebuilds of native code")


def find_own_programs() -> None:
    """Put the folder of this interpreter first on PATH: pip's and CMake's programs lie there, whether or not it was activated."""
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
