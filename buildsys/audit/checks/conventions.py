"""What check-wheel-contents, the packaging community's own linter of wheels, says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from buildsys.audit.policy import Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel
from buildsys.errors import CommandFailedError

# W004 takes every .so for an extension module, whose name must be importable; libraries for ctypes are none.
_IGNORED = "W004"


def conventions(wheel: Wheel, policy: Policy) -> Outcome:
    """check-wheel-contents finds nothing: no duplicate files, no bytecode, nothing astray at the top level."""
    return Outcome(detail=f"check-wheel-contents without {_IGNORED}", findings=linter_findings(wheel.path, policy.contents.package))


def linter_findings(wheel: Path, package: str) -> tuple[str, ...]:
    """The linter's findings, one each, with the files that it names."""
    command = [sys.executable, "-m", "check_wheel_contents", "--no-config", "--ignore", _IGNORED, "--toplevel", package, str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or done.stderr:
        raise CommandFailedError(f"check-wheel-contents failed: {done.stderr.strip()[-500:]}", hint="pip install check-wheel-contents")
    if done.returncode == 0:
        return ()
    blocks = done.stdout.replace("\n  ", " ").splitlines()
    return tuple(line.removeprefix(f"{wheel}: ") for line in blocks)
