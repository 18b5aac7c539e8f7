"""Running programs inside a root: bubblewrap's command line for a read-only root with chosen folders in it and no network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The one folder inside that holds what belongs to a proof; a root is made with it, empty.
HOME = PurePosixPath("/proof")

_SCRATCH = "/tmp"  # noqa: S108 - nobody else's: each program that is run inside gets an empty one
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": _SCRATCH, "LANG": "C.UTF-8"}


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A file or folder of this machine, shown inside below :data:`HOME`."""

    outside: Path
    inside: PurePosixPath
    writable: bool = False


@dataclass(frozen=True, kw_only=True)
class Chamber:
    """A root that programs are run in; `program` is bubblewrap's."""

    program: str
    root: Path
    mounts: tuple[Mount, ...] = ()

    def with_mounts(self, *mounts: Mount) -> Chamber:
        """The same root with more in it."""
        return Chamber(program=self.program, root=self.root, mounts=(*self.mounts, *mounts))

    def command(self, words: Sequence[str], *, variables: Mapping[str, str] | None = None, cwd: str = _SCRATCH) -> list[str]:
        """The command line that runs `words` inside, with no other environment variables than `variables` and a plain PATH.

        Everything that runs inside dies with it. Nothing but writable mounts and a fresh /tmp can be written.
        """
        mounted = [word for mount in self.mounts for word in (_option(mount), str(mount.outside), str(mount.inside))]
        settings = [word for name, value in {**_ENVIRONMENT, **(variables or {})}.items() for word in ("--setenv", name, value)]
        return [
            self.program,
            *("--bind", str(self.root), "/", "--tmpfs", str(HOME), *mounted, "--remount-ro", str(HOME), "--remount-ro", "/"),
            *("--proc", "/proc", "--dev", "/dev", "--ro-bind", "/sys", "/sys", "--tmpfs", _SCRATCH),
            *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--new-session", "--die-with-parent"),
            *("--clearenv", *settings, "--chdir", cwd, "--", *words),
        ]


def _option(mount: Mount) -> str:
    return "--bind" if mount.writable else "--ro-bind"


def carried_in(variables: Mapping[str, str]) -> tuple[tuple[Mount, ...], dict[str, str]]:
    """`variables` for inside: each that names an existing absolute path gets a mount and names that instead."""
    mounts, inside = [], dict(variables)
    for name, value in variables.items():
        path = Path(value)
        if path.is_absolute() and path.exists():
            mounts.append(Mount(outside=path, inside=HOME / "material" / name / path.name))
            inside[name] = str(mounts[-1].inside)
    return tuple(mounts), inside
