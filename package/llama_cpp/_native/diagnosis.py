"""Why a native file does not open, in words that name the missing dependency and who needs it.

Only failure paths come here, except for `truncation`, which guards every dlopen.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .import_tables import needed_libraries
from .loaded_modules import is_loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# glibc, musl and dyld each name the missing file in their own way.
_MISSING = (
    re.compile(r"Error loading shared library (?P<name>[^\s:]+): No such file"),
    re.compile(r"Library not loaded: (?:\S*/)?(?P<name>[^\s/]+)"),
    re.compile(r"(?:^|\s)(?P<name>[^\s/:]+): cannot open shared object file"),
)
_DLL_NAME = re.compile(rb"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,120}\.dll(?=\0)", re.IGNORECASE)
_ELF64_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_ELF64_SEGMENT = struct.Struct("<IIQQQQQQ")
_PT_LOAD = 1
_NAMED_USERS = 3


def truncation(path: Path) -> str | None:
    """What is wrong with the size of an ELF file, or None.

    The dynamic loader maps segments without comparing them with the file's size: a file cut short ends the
    process with SIGBUS instead of an error, so this is asked before each dlopen. Other formats pass.
    """
    size = path.stat().st_size
    if size == 0:
        return "the file is empty"
    with path.open("rb") as file:
        header = file.read(_ELF64_HEADER.size)
        if header[:6] != b"\x7fELF\x02\x01":
            return None
        if len(header) < _ELF64_HEADER.size:
            return f"the file is cut short: {size} bytes"
        fields = _ELF64_HEADER.unpack(header)
        segments_at, entry_size, count = fields[5], fields[9], fields[10]
        file.seek(segments_at)
        table = file.read(entry_size * count)
    needed = segments_at + entry_size * count
    if len(table) == entry_size * count and entry_size == _ELF64_SEGMENT.size:
        for kind, _, offset, _, _, file_size, _, _ in _ELF64_SEGMENT.iter_unpack(table):
            if kind == _PT_LOAD:
                needed = max(needed, offset + file_size)
    return None if needed <= size else f"the file is cut short: {size} of at least {needed} bytes"


def missing_dependency(message: str) -> str | None:
    """The library that a dynamic loader's error message says it could not find."""
    for pattern in _MISSING:
        found = pattern.search(message)
        if found:
            return found["name"]
    return None


def needed_by(name: str, files: Iterable[Path]) -> list[str]:
    """Names of the files that need `name`."""
    return sorted(file.name for file in files if file.name != name and _needs(file, name))


def _needs(file: Path, name: str) -> bool:
    try:
        stated = needed_libraries(file)
        # Formats without a reader of their own: import tables hold a name as a NUL-delimited string.
        return name in stated if stated else name.encode() + b"\0" in file.read_bytes()
    except OSError:
        return False


def absent_dlls(path: Path, available: Iterable[Path], loaded: Callable[[str], bool] = is_loaded) -> list[str]:
    """DLLs that a Windows file needs, and that lie in none of the folders given nor are in the process already."""
    folders = list(available)
    names = needed_libraries(path) or {match.decode("ascii") for match in _DLL_NAME.findall(path.read_bytes())}
    return sorted(
        name
        for name in names
        if name.lower() != path.name.lower()
        and not name.lower().startswith(("api-ms-", "ext-ms-"))
        and not any((folder / name).exists() for folder in folders)
        and not loaded(name)
    )


def missing_libraries(path: Path, error: OSError, platform: str = sys.platform) -> list[str]:
    """The libraries whose absence kept `path` from being opened with `error`; none when it failed for another reason."""
    if platform == "win32":
        system = Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32")
        return absent_dlls(path, (path.parent, system))
    name = missing_dependency(str(error))
    return [] if name is None or name == path.name else [name]


def explain(path: Path, error: OSError, platform: str = sys.platform) -> str:
    """One sentence on why `path` did not open, naming what is missing and who in its folder needs it."""
    missing = missing_libraries(path, error, platform)
    if not missing:
        return " ".join(str(error).split())
    if platform == "win32":
        return f"{', '.join(missing)} not found, needed by {path.name}"
    (name,) = missing
    users = needed_by(name, _siblings(path)) or [path.name]
    more = len(users) - _NAMED_USERS
    shown = ", ".join(users[:_NAMED_USERS]) + (f" and {more} more" if more > 0 else "")
    return f"{name} not found, needed by {shown}"


def _siblings(path: Path) -> list[Path]:
    return [file for file in path.parent.iterdir() if file.is_file() and (".so" in file.name or file.suffix == ".dylib")]
