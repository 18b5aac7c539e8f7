"""The compile stage: the native libraries of one row, kept in the cache by what they were made from."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from buildsys import toolchains
from buildsys.matrix import BuildRow
from buildsys.process import run_logged
from buildsys.project import NATIVE, ROOT, cache_dir, pin
from buildsys.toolchains import ReadyToolchain


@dataclass(frozen=True, kw_only=True)
class NativeOutput:
    """Compiled, installed libraries: the folder to package, and whether the cache had them."""

    folder: Path
    cached: bool


def build_native(row: BuildRow, *, toolchain: str = "", keep_tree: bool = False) -> NativeOutput:
    """Compile the native side of `row`, or take it from the cache.

    The key covers the pin, the toolchain, the flags and the native project's own files, so a change of Python
    code alone compiles nothing. An interrupted compilation goes on where it stopped.
    """
    ready = toolchains.prepare(toolchain or row.toolchain, row.target)
    home = cache_dir() / "native"
    flags = _definitions(row, ready)
    output = home / f"{row.identifier}-{ready.name}-{_digest([*_identity(ready, flags), *_project_files()])}"
    tree = home / "trees" / f"{row.identifier}-{ready.name}-{_digest([*_identity(ready, flags), str(ROOT)])}"
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{output}.lock"):
        if output.is_dir():
            return NativeOutput(folder=output, cached=True)
        _compile(tree, output, flags, log=output.with_suffix(".log"), name=row.identifier)
        if not keep_tree:
            shutil.rmtree(tree, ignore_errors=True)
    return NativeOutput(folder=output, cached=False)


def _definitions(row: BuildRow, ready: ReadyToolchain) -> dict[str, str]:
    return {
        "CMAKE_BUILD_TYPE": "Release",
        **ready.defines,
        "LLAMA_BUILD_COMMIT": pin().commit[:9],
        "LLAMA_BUILD_NUMBER": "0",
        **row.cmake,
    }


def _identity(ready: ReadyToolchain, flags: dict[str, str]) -> list[str]:
    """What decides the output apart from the project's files; cache paths inside the flags don't."""
    portable = (f"{key}={value.replace(str(cache_dir()), '')}" for key, value in sorted(flags.items()))
    return [pin().commit, ready.identity, *portable]


def _project_files() -> Iterator[str]:
    licenses = ROOT / "licenses"
    for path in [ROOT / "CMakeLists.txt", *sorted(NATIVE.iterdir()), *sorted(licenses.iterdir())]:
        if path.is_file():
            yield f"{path.relative_to(ROOT)}:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _compile(tree: Path, output: Path, flags: dict[str, str], *, log: Path, name: str) -> None:
    log.unlink(missing_ok=True)
    defines = [f"-D{key}={value}" for key, value in flags.items()]
    run_logged(["cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", *defines], log=log, label=f"{name}: configuring")
    run_logged(["cmake", "--build", tree], log=log, label=f"{name}: compiling")
    staging = output.with_name(f"{output.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    run_logged(["cmake", "--install", tree, "--prefix", staging, "--component", "runtime"], log=log, label=f"{name}: installing")
    staging.rename(output)
