"""A quick proof that a row's toolkit compiles: a handful of the plugin's files, with the row's own flags.

The whole plugin takes a quarter of an hour for one architecture; this takes a few minutes, and fails where it would. What the
objects have code for is read from them, as the audit reads it from a finished plugin.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from buildsys.audit.checks.architectures import compare
from buildsys.audit.device_code import DeviceCode, device_code
from buildsys.errors import ToolkitError
from buildsys.pipeline.cuda import TARGET, PluginBuild, configure
from buildsys.process import run_logged
from buildsys.project import VENDOR, cache_dir
from buildsys.toolkits.request import this_system

SOURCES = VENDOR / "ggml" / "src" / TARGET
_OBJECTS = f"llama.cpp/ggml/src/{TARGET}/CMakeFiles/{TARGET}.dir"


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """One file: how long its compilation took by itself, in seconds, the bytes of the object, and what it has code for."""

    file: str
    seconds: float
    size: int
    code: DeviceCode


def compile_some(plugin: PluginBuild, files: Sequence[str], *, architectures: Sequence[str]) -> list[Compiled]:
    """Compile `files` of ggml's CUDA folder for `architectures`; nothing is linked, and nothing is kept.

    Raises:
        ToolkitError: llama.cpp has no such file any more, or an object lacks code that was asked for.
        CommandFailedError: one doesn't compile.
    """
    strangers = [file for file in files if not (SOURCES / file).is_file()]
    if strangers:
        raise ToolkitError(f"llama.cpp has no {', '.join(strangers)}", hint="correct [check] in buildsys/toolkits.toml")
    some = replace(plugin, flags={**plugin.flags, "CMAKE_CUDA_ARCHITECTURES": ";".join(architectures)})
    tree = cache_dir() / "native" / "trees" / f"{plugin.name}-check"
    shutil.rmtree(tree, ignore_errors=True)
    log = tree.with_suffix(".log")
    log.unlink(missing_ok=True)
    configure(some, tree, log=log)
    targets = {f"{_OBJECTS}/{file}{_suffix()}": file for file in files}
    run_logged(["cmake", "--build", tree, "--target", *targets], log=log, label=f"{plugin.name}: compiling {len(files)} CUDA files")
    seconds = _seconds(tree / ".ninja_log")
    compiled = [_examined(tree / target, file, seconds[target]) for target, file in targets.items()]
    findings = [f"{entry.file} {finding}" for entry in compiled for finding in compare(entry.code, architectures)]
    if findings:
        raise ToolkitError("\n".join(findings), hint=f"read what CMake made of the list in {log}, and correct buildsys/matrix.toml")
    shutil.rmtree(tree)
    return compiled


def _examined(built: Path, file: str, seconds: float) -> Compiled:
    data = built.read_bytes()
    return Compiled(file=file, seconds=seconds, size=len(data), code=device_code(built.name, data))


def _suffix() -> str:
    return ".obj" if this_system().startswith("windows") else ".o"


def _seconds(log: Path) -> dict[str, float]:
    """By output, how long Ninja waited for it: its log has start and end in milliseconds, a time stamp and the output."""
    lines = [line.split("\t") for line in log.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {line[3]: (int(line[1]) - int(line[0])) / 1000 for line in lines}
