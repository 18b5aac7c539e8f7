"""Wine: finding it, and running one program in a private Windows folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from buildsys.process import run_logged
from buildsys.programs import Program, ProgramMissingError, find_program
from buildsys.project import cache_dir

WINE = Program(
    names=("wine64", "wine"),
    package="wine",
    advice="install it: `apt-get install wine` (Debian, Ubuntu), `dnf install wine` (Fedora), `pacman -S wine` (Arch)",
)
TIMEOUT = 900
_MISSING = re.compile(r'import_dll Library (?P<need>\S+) \(which is needed by L"(?P<by>[^"]*)"\) not found')


class WineMissingError(ProgramMissingError):
    """Wine isn't here and couldn't be installed."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a program ended, and what it said."""

    code: int
    stdout: str
    stderr: str

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a library that was not found and the one that needs it, as wine's loader reports them."""
        pairs = ((match["need"], re.split(r"[\\/]+", match["by"])[-1]) for match in _MISSING.finditer(self.stderr))
        return tuple(dict.fromkeys(pairs))

    @property
    def complaint(self) -> str:
        """The last line that the program itself wrote to stderr, or all that there is to say."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        own = [line for line in lines if line.startswith("probe: ")]
        return (own or lines or [f"ended with {self.code}"])[-1]


class Wine:
    """A wine with its own prefix in the build cache, made at the first use."""

    def __init__(self) -> None:
        if not sys.platform.startswith("linux"):
            raise WineMissingError("Windows wheels are proved under wine on Linux only", hint="install the wheel and run the suite")
        self._program = find_program(WINE, WineMissingError)
        self._home = cache_dir() / "wine"
        self._environment = {
            **os.environ,
            "WINEPREFIX": str(self._home / "prefix"),
            # The loader names what it doesn't find; nothing else is worth a line.
            "WINEDEBUG": "-all,err+module",
            # Neither .NET nor a browser engine is asked for when the prefix is made.
            "WINEDLLOVERRIDES": "mscoree,mshtml=",
            # Wine 8 lacks GetNumaNodeProcessorMaskEx, without which the OpenMP runtime can't bind threads to processors.
            "KMP_AFFINITY": "disabled",
        }

    def run(self, program: Path, *arguments: str) -> Ending:
        """Run a Windows program; files are named to it by :func:`windows_path`."""
        self._make_prefix()
        command = [self._program, str(program), *arguments]
        return run_program(command, self._environment)

    def _make_prefix(self) -> None:
        self._home.mkdir(parents=True, exist_ok=True)
        with FileLock(self._home / "prefix.lock"):
            if not (self._home / "prefix" / "system.reg").is_file():
                command = [self._program, "wineboot", "--init"]
                run_logged(command, log=self._home / "prefix.log", label="wine: making a prefix", env=self._environment)


def run_program(command: Sequence[str], environment: dict[str, str] | None = None) -> Ending:
    """Run `command` to its end, whatever that is."""
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT,
        check=False,
    )
    return Ending(code=done.returncode, stdout=done.stdout, stderr=done.stderr)


def windows_path(path: Path) -> str:
    """The name of a file of this machine inside wine, whose drive Z: is the root folder."""
    return f"Z:{path.resolve().as_posix()}"
