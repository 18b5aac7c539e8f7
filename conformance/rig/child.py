"""Child processes: a piece of Python run in a fresh interpreter of the environment under test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# As it was before the tested package was imported into this process: children must not inherit what that import changed.
_VARIABLES = dict(os.environ)
# Where programs are emulated, everything takes many times as long.
_PATIENCE = float(os.environ.get("LLAMA_TEST_PATIENCE", "1"))


@dataclass(frozen=True, kw_only=True)
class Child:
    """How a child ended and what it wrote."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The last line of its output as JSON; a child that failed fails the test with what it wrote."""
        assert self.code == 0, f"child ended with {self.code}\nstdout: {self.out}\nstderr: {self.err}"
        return json.loads(self.out.splitlines()[-1])


def run(
    source: str,
    *arguments: object,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    executable: Path | None = None,
    options: tuple[str, ...] = ("-I", "-B"),
    timeout: float = 240,
) -> Child:
    """Run `source`, whose indentation is removed, with `arguments` in `sys.argv[1:]`.

    Its environment variables are those that pytest was started with, and `env`.
    """
    command = [str(executable or sys.executable), *options, "-c", textwrap.dedent(source), *map(str, arguments)]
    return _run(command, env or {}, cwd, timeout)


def run_module(name: str, *arguments: str, timeout: float = 120) -> Child:
    """Run `python -m name`."""
    return _run([sys.executable, "-I", "-B", "-m", name, *arguments], {}, None, timeout)


def _run(command: list[str], env: Mapping[str, str], cwd: Path | None, timeout: float) -> Child:
    done = subprocess.run(
        command,
        env={**_VARIABLES, **env},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout * _PATIENCE,
        check=False,
    )
    return Child(code=done.returncode, out=done.stdout.decode("utf-8", "replace"), err=done.stderr.decode("utf-8", "replace"))
