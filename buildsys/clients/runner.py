"""Makes an environment for each client, with the wheel and the client in it, and runs the client's tests there."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from buildsys.conformance.environment import Environment, clean_variables
from buildsys.conformance.interpreters import Interpreter, find_interpreters
from buildsys.conformance.runner import SUITE, existing_wheel, snapshot, suite_variables
from buildsys.errors import ConfigurationError
from buildsys.models import environment
from buildsys.process import console
from buildsys.tables import load_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = SUITE / "clients"
BASELINE = FOLDER / "baseline.toml"
MODEL = "LLAMA_TEST_TRANSFORMER_MODEL"


class UnknownClientError(ConfigurationError):
    """No client has this name."""


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Clients that are known not to work, with the reason."""

    fails: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class ClientResult:
    """What came of one client. `excused` is why it need not work, as the baseline has it."""

    client: str
    works: bool
    seconds: float
    excused: str = ""

    @property
    def ok(self) -> bool:
        """Whether that was expected: a client that works must not be excused."""
        return self.works != bool(self.excused)

    @property
    def verdict(self) -> str:
        """In words."""
        if self.works:
            return f"works, but {BASELINE.name} excuses it: remove its line" if self.excused else "works"
        return f"fails, as known: {self.excused}" if self.excused else "FAILED"


def clients(wanted: Sequence[str] | None = None, folder: Path = FOLDER) -> list[str]:
    """The clients that have tests, or those named. `UnknownClientError` for others."""
    known = sorted(path.stem.removeprefix("test_") for path in folder.glob("test_*.py"))
    for name in wanted or ():
        if name not in known:
            raise UnknownClientError(f"there is no client {name!r}", hint=f"the clients are: {', '.join(known)}")
    return list(wanted or known)


def excuses(path: Path = BASELINE) -> dict[str, str]:
    """Clients that are known not to work, with the reason."""
    return load_toml(path, Baseline).fails


def run_clients(wheel: Path, *, names: Sequence[str] | None = None, python: str | None = None) -> list[ClientResult]:
    """Run the clients' tests on `wheel`, one after the other."""
    chosen, known = clients(names), excuses()
    interpreter = find_interpreters([python] if python else None)[-1]
    models = environment((MODEL,), required=True)
    results = []
    with snapshot(existing_wheel(wheel)) as copy:
        variables = suite_variables(copy, models)
        for name in chosen:
            console.rule(f"client: {name} on Python {interpreter.release}")
            started = time.monotonic()
            works = _works(name, copy, interpreter, variables)
            results.append(ClientResult(client=name, works=works, seconds=time.monotonic() - started, excused=known.get(name, "")))
    return results


def _works(name: str, wheel: Path, interpreter: Interpreter, variables: Mapping[str, str]) -> bool:
    root = Path(tempfile.mkdtemp(prefix=f"client-{name}-"))
    try:
        made = Environment(interpreter=interpreter, root=root / "environment")
        empty = root / "empty"
        empty.mkdir()
        return all(
            subprocess.run(command, cwd=empty, env=clean_variables(variables), stdin=subprocess.DEVNULL, check=False).returncode == 0
            for command in commands(name, wheel, made)
        )
    finally:
        shutil.rmtree(root, ignore_errors=True)


def commands(name: str, wheel: Path, made: Environment, folder: Path = FOLDER) -> list[list[str]]:
    """What is run in turn. The wheel comes first: clients that ask for `llama-cpp-python` have it then.

    What `requirements/alone` names is installed without what it asks for.
    """
    pip = [str(made.python), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    return [
        [str(made.interpreter.path), "-I", "-m", "venv", str(made.root)],
        [*pip, str(wheel)],
        [*pip, "-r", str(folder / "requirements.txt"), "-r", str(folder / "requirements" / f"{name}.txt")],
        *([*pip, "--no-deps", "-r", str(alone)] for alone in (folder / "requirements" / "alone").glob(f"{name}.txt")),
        [*pip, "--no-deps", "--force-reinstall", str(wheel)],
        [
            *(str(made.python), "-I", "-B", "-m", "pytest", str(folder / f"test_{name}.py")),
            *("-c", str(folder / "pytest.ini"), "--rootdir", str(folder), "--import-mode=importlib", "-p", "no:cacheprovider"),
        ],
    ]
