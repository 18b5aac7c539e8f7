"""Where the contestants live: the measured wheel in a clean environment, or the working tree; the peer in one of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contestant import Launch
from benchmarks.peer import peer_wheel
from buildsys.conformance.environment import clean_variables, installed
from buildsys.conformance.interpreters import Interpreter, find_interpreters
from buildsys.errors import ConfigurationError, WheelError
from buildsys.project import DIST, PACKAGE

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_FIND = "import importlib.util; print(importlib.util.find_spec('llama_cpp').submodule_search_locations[0])"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is measured: its name for the report, where its libraries lie, and how its workers start."""

    label: str
    libraries: Path
    ours: Launch
    bare: Launch


def newest_wheel() -> Path:
    """The wheel in `dist/` that was built last."""
    wheels = sorted(DIST.glob("llama_cpp_python-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise WheelError(f"{DIST} holds no wheel", hint="run `nox -s build_wheels` first, or name one with --wheel")
    return wheels[-1]


@contextmanager
def wheel_subject(wheel: Path, interpreter: Interpreter) -> Iterator[Subject]:
    """`wheel`, just installed."""
    if not wheel.is_file():
        raise WheelError(f"{wheel} does not exist", hint="build it with `python -m buildsys build`, or correct the path")
    with installed(wheel.resolve(), interpreter, REQUIREMENTS) as environment:
        variables = clean_variables()
        command = [str(environment.python), "-I", "-c", _FIND]
        package = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout.strip()
        libraries = Path(package) / "lib"
        ours = Launch(python=environment.python, module="own_context", arguments=(str(libraries),), variables=variables)
        yield _subject(wheel.name, libraries, environment.python, ours)


def tree_subject(libraries: Path, interpreter: Interpreter) -> Subject:
    """The working tree on libraries that lie elsewhere: quick, but what is measured is no wheel."""
    folder = libraries.resolve()
    if not folder.is_dir():
        raise ConfigurationError(f"{libraries} is no folder", hint="name the folder that holds libllama")
    variables = clean_variables({"LLAMA_CPP_LIB_PATH": str(folder)})
    first = (str(PACKAGE.parent),)
    ours = Launch(python=interpreter.path, module="own_context", arguments=(str(folder),), variables=variables, first=first)
    return _subject("the working tree, no wheel", folder, interpreter.path, ours)


def _subject(label: str, libraries: Path, python: Path, ours: Launch) -> Subject:
    bare = Launch(python=python, module="bare", arguments=(str(libraries),), variables=clean_variables())
    return Subject(label=label, libraries=libraries, ours=ours, bare=bare)


@contextmanager
def peer_launch(libraries: Path, interpreter: Interpreter) -> Iterator[Launch]:
    """The peer on our libraries. It leaves finding backends to ggml, which looks in the working directory."""
    variables = clean_variables({"LLAMA_CPP_LIB_PATH": str(libraries)})
    with installed(peer_wheel(), interpreter, REQUIREMENTS) as environment:
        yield Launch(python=environment.python, module="llama_class", variables=variables, folder=libraries)


def find_interpreter(python: str) -> Interpreter:
    """The interpreter of that version or path; this process's own kind for an empty name."""
    return find_interpreters([python or "{}.{}".format(*sys.version_info[:2])])[-1]
