"""Links a DLL of the MinGW kind so that it exports what a version script lists, as the same library does on Linux.

Without an export list the linker would export all that a DLL holds, its copy of the C and C++ runtimes included. The list
is made from the symbol tables of the object files, so it knows functions from data and has names as this target mangles them.

Usage: link_with_exports.py DLL VERSION_SCRIPT EXPORTS.def LINKER ARGUMENT… Standard library only: CMake runs it with
whatever Python it finds.
"""

from __future__ import annotations

import re
import shlex
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator
from fnmatch import translate
from pathlib import Path

AMD64, ARM64 = 0x8664, 0xAA64
HEADER, SECTION, SYMBOL = 20, 40, 18
EXTERNAL = 2  # IMAGE_SYM_CLASS_EXTERNAL
CODE = 0x20  # IMAGE_SCN_CNT_CODE


class ExportError(ValueError):
    """An object file or a version script is not what it should be."""


def defined_symbols(data: bytes) -> Iterator[tuple[str, bool]]:
    """Names of the external symbols that a COFF object defines, and whether each is code."""
    machine, n_sections, _, table, n_symbols, optional, _ = struct.unpack_from("<HHIIIHH", data)
    if machine not in (AMD64, ARM64):
        raise ExportError("not a 64-bit COFF object")
    sections = HEADER + optional
    names = table + n_symbols * SYMBOL
    index = 0
    while index < n_symbols:
        at = table + index * SYMBOL
        value, section, _, storage, auxiliary = struct.unpack_from("<IhHBB", data, at + 8)
        index += 1 + auxiliary
        if storage != EXTERNAL or section < 0 or (section == 0 and value == 0):
            continue
        if section > n_sections:
            raise ExportError("a symbol lies in a section that is not there")
        flags = struct.unpack_from("<I", data, sections + (section - 1) * SECTION + 36)[0] if section else 0
        yield _name(data, at, names), bool(flags & CODE)


def _name(data: bytes, at: int, names: int) -> str:
    zeros, offset = struct.unpack_from("<II", data, at)
    if zeros:
        return data[at : at + 8].rstrip(b"\0").decode()
    return data[names + offset : data.index(b"\0", names + offset)].decode()


def exported_patterns(script: str) -> list[str]:
    """The `global:` patterns of a version script without versions."""
    text = re.sub(r"/\*.*?\*/", "", script, flags=re.DOTALL)
    match = re.fullmatch(r"\s*\{\s*global:(.*?)local:\s*\*;\s*\};\s*", text, flags=re.DOTALL)
    if match is None:
        raise ExportError("the version script is not of the form { global: …; local: *; };")
    return [pattern.strip() for pattern in match[1].split(";") if pattern.strip()]


def definition(dll: str, patterns: Iterable[str], objects: Iterable[bytes]) -> str:
    """Text of the module definition file of `dll`."""
    wanted = re.compile("|".join(translate(pattern) for pattern in patterns))
    exports = {name: code for data in objects for name, code in defined_symbols(data) if wanted.match(name)}
    if not exports:
        raise ExportError(f"{dll} defines nothing that is to be exported")
    lines = (f"  {name}{'' if code else ' DATA'}" for name, code in sorted(exports.items()))
    return "\n".join([f"LIBRARY {dll}", "EXPORTS", *lines, ""])


def object_files(arguments: Iterable[str]) -> Iterator[Path]:
    """The object files among a linker's arguments, response files read."""
    for argument in arguments:
        if argument.startswith("@"):
            yield from object_files(shlex.split(Path(argument[1:]).read_text(encoding="utf-8")))
        elif argument.endswith((".obj", ".o")):
            yield Path(argument)


def main(arguments: list[str]) -> int:
    """Write the export list, then link with it."""
    try:
        dll, script, target, linker, *rest = arguments
    except ValueError:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        patterns = exported_patterns(Path(script).read_text(encoding="utf-8"))
        text = definition(dll, patterns, (path.read_bytes() for path in object_files(rest)))
    except (OSError, ExportError, struct.error) as error:
        print(f"link_with_exports.py: {dll}: {error}", file=sys.stderr)
        return 1
    Path(target).write_text(text, encoding="utf-8", newline="\n")
    return subprocess.run([linker, *rest, target], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
