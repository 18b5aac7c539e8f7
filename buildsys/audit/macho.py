"""Reads Mach-O files into :class:`NativeImage`; all parsing is LIEF's."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

import lief
from lief import MachO

from buildsys.audit.image import NativeImage

MAGIC = b"\xcf\xfa\xed\xfe"
FAT_MAGIC = b"\xca\xfe\xba\xbe"

_MACHINES = {MachO.Header.CPU_TYPE.ARM64: "aarch64", MachO.Header.CPU_TYPE.X86_64: "x86_64"}
_LIBRARIES = (MachO.Header.FILE_TYPE.DYLIB, MachO.Header.FILE_TYPE.BUNDLE)
_EXPORTED_MASK = 0xFF  # N_STAB, N_PEXT, N_TYPE, N_EXT (mach-o/nlist.h)
_EXPORTED = 0x0F  # N_SECT | N_EXT
_BESIDE = "@loader_path/"
_SEARCHED = "@rpath/"

lief.logging.disable()


def read_macho(path: str, data: bytes) -> NativeImage:
    """Parse `data`, the content of the wheel's file `path`.

    `needed` has the bare names of what is looked for beside the library or by its RPATH, in `search_paths` with ELF's
    `$ORIGIN` for `@loader_path`; what is named by its whole path keeps it.

    Raises:
        ValueError: it is no Mach-O file, or one for several machines.
    """
    binaries = MachO.parse(list(data))
    if binaries is None or binaries.size != 1:
        raise ValueError("is no Mach-O file for one machine")
    binary = binaries.at(0)
    assert binary is not None  # noqa: S101 - for the type checker: there is one
    exports = frozenset(_exports(binary))
    beside = any(name.startswith(_BESIDE) for name in _linked(binary))
    paths = [str(entry.path).replace("@loader_path", "$ORIGIN") for entry in binary.rpaths]
    return NativeImage(
        path=path,
        machine=_MACHINES.get(binary.header.cpu_type, str(binary.header.cpu_type)),
        is_program=binary.header.file_type not in _LIBRARIES,
        own_name=_own_name(binary),
        needed=tuple(posixpath.basename(name) if name.startswith((_BESIDE, _SEARCHED)) else name for name in _linked(binary)),
        search_paths=(*paths, *(["$ORIGIN"] if beside and "$ORIGIN" not in paths else [])),
        exports=exports,
        rebindable=frozenset() if binary.header.has(MachO.Header.FLAGS.TWOLEVEL) else exports,
        debug_records=tuple(sorted({section.segment_name for section in binary.sections if section.segment_name == "__DWARF"})),
        weaknesses=tuple(_weaknesses(binary)),
        format="macho",
        oldest_system=_oldest_system(binary),
    )


def _exports(binary: MachO.Binary) -> Iterator[str]:
    for symbol in binary.symbols:
        if symbol.has_export_info or symbol.raw_type & _EXPORTED_MASK == _EXPORTED:
            yield str(symbol.name).removeprefix("_")


def _linked(binary: MachO.Binary) -> Iterator[str]:
    for library in binary.libraries:
        if library.command != MachO.LoadCommand.TYPE.ID_DYLIB:
            yield str(library.name)


def _own_name(binary: MachO.Binary) -> str | None:
    for library in binary.libraries:
        if library.command == MachO.LoadCommand.TYPE.ID_DYLIB:
            return posixpath.basename(str(library.name))
    return None


def _oldest_system(binary: MachO.Binary) -> tuple[int, ...]:
    if binary.build_version is not None:
        return tuple(binary.build_version.minos)
    return tuple(binary.version_min.version) if binary.version_min is not None else ()


def _weaknesses(binary: MachO.Binary) -> Iterator[str]:
    if binary.header.has(MachO.Header.FLAGS.ALLOW_STACK_EXECUTION):
        yield "asks for an executable stack"
    if binary.header.cpu_type == MachO.Header.CPU_TYPE.ARM64 and not binary.has_code_signature:
        yield "is not signed, and Apple silicon loads nothing unsigned"
