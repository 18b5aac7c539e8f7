"""What the audit needs to know of one native file, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class NativeImage:
    """The facts of a shared library or program, as its own headers state them.

    Attributes:
        path: name inside the wheel.
        machine: `x86_64`, `aarch64`, or the format's own constant for another one.
        own_name: SONAME (ELF), the export directory's name (PE) or the last part of the install name (Mach-O); None where
            there is none.
        needed: libraries that the loader must find before this one loads, delay-loaded ones included.
        search_paths: RPATH and RUNPATH entries (ELF, Mach-O); empty for PE, which looks beside itself.
        exports: symbols that other libraries can bind to.
        rebindable: exports that the file's own calls are bound to by name (ELF without -Bsymbolic), so that an equal
            name in a library loaded earlier takes their place; empty for those that bind by library and name.
        debug_records: leftovers of the compiler that `strip` removes.
        weaknesses: missing hardening, in words.
        oldest_system: the oldest release of macOS that loads it (Mach-O).
    """

    path: str
    format: Literal["elf", "pe", "macho"]
    machine: str
    is_program: bool
    own_name: str | None
    needed: tuple[str, ...]
    search_paths: tuple[str, ...]
    exports: frozenset[str]
    rebindable: frozenset[str]
    debug_records: tuple[str, ...]
    weaknesses: tuple[str, ...]
    oldest_system: tuple[int, ...] = ()

    @property
    def file_name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def folder(self) -> str:
        """The folder inside the wheel."""
        return str(PurePosixPath(self.path).parent)

    def same_name(self, one: str, other: str) -> bool:
        """Whether the loader of this format takes the two file names for one."""
        return one.lower() == other.lower() if self.format == "pe" else one == other
