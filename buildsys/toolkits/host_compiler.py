"""The compiler that nvcc hands the host's side of a source to, and that links the plugin."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from filelock import FileLock

from buildsys.errors import ToolkitError
from buildsys.project import cache_dir
from buildsys.toolkits import container, debian_archive
from buildsys.toolkits.content import content_key
from buildsys.toolkits.debian_archive import Archive

# What an unpacked GCC loads that may be absent, or of another version, on the system that it was unpacked on.
_OWN_LIBRARIES = re.compile(r"lib(isl|mpc|mpfr|gmp|opcodes|bfd|ctf|zstd|z)\b.*\.so.*")


@dataclass(frozen=True, kw_only=True)
class ReadyHostCompiler:
    """A host compiler that can be called now: CMake's definitions, and what identifies it in a cache key."""

    name: str
    defines: Mapping[str, str]
    identity: str


class _Host(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    summary: str
    systems: tuple[str, ...]

    def obstacle(self, newest_gcc: int | None) -> str:
        """Why it cannot be used on this machine with a toolkit that accepts GCC up to `newest_gcc`; empty if it can."""
        raise NotImplementedError

    def programs_at(self, newest_gcc: int | None, place: Path) -> tuple[Path, Path]:
        """The C and the C++ compiler, obtained if need be."""
        raise NotImplementedError

    def identity_at(self, compiler: Path, place: Path) -> str:  # noqa: ARG002 - what was unpacked counts for some
        """What tells this compiler from others."""
        return _ask(compiler, "--version")


class ArchiveHost(_Host, frozen=True, kw_only=True, tag="archive"):
    """A GCC out of Debian's packages, with its own C library to compile against."""

    version: int
    programs: dict[str, str]
    archive: Archive

    def obstacle(self, newest_gcc: int | None) -> str:
        """Too new, or no packages can be unpacked here."""
        return _too_new(self.version, newest_gcc) or debian_archive.obstacle()

    def programs_at(self, newest_gcc: int | None, place: Path) -> tuple[Path, Path]:  # noqa: ARG002 - one version only
        """Scripts that start the unpacked compilers with their own libraries and system root."""
        root = place / "root"
        if not root.is_dir():
            staging = place / "root.part"
            shutil.rmtree(staging, ignore_errors=True)
            debian_archive.unpack(self.archive, staging, log=place / "log", label=f"GCC {self.version}")
            staging.rename(root)
        libraries = place / "libraries"
        libraries.mkdir(exist_ok=True)
        for folder in (root / "lib" / "x86_64-linux-gnu", root / "usr" / "lib" / "x86_64-linux-gnu"):
            for library in folder.iterdir():
                if _OWN_LIBRARIES.fullmatch(library.name) and not (libraries / library.name).is_symlink():
                    (libraries / library.name).symlink_to(os.path.relpath(library, libraries))
        return self._launcher(place, "gcc", self.programs["cc"]), self._launcher(place, "g++", self.programs["c++"])

    def identity_at(self, compiler: Path, place: Path) -> str:
        """The versions of all packages count: the C library's headers too."""
        return f"{_ask(compiler, '--version')}\n{(place / 'root' / debian_archive.INVENTORY).read_text(encoding='utf-8')}"

    def _launcher(self, place: Path, name: str, program: str) -> Path:
        root = place / "root"
        command = shlex.join([str(root / program), f"--sysroot={root}", f"-B{root}/usr/bin/"])
        script = place / name
        text = f'#!/bin/sh\nexport LD_LIBRARY_PATH={shlex.quote(str(place / "libraries"))}\nexec {command} "$@"\n'
        if not script.exists() or script.read_text(encoding="utf-8") != text:
            script.write_text(text, encoding="utf-8")
            script.chmod(0o755)
        return script


class RepositoryHost(_Host, frozen=True, kw_only=True, tag="repository"):
    """A GCC that a container's own repository has."""

    version: int
    packages: tuple[str, ...]
    programs: dict[str, str]

    def obstacle(self, newest_gcc: int | None) -> str:
        """Too new, or no such container."""
        return _too_new(self.version, newest_gcc) or container.obstacle()

    def programs_at(self, newest_gcc: int | None, place: Path) -> tuple[Path, Path]:  # noqa: ARG002 - one version only
        """Install the packages."""
        container.install(self.packages, log=place / "log", label=f"GCC {self.version}")
        return Path(self.programs["cc"]), Path(self.programs["c++"])


class SystemHost(_Host, frozen=True, kw_only=True, tag="system"):
    """Pairs of a C and a C++ compiler that may be on PATH, in the order of preference."""

    programs: tuple[tuple[str, str], ...]

    def obstacle(self, newest_gcc: int | None) -> str:
        """None is there, or all are too new."""
        if self._find(newest_gcc):
            return ""
        there = [names[1] for names in self.programs if shutil.which(names[1])]
        return f"finds {', '.join(there)}, newer than GCC {newest_gcc}" if there else "finds no GCC on PATH"

    def programs_at(self, newest_gcc: int | None, place: Path) -> tuple[Path, Path]:  # noqa: ARG002 - nothing is made
        """The first pair that is there and not too new."""
        found = self._find(newest_gcc)
        if found is None:
            raise ToolkitError("no GCC on PATH that the toolkit allows", hint="install one of the versions it names")
        return found

    def _find(self, newest_gcc: int | None) -> tuple[Path, Path] | None:
        for names in self.programs:
            paths = [Path(path) for path in map(shutil.which, names) if path]
            if len(paths) == len(names) and not _too_new(_major(paths[1]), newest_gcc):
                return paths[0], paths[1]
        return None


class MsvcHost(_Host, frozen=True, kw_only=True, tag="msvc"):
    """Visual C++ as a developer prompt offers it; whether nvcc accepts its version, nvcc says."""

    def obstacle(self, newest_gcc: int | None) -> str:  # noqa: ARG002 - no GCC
        """No developer prompt."""
        return "" if shutil.which("cl") else "needs cl.exe on PATH: a developer prompt for x64 (vcvars64.bat)"

    def programs_at(self, newest_gcc: int | None, place: Path) -> tuple[Path, Path]:  # noqa: ARG002 - nothing is made
        """One program compiles both languages."""
        compiler = Path(shutil.which("cl") or "cl")
        return compiler, compiler

    def identity_at(self, compiler: Path, place: Path) -> str:  # noqa: ARG002 - it is one program
        """What it prints first; it takes no option for that, and its exit code means nothing."""
        said = subprocess.run([compiler], capture_output=True, text=True, errors="replace", check=False)
        return (said.stderr or said.stdout).splitlines()[0] if said.stderr or said.stdout else str(compiler)


HostCompiler = ArchiveHost | RepositoryHost | SystemHost | MsvcHost


def prepare_host(hosts: Mapping[str, HostCompiler], *, system: str, newest_gcc: int | None) -> ReadyHostCompiler:
    """The first of `hosts` that `system` has and a toolkit allows whose newest GCC is that.

    Raises:
        ToolkitError: none; the message says why each one is not.
    """
    answers: list[str] = []
    for name, host in hosts.items():
        if system not in host.systems:
            continue
        if obstacle := host.obstacle(newest_gcc):
            answers.append(f"{name} {obstacle}")
            continue
        place = cache_dir() / "toolkits" / f"host-{name}-{content_key(host)}"
        place.mkdir(parents=True, exist_ok=True)
        with FileLock(place / "lock"):
            cc, cxx = host.programs_at(newest_gcc, place)
        return ReadyHostCompiler(name=name, defines=_defines(cc, cxx), identity=host.identity_at(cxx, place))
    told = "".join(f"\n  - {answer}" for answer in answers)
    limit = f", GCC {newest_gcc} or older" if newest_gcc else ""
    raise ToolkitError(
        f"no host compiler for nvcc on {system}; tried:{told}", hint=f"install a compiler that this CUDA release allows{limit}"
    )


def _defines(cc: Path, cxx: Path) -> dict[str, str]:
    return {
        "CMAKE_C_COMPILER": cc.as_posix(),
        "CMAKE_CXX_COMPILER": cxx.as_posix(),
        "CMAKE_CUDA_HOST_COMPILER": cxx.as_posix(),
    }


def _too_new(version: int, newest: int | None) -> str:
    return f"is GCC {version}, the toolkit allows {newest} or older" if newest is not None and version > newest else ""


def _major(compiler: Path) -> int:
    return int(_ask(compiler, "-dumpversion").split(".")[0])


def _ask(compiler: Path, *arguments: str) -> str:
    try:
        return subprocess.run([compiler, *arguments], check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolkitError(f"{compiler} does not run: {error}", hint="check the installation of the compiler") from error
