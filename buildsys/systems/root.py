"""Making a system's root with debootstrap, once: it is kept in the cache under a name that changes with what it is made of."""

from __future__ import annotations

import hashlib
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import filelock
import msgspec

from buildsys.errors import CommandFailedError, DownloadError
from buildsys.process import run_logged
from buildsys.project import cache_dir
from buildsys.systems import compiled_python
from buildsys.systems.chamber import HOME, Chamber
from buildsys.systems.table import PYTHON_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from buildsys.systems.host import Host
    from buildsys.systems.table import PythonSource, System

FORMAT = "1"  # raise it when roots are made in another way
_DAY = 86400.0
# A root's mounts must not outlive debootstrap, whichever way it ends: it gets namespaces of its own.
_APART = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
# By this debootstrap knows that it may have no right to make device files, as in a container or a user namespace.
_WITHOUT_DEVICES = {"container": "lxc"}


class RootUnavailableError(DownloadError):
    """A Debian root could not be made. That says nothing of the wheel."""


@dataclass(frozen=True, kw_only=True)
class Root:
    """A root in the cache. `tree` is what becomes `/`; `environments` holds what is installed beside it."""

    folder: Path

    @property
    def tree(self) -> Path:
        """The root itself."""
        return self.folder / "root"

    @property
    def environments(self) -> Path:
        """Environments of this root's Pythons."""
        return self.folder / "environments"


def roots_folder() -> Path:
    """Where roots are kept."""
    return cache_dir() / "systems"


@contextmanager
def reserved(system: System, host: Host, *, mirror: str, fresh: bool = False) -> Iterator[Root]:
    """The system's root, made now unless it is there, for the caller alone while the block runs.

    Raises:
        RootUnavailableError: the mirror or Debian's packages are at fault, not the wheel.
    """
    key = hashlib.sha256(msgspec.json.encode((FORMAT, mirror, _ingredients(system)))).hexdigest()[:12]
    root = Root(folder=roots_folder() / f"{system.name}-{key}")
    root.folder.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{root.folder}.lock"):
        if fresh or _stale(root, system):
            shutil.rmtree(root.folder, ignore_errors=True)
        if not root.folder.is_dir():
            _make(root, _Making(system=system, host=host, mirror=mirror, log=root.folder.with_suffix(".log")))
        yield root


def _ingredients(system: System) -> tuple[object, ...]:
    return (system.suite, system.machine, system.packages, system.python_source)


def _stale(root: Root, system: System) -> bool:
    if not system.keep_days or not root.folder.is_dir():
        return False
    return time.time() - root.folder.stat().st_mtime > system.keep_days * _DAY


@dataclass(frozen=True, kw_only=True)
class _Making:
    """A root in the making: of what, with what, from where; all that its programs say goes to `log`."""

    system: System
    host: Host
    mirror: str
    log: Path


def _make(root: Root, making: _Making) -> None:
    """Make the root beside its place, which it gets when it is complete."""
    made = Root(folder=root.folder.with_name(f"{root.folder.name}.part"))
    shutil.rmtree(made.folder, ignore_errors=True)
    making.log.unlink(missing_ok=True)
    try:
        _bootstrap(making, making.system.packages, made.tree)
        if making.system.python_source:
            _add_python(making, making.system.python_source, made)
    except CommandFailedError as error:
        raise RootUnavailableError(
            f"{making.system.name}: {error.message}",
            hint=f"a fault of the mirror or of the packages there, not of the wheel: try later or another --mirror; {error.hint}",
        ) from error
    made.environments.mkdir()
    made.folder.rename(root.folder)


def _add_python(making: _Making, source: PythonSource, made: Root) -> None:
    """Compile in a second root that has compilers, and is gone afterwards: the one that proves wheels has none."""
    workshop = made.folder / "workshop"
    compilers = Chamber(program=making.host.bubblewrap, root=workshop / "root")
    _bootstrap(making, source.packages, compilers.root)
    label = f"{making.system.name}: Python {making.system.python}"
    installed = compiled_python.build(source, compilers, workshop / "work", mirror=making.mirror, log=making.log, label=label)
    shutil.copytree(installed, _below(made.tree, PYTHON_PREFIX), symlinks=True)
    shutil.rmtree(workshop)


def _bootstrap(making: _Making, packages: Sequence[str], tree: Path) -> None:
    system, host = making.system, making.host
    kept = roots_folder() / "packages"
    kept.mkdir(parents=True, exist_ok=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *(*_APART, host.debootstrap, "--variant=minbase", f"--arch={system.debian_architecture}", f"--include={','.join(packages)}"),
        *(f"--cache-dir={kept}", f"--keyring={host.keyring}", "--force-check-gpg", system.suite, str(tree), making.mirror),
    ]
    label = f"{system.name}: making a root of Debian {system.suite} with {', '.join(packages)}"
    run_logged(command, log=making.log, label=label, env=_WITHOUT_DEVICES)
    # Debian's package files and lists are of no use any more, and as large as the rest.
    for folder in ("/var/cache/apt/archives", "/var/lib/apt/lists"):
        shutil.rmtree(_below(tree, folder), ignore_errors=True)
        _below(tree, folder).mkdir(parents=True)
    _below(tree, str(HOME)).mkdir()


def _below(tree: Path, path: str) -> Path:
    """Where the absolute `path` of a root lies on this machine."""
    return tree / path.lstrip("/")
