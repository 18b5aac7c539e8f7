"""The CUDA plugin of a row, compiled alone: the one library that a CUDA wheel has more than the CPU wheel."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from buildsys import toolkits
from buildsys.errors import ToolkitError
from buildsys.matrix import BuildRow, CudaBuild
from buildsys.pipeline.cache import digest, file_digests
from buildsys.process import run_logged
from buildsys.project import NATIVE, ROOT, cache_dir, pin
from buildsys.toolkits import ReadyToolkit
from buildsys.toolkits.host_compiler import ReadyHostCompiler, prepare_host
from buildsys.toolkits.request import this_system

PROJECT = NATIVE / "cuda"
TARGET = "ggml-cuda"


@dataclass(frozen=True, kw_only=True)
class PluginBuild:
    """All that a plugin is compiled with."""

    name: str
    toolkit: ReadyToolkit
    host: ReadyHostCompiler
    flags: dict[str, str]

    @property
    def identity(self) -> list[str]:
        """What decides the code; where the tools lie doesn't."""
        tools = {*self.toolkit.defines, *self.host.defines}
        stated = [f"{key}={value}" for key, value in sorted(self.flags.items()) if key not in tools]
        return [pin().commit, self.toolkit.identity, self.host.identity, *stated]


def prepare_plugin(row: BuildRow, *, toolkit: str = "") -> PluginBuild:
    """Make the toolkit and the host compiler of `row` ready, from the provider `toolkit` or the first that serves.

    Raises:
        ToolkitError: the row is for another system than this one, or its toolkit can't be had here.
    """
    cuda, system = _cuda_of(row), row.identifier.split("-", maxsplit=1)[0]
    if system != this_system():
        raise ToolkitError(
            f"{row.identifier} can only be compiled on {system}", hint=f"this machine is {this_system()}; see docs/building.md"
        )
    ready = toolkits.prepare(cuda.toolkit, toolkit)
    host = prepare_host(toolkits.table().host, system=system, newest_gcc=ready.newest_gcc)
    flags = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CUDA_ARCHITECTURES": ";".join(cuda.architectures),
        **ready.defines,
        **host.defines,
        **row.cmake,
    }
    return PluginBuild(name=row.identifier, toolkit=ready, host=host, flags=flags)


def build_plugin(plugin: PluginBuild, *, keep_tree: bool = False) -> tuple[Path, bool]:
    """Compile it, or take it from the cache; the folder, and whether the cache had it."""
    home = cache_dir() / "native"
    output = home / f"{plugin.name}-plugin-{digest([*plugin.identity, *_project_files()])}"
    tree = tree_of(plugin)
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{output}.lock"):
        if output.is_dir():
            return output, True
        log = output.with_suffix(".log")
        log.unlink(missing_ok=True)
        configure(plugin, tree, log=log)
        run_logged(["cmake", "--build", tree, "--target", TARGET], log=log, label=f"{plugin.name}: compiling for CUDA")
        staging = output.with_name(f"{output.name}.part")
        shutil.rmtree(staging, ignore_errors=True)
        command: list[str | Path] = ["cmake", "--install", tree, "--prefix", staging, "--component", "runtime"]
        run_logged(command, log=log, label=f"{plugin.name}: installing")
        staging.rename(output)
        if not keep_tree:
            shutil.rmtree(tree, ignore_errors=True)
    return output, False


def configure(plugin: PluginBuild, tree: Path, *, log: Path) -> None:
    """Let CMake make the build `tree` of the plugin."""
    defines = [f"-D{key}={value}" for key, value in plugin.flags.items()]
    run_logged(["cmake", "-S", PROJECT, "-B", tree, "-G", "Ninja", *defines], log=log, label=f"{plugin.name}: configuring for CUDA")


def tree_of(plugin: PluginBuild) -> Path:
    """The build tree of the plugin, which an interrupted compilation leaves behind and goes on with."""
    return cache_dir() / "native" / "trees" / f"{plugin.name}-plugin-{digest([*plugin.identity, str(ROOT)])}"


def _cuda_of(row: BuildRow) -> CudaBuild:
    if row.cuda is None:
        raise ToolkitError(f"{row.identifier} is no CUDA row", hint="choose one with python -m buildsys matrix '*-cu*'")
    return row.cuda


def _project_files() -> Iterator[str]:
    shared = [NATIVE / name for name in ("WindowsLibraries.cmake", "backend.map", "library.map")]
    yield from file_digests([*sorted(PROJECT.iterdir()), *shared, *sorted((ROOT / "licenses" / "cuda").iterdir())])
