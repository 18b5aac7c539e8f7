"""The compile stage: the native libraries of one row, kept in the cache by what they were made from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from filelock import FileLock

from buildsys import toolchains
from buildsys.matrix import BuildRow, select_one
from buildsys.pipeline.cache import digest, file_digests
from buildsys.pipeline.cuda import build_plugin, prepare_plugin
from buildsys.process import run_logged
from buildsys.project import NATIVE, ROOT, cache_dir, pin
from buildsys.toolchains import ReadyToolchain

BUILD_TOOLS = "build-tools.json"
"""What CMake says of the tools that it used; for the bill of materials, no part of the wheel."""


@dataclass(frozen=True, kw_only=True)
class NativeOutput:
    """Compiled, installed libraries: the folder to package, and whether the cache had them."""

    folder: Path
    cached: bool


def build_native(row: BuildRow, *, toolchain: str = "", toolkit: str = "", keep_tree: bool = False) -> NativeOutput:
    """Compile the native side of `row`, or take it from the cache.

    The key covers the pin, the toolchain, the flags and the native project's own files, so a change of Python
    code alone compiles nothing. An interrupted compilation goes on where it stopped. A CUDA row is the output of its
    platform's CPU row, compiled once for all of them, and the CUDA plugin, with the toolkit of the provider `toolkit`.
    """
    if row.cuda is None:
        return _build_libraries(row, toolchain=toolchain, keep_tree=keep_tree)
    plugin = prepare_plugin(row, toolkit=toolkit)
    cpu_row = select_one(f"{row.identifier.split('-', maxsplit=1)[0]}-cpu")
    libraries = _build_libraries(cpu_row, toolchain=toolchain, keep_tree=keep_tree)
    plugin_folder, plugin_cached = build_plugin(plugin, keep_tree=keep_tree)
    merged = _merge(row, libraries.folder, plugin_folder)
    return NativeOutput(folder=merged, cached=libraries.cached and plugin_cached)


def _build_libraries(row: BuildRow, *, toolchain: str, keep_tree: bool) -> NativeOutput:
    ready = toolchains.prepare(toolchain or row.toolchain, row.target)
    home = cache_dir() / "native"
    flags = _definitions(row, ready)
    output = home / f"{row.identifier}-{ready.name}-{digest([*_identity(ready, flags), *_project_files()])}"
    tree = home / "trees" / f"{row.identifier}-{ready.name}-{digest([*_identity(ready, flags), str(ROOT)])}"
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
        "GGML_CPU_ALL_VARIANTS": "ON",
        "LLAMA_CPP_TOOLCHAIN": ready.name,
        **row.cmake,
    }


def _identity(ready: ReadyToolchain, flags: dict[str, str]) -> list[str]:
    """What decides the output apart from the project's files; cache paths inside the flags don't."""
    portable = (f"{key}={value.replace(str(cache_dir()), '')}" for key, value in sorted(flags.items()))
    return [pin().commit, ready.identity, *portable]


def _project_files() -> Iterator[str]:
    return file_digests([ROOT / "CMakeLists.txt", *sorted(NATIVE.iterdir()), *sorted((ROOT / "licenses").iterdir())])


def _compile(tree: Path, output: Path, flags: dict[str, str], *, log: Path, name: str) -> None:
    log.unlink(missing_ok=True)
    defines = [f"-D{key}={value}" for key, value in flags.items()]
    run_logged(["cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", *defines], log=log, label=f"{name}: configuring")
    run_logged(["cmake", "--build", tree], log=log, label=f"{name}: compiling")
    staging = output.with_name(f"{output.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    run_logged(["cmake", "--install", tree, "--prefix", staging, "--component", "runtime"], log=log, label=f"{name}: installing")
    staging.rename(output)


def _merge(row: BuildRow, libraries: Path, plugin: Path) -> Path:
    """One folder with the libraries and the plugin, as if one project had installed them."""
    output = libraries.with_name(f"{row.identifier}-{digest([libraries.name, plugin.name])}")
    with FileLock(f"{output}.lock"):
        if not output.is_dir():
            staging = output.with_name(f"{output.name}.part")
            shutil.rmtree(staging, ignore_errors=True)
            shutil.copytree(libraries, staging)
            shutil.copytree(plugin, staging, dirs_exist_ok=True, ignore=shutil.ignore_patterns(BUILD_TOOLS))
            _state_both_tools(staging / BUILD_TOOLS, plugin / BUILD_TOOLS)
            staging.rename(output)
    return output


def _state_both_tools(whole: Path, plugin: Path) -> None:
    """Add what only the plugin was made with to what the libraries were made with."""
    stated = msgspec.json.decode(whole.read_bytes())
    added = msgspec.json.decode(plugin.read_bytes())
    stated["compilers"].update(added.pop("compilers"))
    whole.write_bytes(msgspec.json.format(msgspec.json.encode({**stated, **added})))
