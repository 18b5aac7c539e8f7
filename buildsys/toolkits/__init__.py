"""CUDA toolkits as data: `buildsys/toolkits.toml`, and making the toolkit of a release ready for CMake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
from filelock import FileLock

from buildsys.errors import BuildError, ToolkitError
from buildsys.project import ROOT, cache_dir
from buildsys.tables import load_toml
from buildsys.toolkits import inspection
from buildsys.toolkits.archives import ArchivesProvider
from buildsys.toolkits.content import content_key
from buildsys.toolkits.host_compiler import HostCompiler
from buildsys.toolkits.installed import InstalledProvider
from buildsys.toolkits.packages import PackagesProvider
from buildsys.toolkits.provider import Provider
from buildsys.toolkits.repository import RepositoryProvider
from buildsys.toolkits.request import Request, this_system

AnyProvider = InstalledProvider | PackagesProvider | RepositoryProvider | ArchivesProvider


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The files of ggml's CUDA folder that a quick check compiles, the most telling first."""

    files: tuple[str, ...]


class Toolkits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file: providers and host compilers, each in the order of preference."""

    provider: dict[str, AnyProvider]
    host: dict[str, HostCompiler]
    check: Check


@dataclass(frozen=True, kw_only=True)
class ReadyToolkit:
    """A toolkit that CMake can use now: `root`, CMake's definitions, what identifies it in a cache key, and its limits.

    `newest_gcc` is the newest major version of GCC that may be the host compiler, where the toolkit states one.
    """

    provider: str
    release: str
    root: Path
    defines: Mapping[str, str]
    identity: str
    newest_gcc: int | None


@cache
def table() -> Toolkits:
    """The file, parsed once."""
    return load_toml(ROOT / "buildsys" / "toolkits.toml", Toolkits)


def prepare(release: str, provider: str = "", *, system: str = "") -> ReadyToolkit:
    """The toolkit of a CUDA release from `provider`, or from the first one that serves it on this machine.

    Raises:
        ToolkitError: an unknown provider, or none could; the message says what each one answered.
    """
    providers: Mapping[str, Provider] = table().provider
    if provider and provider not in providers:
        raise ToolkitError(f"unknown toolkit provider {provider!r}", hint=f"choose from: {', '.join(providers)}")
    request = Request(release=release, system=system or this_system())
    answers: list[str] = []
    for name in [provider] if provider else providers:
        try:
            if not (obstacle := providers[name].obstacle(request)):
                return _ready(name, providers[name], request)
            answers.append(f"{name} {obstacle}")
        except BuildError as error:
            answers.append(f"{name}: {error.message}")
    told = "".join(f"\n  - {answer}" for answer in answers)
    raise ToolkitError(
        f"no CUDA {release} toolkit for {request.system}; tried:{told}",
        hint=f"install CUDA {release} and set CUDA_PATH to it, or build where another provider serves (python -m buildsys toolkits)",
    )


def _ready(name: str, provider: Provider, request: Request) -> ReadyToolkit:
    place = cache_dir() / "toolkits" / f"{name}-{request.release}-{content_key(provider)}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{place}.lock"):
        root = provider.obtain(request, place)
    found = inspection.inspect(root)
    if found.release != request.release:
        raise ToolkitError(f"{root} is CUDA {found.release}, not {request.release}", hint="correct the provider's table")
    return ReadyToolkit(
        provider=name,
        release=request.release,
        root=root,
        defines=_defines(root),
        identity=found.identity,
        newest_gcc=found.newest_gcc,
    )


def _defines(root: Path) -> dict[str, str]:
    defines = {"CUDAToolkit_ROOT": root.as_posix(), "CMAKE_CUDA_COMPILER": str((inspection.nvcc_in(root) or root).as_posix())}
    stub = next((path for path in (root / "lib64" / "stubs" / "libcuda.so", root / "lib" / "x64" / "cuda.lib") if path.is_file()), None)
    return {**defines, **({"CUDA_cuda_driver_LIBRARY": stub.as_posix()} if stub else {})}
