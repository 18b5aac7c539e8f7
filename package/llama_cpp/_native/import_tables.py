"""Which libraries a native file needs, as its own headers state: ELF and PE, 64-bit, little-endian.

Reads a few kilobytes wherever the tables lie, so that asking a library of hundreds of megabytes costs nothing.
"""

from __future__ import annotations

import struct
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_ELF_SEGMENT = struct.Struct("<IIQQQQQQ")
_ELF_DYNAMIC = struct.Struct("<qQ")
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NULL, _DT_NEEDED, _DT_STRTAB = 0, 1, 5

_PE_FILE_HEADER = struct.Struct("<4sHHIIIHH")
_PE_SECTION = struct.Struct("<8sIIIIIIHHI")
_PE_IMPORT = struct.Struct("<5I")
_PE_DIRECTORY = struct.Struct("<II")
_PE32_PLUS = 0x20B
_DIRECTORIES_AT = 112  # in the optional header of PE32+
_IMPORT_DIRECTORY = 1
_NAME_LIMIT = 512


def needed_libraries(path: Path) -> tuple[str, ...]:
    """File names of the libraries that `path` cannot be loaded without, in its own order; none for other formats."""
    with path.open("rb") as file:
        head = file.read(_ELF_HEADER.size)
        try:
            if head[:6] == b"\x7fELF\x02\x01":
                return tuple(_elf_needs(file, head))
            if head[:2] == b"MZ":
                return tuple(_pe_needs(file, head))
        except (struct.error, UnicodeDecodeError):
            return ()  # damaged: opening it says how
    return ()


def _elf_needs(file: IO[bytes], head: bytes) -> Iterator[str]:
    fields = _ELF_HEADER.unpack(head)
    file.seek(fields[5])
    table = file.read(_ELF_SEGMENT.size * fields[10])
    segments = list(_ELF_SEGMENT.iter_unpack(table[: len(table) // _ELF_SEGMENT.size * _ELF_SEGMENT.size]))
    dynamic = next((segment for segment in segments if segment[0] == _PT_DYNAMIC), None)
    if dynamic is None:
        return
    file.seek(dynamic[2])
    entries = []
    for tag, value in _ELF_DYNAMIC.iter_unpack(file.read(dynamic[5] // _ELF_DYNAMIC.size * _ELF_DYNAMIC.size)):
        if tag == _DT_NULL:
            break
        entries.append((tag, value))
    strings = next((value for tag, value in entries if tag == _DT_STRTAB), None)
    loads = [(segment[3], segment[2], segment[5]) for segment in segments if segment[0] == _PT_LOAD]
    for tag, value in entries:
        place = None if tag != _DT_NEEDED or strings is None else _in_file(loads, strings + value)
        if place is not None:
            yield _text_at(file, place)


def _pe_needs(file: IO[bytes], head: bytes) -> Iterator[str]:
    (header_at,) = struct.unpack_from("<I", head, 0x3C)
    file.seek(header_at)
    fields = _PE_FILE_HEADER.unpack(file.read(_PE_FILE_HEADER.size))
    optional = file.read(fields[6])
    if fields[0] != b"PE\0\0" or struct.unpack_from("<H", optional)[0] != _PE32_PLUS:
        return
    table = file.read(_PE_SECTION.size * fields[2])
    loads = [(each[2], each[4], each[3]) for each in _PE_SECTION.iter_unpack(table)]
    directory, _ = _PE_DIRECTORY.unpack_from(optional, _DIRECTORIES_AT + _IMPORT_DIRECTORY * _PE_DIRECTORY.size)
    place = _in_file(loads, directory) if directory else None
    while place is not None:
        file.seek(place)
        entry = _PE_IMPORT.unpack(file.read(_PE_IMPORT.size))
        name_at = _in_file(loads, entry[3]) if entry[3] else None
        if name_at is None:  # a zeroed entry ends the list
            return
        yield _text_at(file, name_at)
        place += _PE_IMPORT.size


def _in_file(loads: list[tuple[int, int, int]], address: int) -> int | None:
    """Where in the file the memory `address` comes from; `loads` are (address, place in the file, size)."""
    for start, place, size in loads:
        if start <= address < start + size:
            return place + address - start
    return None


def _text_at(file: IO[bytes], place: int) -> str:
    file.seek(place)
    return file.read(_NAME_LIMIT).partition(b"\0")[0].decode()
