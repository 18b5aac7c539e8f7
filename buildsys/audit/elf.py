"""Reads ELF files into :class:`NativeImage`; all parsing is pyelftools'."""

from __future__ import annotations

import io
from collections.abc import Iterator

from elftools.elf.constants import P_FLAGS, SH_FLAGS
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationTable
from elftools.elf.sections import SymbolTableSection

from buildsys.audit.image import NativeImage

MAGIC = b"\x7fELF"

_MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}
_DF_SYMBOLIC = 0x2
_DF_TEXTREL = 0x4
_EXPORTED_BINDINGS = {"STB_GLOBAL", "STB_WEAK", "STB_LOOS"}  # STB_LOOS is STB_GNU_UNIQUE
_EXPORTED_VISIBILITIES = {"STV_DEFAULT", "STV_PROTECTED"}


def read_elf(path: str, data: bytes) -> NativeImage:
    """Parse `data`, the content of the wheel's file `path`."""
    elf = ELFFile(io.BytesIO(data))
    segments = list(elf.iter_segments())
    dynamic = next((segment for segment in segments if isinstance(segment, DynamicSegment)), None)
    tags = [] if dynamic is None else list(dynamic.iter_tags())
    names = {
        kind: tuple(getattr(tag, kind) for tag in tags if tag.entry.d_tag == f"DT_{kind.upper()}")
        for kind in ("needed", "soname", "rpath", "runpath")
    }
    exports = frozenset(_exports(elf, dynamic))
    paths = (part for value in names["rpath"] + names["runpath"] for part in value.split(":"))
    return NativeImage(
        path=path,
        machine=_MACHINES.get(elf["e_machine"], str(elf["e_machine"])),
        is_program=elf["e_type"] == "ET_EXEC" or any(segment["p_type"] == "PT_INTERP" for segment in segments),
        own_name=next(iter(names["soname"]), None),
        needed=names["needed"],
        search_paths=tuple(paths),
        exports=exports,
        rebindable=exports.intersection(_self_bound(elf, dynamic)),
        debug_records=tuple(_debug_sections(elf)),
        weaknesses=tuple(_weaknesses(elf, dynamic)),
        format="elf",
    )


def code_of(data: bytes) -> Iterator[bytes]:
    """The executable sections of an ELF file."""
    for section in ELFFile(io.BytesIO(data)).iter_sections():
        if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_type"] == "SHT_PROGBITS":
            yield section.data()


def _exports(elf: ELFFile, dynamic: DynamicSegment | None) -> Iterator[str]:
    # The section is quicker to read; a file without section headers still has the segment.
    section = elf.get_section_by_name(".dynsym")
    table = section if isinstance(section, SymbolTableSection) else dynamic
    for symbol in () if table is None else table.iter_symbols():
        if (
            symbol["st_shndx"] != "SHN_UNDEF"
            and symbol["st_info"]["bind"] in _EXPORTED_BINDINGS
            and symbol["st_other"]["visibility"] in _EXPORTED_VISIBILITIES
        ):
            yield symbol.name


def _self_bound(elf: ELFFile, dynamic: DynamicSegment | None) -> Iterator[str]:
    """Symbols that the loader looks up by name for this file, so that another file's may be taken."""
    if dynamic is None or _has_flag(dynamic, "DT_SYMBOLIC", _DF_SYMBOLIC):
        return
    section = elf.get_section_by_name(".dynsym")
    symbols = section if isinstance(section, SymbolTableSection) else dynamic
    relative = next((tag.entry.d_val for tag in dynamic.iter_tags("DT_RELACOUNT")), 0)
    tables = dynamic.get_relocation_tables()
    seen: set[int] = set()
    for kind in ("RELA", "JMPREL"):
        table = tables.get(kind)
        if isinstance(table, RelocationTable):
            first = relative if kind == "RELA" else 0  # the relative ones come first and name no symbol
            seen.update(table.get_relocation(n)["r_info_sym"] for n in range(first, table.num_relocations()))
    yield from (symbols.get_symbol(index).name for index in seen - {0})


def _debug_sections(elf: ELFFile) -> Iterator[str]:
    for section in elf.iter_sections():
        if section["sh_type"] == "SHT_SYMTAB" or section.name.startswith((".debug_", ".zdebug_", ".gnu_debug")):
            yield section.name


def _weaknesses(elf: ELFFile, dynamic: DynamicSegment | None) -> Iterator[str]:
    stack = next(elf.iter_segments("PT_GNU_STACK"), None)
    if stack is None:
        yield "no PT_GNU_STACK header, so the loader makes the stack executable"
    elif stack["p_flags"] & P_FLAGS.PF_X:
        yield "asks for an executable stack"
    if dynamic is not None and _has_flag(dynamic, "DT_TEXTREL", _DF_TEXTREL):
        yield "has text relocations (DT_TEXTREL)"


def _has_flag(dynamic: DynamicSegment, tag_name: str, bit: int) -> bool:
    return any(tag.entry.d_tag == tag_name or (tag.entry.d_tag == "DT_FLAGS" and tag.entry.d_val & bit) for tag in dynamic.iter_tags())
