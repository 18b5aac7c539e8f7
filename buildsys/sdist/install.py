"""The proof of a source distribution: pip installs it without a network, with the system's compiler, and it generates text."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from email.parser import BytesParser
from pathlib import Path

from buildsys.errors import SdistError
from buildsys.pipeline import proof
from buildsys.process import run_logged
from buildsys.project import cache_dir

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Switches a backend off, which is seen in the installed folder: CMAKE_ARGS reached CMake.
PROBE = "-DGGML_RPC=OFF"
_PROBED = "ggml-rpc"
_COMPILE_WITH = ("cmake>=3.24", "ninja>=1.11")  # the build backend asks for them where the system has none
_NOWHERE = "http://127.0.0.1:9"
_LIBRARY = re.compile(r"(?:lib)?(.+?)\.(?:so(?:\.[\d.]+)?|dll|dylib)")


@dataclass(frozen=True, kw_only=True)
class InstallProof:
    """What came of it: the bare names of the installed libraries, a sentence, and whether a network could be reached."""

    libraries: tuple[str, ...]
    sample: str
    networkless: bool


def prove_install(sdist: Path) -> InstallProof:
    """Install `sdist` into a fresh environment from downloaded requirements alone, and let it generate text.

    CC and CXX choose the compiler, as for every user. CMAKE_ARGS of the caller are kept.

    Raises:
        CommandFailedError: a step failed; the message has its last lines.
        SdistError: CMAKE_ARGS had no effect, or what was built is not for this machine's CPU.
    """
    work = cache_dir() / "sdist"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    log, requirements = work / "log", _requirements(sdist)
    python = work / "environment" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    download: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--only-binary",
        ":all:",
        "--dest",
        work / "packages",
        *requirements,
    ]
    run_logged(download, log=log, label="source distribution: fetching what it needs")
    run_logged([sys.executable, "-I", "-m", "venv", work / "environment"], log=log, label="source distribution: environment")
    cut_off = _without_network()
    options: list[str | Path] = ["--isolated", "--no-index", "--find-links", work / "packages", "--no-cache-dir"]
    install: list[str | Path] = [*cut_off, python, "-I", "-m", "pip", "install", "--verbose", *options, sdist]
    variables = {name: _NOWHERE for proxy in ("http_proxy", "https_proxy", "all_proxy") for name in (proxy, proxy.upper())}
    variables["CMAKE_ARGS"] = " ".join(filter(None, [os.environ.get("CMAKE_ARGS"), PROBE]))
    run_logged(install, log=log, label="source distribution: installing", env=variables)
    libraries = installed_libraries(work / "environment")
    if problem := unexpected(libraries):
        raise SdistError(f"{sdist.name}, installed with CMAKE_ARGS={variables['CMAKE_ARGS']}, {problem}", hint=f"read {log}")
    sample = proof.generate(python, sdist.name)
    shutil.rmtree(work)
    return InstallProof(libraries=libraries, sample=sample, networkless=bool(cut_off))


def installed_libraries(environment: Path) -> tuple[str, ...]:
    """Bare names of the native libraries of the package that is installed in `environment`."""
    # An environment can have a lib64 that is a link to its lib.
    found = {folder.resolve() for folder in environment.glob("[Ll]ib*/**/site-packages/llama_cpp/lib")}
    if len(found) != 1:
        raise SdistError(f"{environment} has {len(found)} installations of the package", hint="read pip's lines in the log beside it")
    (folder,) = found
    return tuple(sorted(match[1] for path in folder.iterdir() if (match := _LIBRARY.fullmatch(path.name))))


def unexpected(libraries: Sequence[str]) -> str | None:
    """What is wrong with the libraries that an installation with `PROBE` and no other wishes made."""
    if _PROBED in libraries:
        return f"has {_PROBED}: CMake was not told"
    backends = [name for name in libraries if name.startswith("ggml-cpu")]
    if backends != ["ggml-cpu"]:
        return f"has the CPU backends {', '.join(backends) or '(none)'}, not one for this machine alone"
    missing = {"ggml-base", "ggml", "llama", "mtmd"} - set(libraries)
    return f"lacks {', '.join(sorted(missing))}" if missing else None


def _requirements(sdist: Path) -> list[str]:
    """What building and running it needs."""
    with tarfile.open(sdist) as archive:
        folder = sdist.name.removesuffix(".tar.gz")
        texts = [archive.extractfile(f"{folder}/{name}") for name in ("pyproject.toml", "PKG-INFO")]
        project, info = (stream.read() if stream else b"" for stream in texts)
    build = tomllib.loads(project.decode())["build-system"]["requires"]
    stated = BytesParser().parsebytes(info).get_all("Requires-Dist", [])
    return [*build, *_COMPILE_WITH, *(text for text in stated if "extra ==" not in text)]


def _without_network() -> list[str]:
    """The beginning of a command line that runs the rest where no network is; empty where the system can't do that."""
    command = ["unshare", "--map-root-user", "--net"]
    possible = sys.platform == "linux" and shutil.which("unshare")
    return command if possible and subprocess.run([*command, "true"], check=False, capture_output=True).returncode == 0 else []
