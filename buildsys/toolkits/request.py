"""What is asked of a provider: a CUDA release, on a system."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass

from buildsys.errors import ToolkitError

_SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}


@dataclass(frozen=True, kw_only=True)
class Request:
    """A CUDA release such as `13.1`, for a platform of the matrix such as `linux_x86_64`."""

    release: str
    system: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\d+\.\d+", self.release):
            raise ToolkitError(f"{self.release!r} is no CUDA release", hint="say it as major.minor, such as 13.1")

    @property
    def major(self) -> int:
        """The first part of the release."""
        return int(self.release.split(".")[0])

    def fill(self, text: str) -> str:
        """`text` with `{release}`, `{major}` and `{minor}` filled in."""
        major, minor = self.release.split(".")
        return text.format(release=self.release, major=major, minor=minor)


def this_system() -> str:
    """The platform of the matrix that this machine is."""
    return f"{_SYSTEMS.get(sys.platform, sys.platform)}_{platform.machine().lower()}"
