"""Writes small ELF64 shared objects, so that the tests need neither a compiler nor a file of the test machine."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_MACHINES = {"x86_64": (62, 1), "aarch64": (183, 257)}  # e_machine, R_*_64 / R_*_ABS64
_HEADER, _PROGRAM, _SECTION, _SYMBOL = 64, 56, 64, 24
_SHF_ALLOC = 2
_SHF_EXECINSTR = 4
_PF_R, _PF_W, _PF_X = 4, 2, 1
_TYPES = {
    "symtab": 2,
    "strtab": 3,
    "rela": 4,
    "hash": 5,
    "dynamic": 6,
    "progbits": 1,
    "dynsym": 11,
    "versym": 0x6FFFFFFF,
    "verneed": 0x6FFFFFFE,
}
_TAGS = {
    "NEEDED": 1, "HASH": 4, "STRTAB": 5, "SYMTAB": 6, "RELA": 7, "RELASZ": 8, "RELAENT": 9, "STRSZ": 10, "SYMENT": 11,
    "SONAME": 14, "RPATH": 15, "TEXTREL": 22, "RUNPATH": 29, "FLAGS": 30, "VERSYM": 0x6FFFFFF0, "VERNEED": 0x6FFFFFFE,
    "VERNEEDNUM": 0x6FFFFFFF,
}  # fmt: skip


class _Strings:
    """A string table: each text once, by its offset."""

    def __init__(self) -> None:
        self.data = b"\0"

    def __call__(self, text: str) -> int:
        raw = text.encode() + b"\0"
        offset = self.data.find(b"\0" + raw) + 1
        if offset == 0:
            offset = len(self.data)
            self.data += raw
        return offset


@dataclass
class _Section:
    name: str
    kind: str
    data: bytes
    link: str = ""
    info: int = 0
    entry: int = 0
    offset: int = field(default=0, init=False)


def shared_object(
    *,
    soname: str | None = "libx.so",
    needed: Sequence[str] = ("libc.so.6",),
    runpath: str | None = None,
    rpath: str | None = None,
    exports: Sequence[str] = (),
    self_bound: Sequence[str] = (),
    versions: Mapping[str, Sequence[str]] | None = None,
    machine: str = "x86_64",
    stack_flags: int | None = _PF_R | _PF_W,
    text_relocations: bool = False,
    symbolic: bool = False,
    interpreter: bool = False,
    symbol_table: bool = False,
    extra_sections: Sequence[str] = (),
    payload: bytes = b"",
    code: bytes = b"",
) -> bytes:
    """An ELF file that states exactly these properties; it holds no code but `code`.

    `self_bound` are exports to which the file has relocations of its own; `versions` are the symbol versions that it
    requires, by library; `stack_flags` None leaves PT_GNU_STACK out.
    """
    versions = {"libc.so.6": ["GLIBC_2.17"]} if versions is None else versions
    strings = _Strings()
    sections = [_Section("", "progbits", b"")]
    symbols = [struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)]
    symbols += [struct.pack("<IBBHQQ", strings(name), 0x12, 0, 1, 0x40, 8) for name in exports]
    symbols.append(struct.pack("<IBBHQQ", strings("malloc"), 0x12, 0, 0, 0, 0))
    relocations = b"".join(struct.pack("<QQq", 0x40, (exports.index(name) + 1) << 32 | _MACHINES[machine][1], 0) for name in self_bound)
    verneed = _verneed(versions, strings)
    entries = [("NEEDED", strings(name)) for name in needed]
    entries += [(tag, strings(text)) for tag, text in (("SONAME", soname), ("RPATH", rpath), ("RUNPATH", runpath)) if text is not None]
    sections += [
        _Section(".rodata", "progbits", payload or b"\0"),
        _Section(".dynsym", "dynsym", b"".join(symbols), ".dynstr", 1, _SYMBOL),
        _Section(".hash", "hash", struct.pack(f"<{3 + len(symbols)}I", 1, len(symbols), *([0] * (1 + len(symbols)))), ".dynsym", 0, 4),
        _Section(".gnu.version", "versym", b"\1\0" * len(symbols), ".dynsym", 0, 2),
        _Section(".gnu.version_r", "verneed", verneed, ".dynstr", len(versions)),
        _Section(".rela.dyn", "rela", relocations, ".dynsym", 0, 24),
        _Section(".dynstr", "strtab", strings.data),
        *(_Section(name, "progbits", b"\0" * 8) for name in extra_sections),
        *([_Section(".text", "progbits", code)] if code else []),
    ]
    if symbol_table:
        sections.append(_Section(".symtab", "symtab", symbols[0], ".dynstr", 1, _SYMBOL))
    flags = (2 if symbolic else 0) | (4 if text_relocations else 0)
    if text_relocations:
        entries.append(("TEXTREL", 0))
    entries += [("FLAGS", flags), ("VERNEEDNUM", len(versions))]
    return _assemble(sections, entries, machine=machine, stack_flags=stack_flags, interpreter=interpreter)


def _verneed(versions: Mapping[str, Sequence[str]], strings: _Strings) -> bytes:
    data = b""
    for number, (library, names) in enumerate(versions.items()):
        size = 16 + 16 * len(names)
        following = size if number + 1 < len(versions) else 0
        data += struct.pack("<HHIII", 1, len(names), strings(library), 16, following)
        for index, name in enumerate(names):
            data += struct.pack("<IHHII", 0, 0, 2 + index, strings(name), 16 if index + 1 < len(names) else 0)
    return data


def _assemble(
    sections: list[_Section],
    entries: list[tuple[str, int]],
    *,
    machine: str,
    stack_flags: int | None,
    interpreter: bool,
) -> bytes:
    program_count = 2 + (stack_flags is not None) + interpreter
    body = bytearray(_HEADER + _PROGRAM * program_count)

    def place(section: _Section) -> None:
        body.extend(b"\0" * (-len(body) % 8))
        section.offset = len(body)
        body.extend(section.data)

    for section in sections[1:]:
        place(section)
    by_name = {section.name: section for section in sections}
    pointers = {"HASH": ".hash", "STRTAB": ".dynstr", "SYMTAB": ".dynsym", "VERSYM": ".gnu.version", "VERNEED": ".gnu.version_r"}
    entries = [*entries, *((tag, by_name[name].offset) for tag, name in pointers.items())]
    entries += [("STRSZ", len(by_name[".dynstr"].data)), ("SYMENT", _SYMBOL)]
    rela = by_name[".rela.dyn"]
    if rela.data:
        entries += [("RELA", rela.offset), ("RELASZ", len(rela.data)), ("RELAENT", 24)]
    table = b"".join(struct.pack("<QQ", _TAGS[tag], value) for tag, value in entries) + bytes(16)
    dynamic = _Section(".dynamic", "dynamic", table, ".dynstr", 0, 16)
    names = _Strings()
    name_section = _Section(".shstrtab", "strtab", b"")
    sections = [*sections, dynamic, name_section]
    name_offsets = [names(section.name) if section.name else 0 for section in sections]
    name_section.data = names.data
    place(dynamic)
    place(name_section)
    body.extend(b"\0" * (-len(body) % 8))
    section_offset = len(body)
    body.extend(_section_headers(sections, name_offsets))
    programs = [(1, _PF_R, 0, len(body)), (2, _PF_R | _PF_W, dynamic.offset, len(dynamic.data))]
    if stack_flags is not None:
        programs.append((0x6474E551, stack_flags, 0, 0))
    if interpreter:
        programs.append((3, _PF_R, by_name[".rodata"].offset, 1))
    ident = b"\x7fELF\2\1\1" + bytes(9)
    header = ident + struct.pack(
        "<HHIQQQIHHHHHH",
        3,
        _MACHINES[machine][0],
        1,
        0,
        _HEADER,
        section_offset,
        0,
        _HEADER,
        _PROGRAM,
        len(programs),
        _SECTION,
        len(sections),
        len(sections) - 1,
    )
    packed = b"".join(struct.pack("<IIQQQQQQ", kind, bits, offset, offset, offset, size, size, 8) for kind, bits, offset, size in programs)
    body[: len(header) + len(packed)] = header + packed
    return bytes(body)


def _section_headers(sections: list[_Section], name_offsets: list[int]) -> bytes:
    index = {section.name: number for number, section in enumerate(sections)}
    headers = bytes(_SECTION)
    for section, name in list(zip(sections, name_offsets, strict=True))[1:]:
        headers += struct.pack(
            "<IIQQQQIIQQ",
            name,
            _TYPES[section.kind],
            _SHF_ALLOC | (_SHF_EXECINSTR if section.name == ".text" else 0),
            section.offset,
            section.offset,
            len(section.data),
            index.get(section.link, 0) if section.link else 0,
            section.info,
            8,
            section.entry,
        )
    return headers
