"""What pip says on a system whose own Python is too old: it must refuse the wheel for that reason, and name it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from buildsys.conformance.environment import clean_variables
from buildsys.systems.chamber import HOME, Mount

if TYPE_CHECKING:
    from pathlib import Path

    from buildsys.systems.chamber import Chamber

_INSTALL = 'set -e; python3 -m venv /tmp/own; /tmp/own/bin/python -m pip --disable-pip-version-check install --no-index --no-deps "$1"'
_REASON = "requires a different Python"


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What pip `said`; `fault` is empty when it refused the wheel for the right reason."""

    said: str
    fault: str = ""


def check(chamber: Chamber, wheel: Path, version: str) -> Refusal:
    """Let the system's own Python `version` try to install `wheel`."""
    inside = HOME / "wheel" / wheel.name
    command = chamber.with_mounts(Mount(outside=wheel, inside=inside)).command(["sh", "-c", _INSTALL, "sh", str(inside)])
    done = subprocess.run(command, env=clean_variables(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return judge(version, done.returncode, done.stderr)


def judge(version: str, code: int, stderr: str) -> Refusal:
    """The refusal that pip's end with `code` amounts to."""
    errors = [line.strip().removeprefix("ERROR: ") for line in stderr.splitlines() if line.startswith("ERROR:")]
    said = next((line for line in errors if _REASON in line), "")
    if code == 0:
        return Refusal(said="", fault=f"its own Python {version} took the wheel, which it must refuse")
    if f"{_REASON}: {version}." not in said:
        shown = said or " ".join(errors) or stderr.strip()[-200:]
        return Refusal(said=said, fault=f"its own Python {version} did not say that it is too old, but: {shown}")
    return Refusal(said=f"its own Python {version}: pip refuses the wheel: {said}")
