"""Dropping the symbol table and debug sections of a finished ELF library: what `strip` does.

No package on the index brings a working strip, and a machine with nothing but Python has none either.
"""

from __future__ import annotations

import struct
from pathlib import Path

from buildsys.errors import ToolchainError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_ALLOC = 2  # SHF_ALLOC
_NOBITS = 8  # SHT_NOBITS: takes no room in the file


def strip_elf(path: Path) -> None:
    """Rewrite the little-endian ELF64 file `path` without the sections that are not loaded.

    Linkers put those behind everything that is loaded, so no loaded byte moves; a file where that doesn't hold is
    refused rather than rearranged.

    Raises:
        ToolchainError: not such a file.
    """
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ToolchainError(f"{path} is not a 64-bit little-endian ELF file")
    header = list(_HEADER.unpack_from(data))
    table, count, names_index = header[6], header[12], header[13]
    sections = [list(_SECTION.unpack_from(data, table + index * _SECTION.size)) for index in range(count)]
    loaded = 1 + max(index for index, section in enumerate(sections) if section[2] & _ALLOC)
    end = max(section[4] + (section[5] if section[1] != _NOBITS else 0) for section in sections[:loaded])
    if any(not section[2] & _ALLOC for section in sections[1:loaded]) or any(section[4] < end for section in sections[loaded:]):
        raise ToolchainError(f"{path} mixes loaded and other sections: it cannot be stripped in place")
    names = sections[names_index]
    text = data[names[4] : names[4] + names[5]]
    names[4] = end
    kept = [*sections[:loaded], names]
    position = -(-(end + len(text)) // 8) * 8
    header[6], header[12], header[13] = position, len(kept), loaded
    body = _HEADER.pack(*header) + data[_HEADER.size : end] + text
    path.write_bytes(body.ljust(position, b"\0") + b"".join(_SECTION.pack(*section) for section in kept))
