"""The ELF and PE readers, on files that are written here and on the interpreter's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pefile
import pytest

from buildsys.audit.elf import read_elf
from buildsys.audit.image import NativeImage
from buildsys.audit.pe import read_pe

from .elf_files import shared_object
from .pe_files import dynamic_library


def test_elf_facts() -> None:
    data = shared_object(
        soname="libx.so",
        needed=["libc.so.6", "liby.so"],
        rpath="/old",
        runpath="$ORIGIN:/abs",
        exports=["run", "stop"],
        self_bound=["stop"],
        machine="aarch64",
    )
    assert read_elf("lib/libx.so", data) == NativeImage(
        path="lib/libx.so",
        format="elf",
        machine="aarch64",
        is_program=False,
        own_name="libx.so",
        needed=("libc.so.6", "liby.so"),
        search_paths=("/old", "$ORIGIN", "/abs"),
        exports=frozenset({"run", "stop"}),
        rebindable=frozenset({"stop"}),
        debug_records=(),
        weaknesses=(),
    )


def test_elf_that_binds_its_own_symbols_first_is_not_rebindable() -> None:
    data = shared_object(exports=["run"], self_bound=["run"], symbolic=True)
    assert read_elf("x", data).rebindable == frozenset()


def test_elf_without_section_headers_still_shows_its_symbols() -> None:
    data = bytearray(shared_object(exports=["run"], self_bound=["run"]))
    data[40:48] = bytes(8)  # e_shoff
    data[60:64] = bytes(4)  # e_shnum, e_shstrndx
    image = read_elf("x", bytes(data))
    assert image.own_name == "libx.so"
    assert image.exports == image.rebindable == frozenset({"run"})


def test_elf_leftovers_and_weaknesses() -> None:
    data = shared_object(symbol_table=True, extra_sections=[".debug_info"], stack_flags=7, text_relocations=True, interpreter=True)
    image = read_elf("x", data)
    assert image.is_program
    assert sorted(image.debug_records) == [".debug_info", ".symtab"]
    assert image.weaknesses == ("asks for an executable stack", "has text relocations (DT_TEXTREL)")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the running interpreter, which is an ELF program on Linux only")
def test_elf_program() -> None:
    image = read_elf("python", Path(sys.executable).read_bytes())
    assert image.is_program
    assert any(need.startswith("libc.so") for need in image.needed)
    assert not image.weaknesses


def test_pe_facts() -> None:
    data = dynamic_library(name="x.dll", imports=["KERNEL32.dll", "y.dll"], exports=["run"], machine="aarch64")
    assert read_pe("lib/x.dll", data) == NativeImage(
        path="lib/x.dll",
        format="pe",
        machine="aarch64",
        is_program=False,
        own_name="x.dll",
        needed=("KERNEL32.dll", "y.dll"),
        search_paths=(),
        exports=frozenset({"run"}),
        rebindable=frozenset(),
        debug_records=(),
        weaknesses=(),
    )


def test_pe_leftovers_and_weaknesses() -> None:
    image = read_pe("x", dynamic_library(is_dll=False, dll_characteristics=0, pdb=r"C:\b\x.pdb"))
    assert image.is_program
    assert image.debug_records == (r"PDB path C:\b\x.pdb",)
    assert image.weaknesses == ("lacks DYNAMIC_BASE", "lacks NX_COMPAT")


def test_pe_may_name_its_symbols_without_a_folder() -> None:
    assert read_pe("x", dynamic_library(pdb="x.pdb")).debug_records == ()


def test_a_pe_that_is_cut_short_is_no_image() -> None:
    whole = dynamic_library(payload=bytes(5000))
    with pytest.raises(pefile.PEFormatError, match="bytes are stated"):
        read_pe("x", whole[:3000])


def test_pe_with_many_exports_shows_all() -> None:
    names = [f"f{number}" for number in range(9000)]
    assert read_pe("x", dynamic_library(exports=names)).exports == frozenset(names)


def test_file_names_are_compared_as_the_loader_does() -> None:
    elf, pe = read_elf("a/x.so", shared_object()), read_pe("a/x.dll", dynamic_library())
    assert not elf.same_name("libX.so", "libx.so")
    assert pe.same_name("KERNEL32.dll", "kernel32.DLL")
    assert (elf.file_name, elf.folder) == ("x.so", "a")
