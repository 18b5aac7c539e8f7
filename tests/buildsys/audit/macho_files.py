"""Writes small Mach-O libraries, load command by load command (mach-o/loader.h)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_MACHINES = {"x86_64": (0x01000007, 3), "aarch64": (0x0100000C, 0)}
_SEGMENT_64, _SYMTAB, _LOAD_DYLIB, _ID_DYLIB, _RPATH, _CODE_SIGNATURE, _BUILD_VERSION = 0x19, 0x2, 0xC, 0xD, 0x8000001C, 0x1D, 0x32
_DYLIB, _EXECUTE = 6, 2
_TWOLEVEL, _ALLOW_STACK_EXECUTION = 0x80, 0x20000
_EXTERNAL_IN_SECTION = 0x0F


def dylib(
    *,
    name: str = "@rpath/libx.dylib",
    needed: Sequence[str] = ("/usr/lib/libSystem.B.dylib",),
    rpaths: Sequence[str] = ("@loader_path",),
    exports: Sequence[str] = ("run",),
    machine: str = "aarch64",
    oldest: tuple[int, int] = (14, 0),
    signed: bool = True,
    two_level: bool = True,
    executable_stack: bool = False,
    dwarf: bool = False,
    is_program: bool = False,
    payload: bytes = b"",
) -> bytes:
    """A 64-bit Mach-O file that states exactly these properties; an empty `name` leaves the install name out."""
    strings = b"\0" + b"".join(f"_{symbol}\0".encode() for symbol in exports)
    places = [strings.index(f"\0_{symbol}\0".encode()) + 1 for symbol in exports]
    symbols = b"".join(struct.pack("<IBBHQ", place, _EXTERNAL_IN_SECTION, 1, 0, 0x1000) for place in places)
    signature = bytes(16) if signed else b""
    fixed = [_segment("__TEXT", 0x4000, section="__text"), *([_segment("__DWARF", 0, section="__debug_info")] if dwarf else [])]
    fixed += [_path(_ID_DYLIB, name)] if name else []
    fixed += [_path(_LOAD_DYLIB, library) for library in needed]
    fixed += [_path(_RPATH, rpath) for rpath in rpaths]
    fixed.append(struct.pack("<6I", _BUILD_VERSION, 24, 1, oldest[0] << 16 | oldest[1] << 8, 0, 0))
    commands = len(fixed) + 2 + signed
    start = 0x4000
    tail = start + len(payload)
    link = _segment("__LINKEDIT", len(symbols) + len(strings) + len(signature), offset=tail)
    fixed += [link, struct.pack("<6I", _SYMTAB, 24, tail, len(exports), tail + len(symbols), len(strings))]
    if signed:
        fixed.append(struct.pack("<4I", _CODE_SIGNATURE, 16, tail + len(symbols) + len(strings), len(signature)))
    body = b"".join(fixed)
    flags = two_level * _TWOLEVEL | executable_stack * _ALLOW_STACK_EXECUTION
    header = struct.pack("<8I", 0xFEEDFACF, *_MACHINES[machine], _EXECUTE if is_program else _DYLIB, commands, len(body), flags, 0)
    return (header + body).ljust(start, b"\0") + payload + symbols + strings + signature


def _path(command: int, text: str) -> bytes:
    fixed = 12 if command == _RPATH else 24
    size = -(-(fixed + len(text) + 1) // 8) * 8
    middle = struct.pack("<I", fixed) if command == _RPATH else struct.pack("<4I", fixed, 2, 0x10000, 0x10000)
    return (struct.pack("<2I", command, size) + middle + text.encode()).ljust(size, b"\0")


def _segment(name: str, size: int, *, offset: int = 0, section: str = "") -> bytes:
    sections = struct.pack("<16s16s2Q8I", section.encode(), name.encode(), 0x1000, 0, offset, 0, 0, 0, 0, 0, 0, 0) if section else b""
    head = struct.pack("<2I16s4Q2i2I", _SEGMENT_64, 72 + len(sections), name.encode(), offset, size, offset, size, 7, 5, bool(section), 0)
    return head + sections
