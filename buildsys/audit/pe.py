"""Reads PE files into :class:`NativeImage`; all parsing is pefile's."""

from __future__ import annotations

from collections.abc import Iterator

import pefile

from buildsys.audit.image import NativeImage

MAGIC = b"MZ"

_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64"}
_IS_DLL = 0x2000
_MAX_EXPORTS = 1 << 20  # pefile's own limit would silently cut the list
_HARDENING = {0x0040: "DYNAMIC_BASE", 0x0100: "NX_COMPAT"}
_DIRECTORIES = [
    pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_IMPORT"],
    pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT"],
    pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_EXPORT"],
    pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_DEBUG"],
]


def read_pe(path: str, data: bytes) -> NativeImage:
    """Parse `data`, the content of the wheel's file `path`."""
    # Data in memory leaves nothing to close, and closing collects all of Python's garbage, for every file.
    pe = pefile.PE(data=data, fast_load=True, max_symbol_exports=_MAX_EXPORTS)
    end = max((section.PointerToRawData + section.SizeOfRawData for section in pe.sections), default=0)
    if end > len(data):
        raise pefile.PEFormatError(f"{end} bytes are stated, {len(data)} are there")
    pe.parse_data_directories(directories=_DIRECTORIES)
    exports = getattr(pe, "DIRECTORY_ENTRY_EXPORT", None)
    return NativeImage(
        path=path,
        machine=_MACHINES.get(pe.FILE_HEADER.Machine, hex(pe.FILE_HEADER.Machine)),
        is_program=not pe.FILE_HEADER.Characteristics & _IS_DLL,
        own_name=None if exports is None else _text(exports.name),
        needed=tuple(_imported(pe)),
        search_paths=(),
        exports=frozenset(_text(symbol.name) for symbol in ([] if exports is None else exports.symbols) if symbol.name),
        rebindable=frozenset(),
        debug_records=tuple(_debug_records(pe)),
        weaknesses=tuple(f"lacks {name}" for bit, name in _HARDENING.items() if not pe.OPTIONAL_HEADER.DllCharacteristics & bit),
        format="pe",
    )


def _imported(pe: pefile.PE) -> Iterator[str]:
    for directory in ("DIRECTORY_ENTRY_IMPORT", "DIRECTORY_ENTRY_DELAY_IMPORT"):
        for entry in getattr(pe, directory, []):
            yield _text(entry.dll)


def _debug_records(pe: pefile.PE) -> Iterator[str]:
    if pe.FILE_HEADER.NumberOfSymbols:
        yield f"COFF symbol table of {pe.FILE_HEADER.NumberOfSymbols} symbols"
    for record in getattr(pe, "DIRECTORY_ENTRY_DEBUG", []):
        pdb = _text(getattr(record.entry, "PdbFileName", b""))
        if "/" in pdb or "\\" in pdb:  # a bare name tells nothing of the building machine
            yield f"PDB path {pdb}"


def _text(raw: bytes) -> str:
    return raw.rstrip(b"\0").decode("utf-8", "replace")
