"""Reads the record layouts out of the compiled layout probe and writes them as JSON. Nothing of the object is executed.

Usage: extract_abi.py OBJECT OUT.json. Standard library only: CMake runs it with whatever Python it finds.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

MARKER = b"llama_cpp-abi-layout:1"
ORDER = 0x01020304


class ProbeError(ValueError):
    """The file holds no layout probe, or not a whole one."""


def layouts(data: bytes) -> dict[str, Any]:
    """The layouts in an object file's bytes. Several copies (one per architecture) must agree."""
    found = []
    start = data.find(MARKER + b"\0")
    while start >= 0:
        found.append(_read(data, start))
        start = data.find(MARKER + b"\0", start + 1)
    if not found:
        raise ProbeError("no layout probe in the object file: it must be compiled without link-time optimization")
    if any(other != found[0] for other in found[1:]):
        raise ProbeError("the architectures of the object file disagree about record layouts")
    return found[0]


def _read(data: bytes, start: int) -> dict[str, Any]:
    at = start + len(MARKER) + 1
    end = data.find(b"\0", at)
    if end < 0:
        raise ProbeError("the layout probe is cut short")
    try:
        directory = json.loads(data[at:end])
    except ValueError as error:
        raise ProbeError(f"the layout probe's directory is damaged: {error}") from error
    at = start + -(-(end + 1 - start) // 4) * 4
    endian = next((sign for sign in "<>" if data[at : at + 4] == struct.pack(sign + "I", ORDER)), None)
    if endian is None:
        raise ProbeError("the layout probe's values are not where they should be")
    (count,) = struct.unpack_from(endian + "I", data, at + 4)
    expected = sum(2 + 2 * len(members) for _, members in directory["records"])
    if count != expected or len(data) < at + 8 + 4 * count:
        raise ProbeError(f"the layout probe holds {count} values, {expected} were announced")
    values = iter(struct.unpack_from(f"{endian}{count}I", data, at + 8))
    records = {}
    for name, members in directory["records"]:
        record: dict[str, Any] = {"size": next(values), "align": next(values), "fields": {}, "field_sizes": {}}
        for member in members:
            record["fields"][member] = next(values)
            record["field_sizes"][member] = next(values)
        records[name] = record
    return {"headers": directory["headers"], "records": records}


def main(arguments: list[str]) -> int:
    """Command line of the CMake step."""
    try:
        source, target = map(Path, arguments)
    except ValueError:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        result = layouts(source.read_bytes())
    except (OSError, ProbeError) as error:
        print(f"extract_abi.py: {source}: {error}", file=sys.stderr)
        return 1
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
