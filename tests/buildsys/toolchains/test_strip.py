"""Stripping, on a small ELF file written here: one loaded section, then symbols, debug data and names."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from buildsys.errors import ToolchainError
from buildsys.toolchains.strip import strip_elf

NAMES = b"\0.text\0.symtab\0.debug_info\0.shstrtab\0"


def elf(path: Path, *, order: tuple[str, ...] = (".text", ".symtab", ".debug_info", ".shstrtab")) -> bytes:
    contents = {".text": b"\x90" * 40, ".symtab": b"\0" * 48, ".debug_info": b"path of a builder", ".shstrtab": NAMES}
    kinds = {".text": (1, 6), ".symtab": (2, 0), ".debug_info": (1, 0), ".shstrtab": (3, 0)}
    body = b""
    headers = [struct.pack("<IIQQQQIIQQ", *([0] * 10))]
    for name in order:
        kind, flags = kinds[name]
        headers.append(
            struct.pack("<IIQQQQIIQQ", NAMES.index(name.encode() + b"\0"), kind, flags, 0, 64 + len(body), len(contents[name]), 0, 0, 1, 24)
        )
        body += contents[name]
    ident = b"\x7fELF\x02\x01\x01" + b"\0" * 9
    names_index = 1 + order.index(".shstrtab")
    header = struct.pack("<16sHHIQQQIHHHHHH", ident, 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 56, 0, 64, len(headers), names_index)
    path.write_bytes(header + body + b"".join(headers))
    return contents[".text"]


def test_loaded_bytes_stay_and_the_rest_goes(tmp_path: Path) -> None:
    file = tmp_path / "lib.so"
    text = elf(file)
    strip_elf(file)
    with file.open("rb") as stream:
        read = ELFFile(stream)
        assert [section.name for section in read.iter_sections()] == ["", ".text", ".shstrtab"]
        assert read.get_section_by_name(".text").data() == text
    assert b"builder" not in file.read_bytes()


def test_stripping_twice_changes_nothing_more(tmp_path: Path) -> None:
    file = tmp_path / "lib.so"
    elf(file)
    strip_elf(file)
    once = file.read_bytes()
    strip_elf(file)
    assert file.read_bytes() == once


def test_a_file_that_would_have_to_be_rearranged_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "lib.so"
    elf(file, order=(".symtab", ".text", ".debug_info", ".shstrtab"))
    with pytest.raises(ToolchainError, match="mixes"):
        strip_elf(file)


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "lib.dll"
    file.write_bytes(b"MZ" * 100)
    with pytest.raises(ToolchainError, match="not a 64-bit"):
        strip_elf(file)
