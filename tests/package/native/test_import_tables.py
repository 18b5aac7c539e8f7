from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._native.import_tables import needed_libraries
from tests.buildsys.audit.elf_files import shared_object
from tests.buildsys.audit.pe_files import dynamic_library

if TYPE_CHECKING:
    from pathlib import Path


def needs(folder: Path, contents: bytes) -> tuple[str, ...]:
    path = folder / "library"
    path.write_bytes(contents)
    return needed_libraries(path)


def test_elf_needs_in_their_order(tmp_path: Path) -> None:
    names = ("libggml-base.so", "libcudart.so.13", "libcublas.so.13", "libcuda.so.1", "libc.so.6")
    assert needs(tmp_path, shared_object(needed=names)) == names


def test_elf_without_needs(tmp_path: Path) -> None:
    assert needs(tmp_path, shared_object(needed=())) == ()


def test_pe_needs(tmp_path: Path) -> None:
    names = ("ggml-base.dll", "cudart64_13.dll", "nvcuda.dll", "KERNEL32.dll")
    assert sorted(needs(tmp_path, dynamic_library(imports=names))) == sorted(names)


@pytest.mark.parametrize("contents", [b"", b"MZ", b"\x7fELF\x02\x01", b"no library at all", b"\xcf\xfa\xed\xfe" + bytes(100)])
def test_other_formats_and_stumps_have_none(tmp_path: Path, contents: bytes) -> None:
    assert needs(tmp_path, contents) == ()


@pytest.mark.parametrize("keep", [64, 70, 130, 180, 200, 0.5, 0.9])
@pytest.mark.parametrize("make", [shared_object, dynamic_library])
def test_a_file_cut_short_is_no_crash(tmp_path: Path, make: Any, keep: float) -> None:
    whole = make()
    assert isinstance(needs(tmp_path, whole[: keep if isinstance(keep, int) else int(len(whole) * keep)]), tuple)


def test_addresses_that_lead_nowhere_are_no_crash(tmp_path: Path) -> None:
    whole = bytearray(shared_object())
    at = whole.index(struct.pack("<Q", 5), 0x100)  # DT_STRTAB of the dynamic section
    whole[at + 8 : at + 16] = struct.pack("<Q", 2**40)
    assert needs(tmp_path, bytes(whole)) == ()


def test_a_32_bit_pe_is_left_alone(tmp_path: Path) -> None:
    whole = bytearray(dynamic_library())
    (header_at,) = struct.unpack_from("<I", whole, 0x3C)
    struct.pack_into("<H", whole, header_at + 24, 0x10B)
    assert needs(tmp_path, bytes(whole)) == ()
