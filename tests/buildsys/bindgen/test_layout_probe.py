"""The probe's source, and reading its values back out of object files of any kind."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from buildsys.bindgen import session
from buildsys.native.extract_abi import MARKER, ORDER, ProbeError, layouts, main

from .snippets import generated

DIRECTORY = {"headers": {"toy.h": "00"}, "records": [["toy_a", ["x", "in.y"]], ["toy_b", []]]}
VALUES = [8, 4, 0, 4, 4, 2, 1, 1]
EXPECTED = {
    "headers": {"toy.h": "00"},
    "records": {
        "toy_a": {"size": 8, "align": 4, "fields": {"x": 0, "in.y": 4}, "field_sizes": {"x": 4, "in.y": 2}},
        "toy_b": {"size": 1, "align": 1, "fields": {}, "field_sizes": {}},
    },
}
ELF, COFF, MACHO = b"\x7fELF\x02\x01\x01" + bytes(57), b"\x64\x86\x07\x00" + bytes(16), b"\xcf\xfa\xed\xfe" + bytes(28)


def probe(order: str = "<", values: list[int] = VALUES, directory: dict[str, Any] = DIRECTORY) -> bytes:
    """The probe's data as a compiler lays it out."""
    text = MARKER + b"\0" + json.dumps(directory).encode() + b"\0"
    text += bytes(-len(text) % 4)
    return text + struct.pack(f"{order}II{len(values)}I", ORDER, len(values), *values)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("header", [ELF, COFF, MACHO])
@pytest.mark.parametrize("shift", range(5))
def test_values_are_found_wherever_they_lie(header: bytes, order: str, shift: int) -> None:
    assert layouts(header + bytes(shift) + probe(order) + b"\0.symtab\0trailing") == EXPECTED


def test_several_architectures_must_agree() -> None:
    assert layouts(MACHO + probe("<") + probe(">")) == EXPECTED
    with pytest.raises(ProbeError, match="disagree"):
        layouts(MACHO + probe() + probe(values=[16, *VALUES[1:]]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (ELF, "no layout probe"),
        (ELF + MARKER + b"-other\0", "no layout probe"),
        (ELF + MARKER + b"\0{", "cut short"),
        (ELF + MARKER + b"\0{\0\0\0\0", "damaged"),
        (ELF + probe()[:-4], "8 values"),
        (ELF + probe(values=VALUES[:-1]), "7 values, 8 were announced"),
        (ELF + probe().replace(struct.pack("<I", ORDER), b"\0\0\0\0"), "not where they should be"),
    ],
)
def test_damage_is_named(data: bytes, message: str) -> None:
    with pytest.raises(ProbeError, match=message):
        layouts(data)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "probe.o", tmp_path / "abi.json"
    source.write_bytes(COFF + probe())
    assert main([str(source), str(target)]) == 0
    assert json.loads(target.read_text(encoding="utf-8")) == EXPECTED
    source.write_bytes(COFF)
    assert main([str(source), str(target)]) == 1
    assert "probe.o: no layout probe" in capsys.readouterr().err
    assert main([]) == 2


def test_the_source_compiles_and_lists_every_record(tmp_path: Path) -> None:
    made = generated(
        tmp_path,
        """
        struct toy_plain { int a; bool async; };
        typedef struct { uint16_t bits; } toy_half;
        struct toy_nested { union { int i; float f; }; struct { double rate; } slow; };
        struct toy_copy { int a; };
        void toy_copy(void);
        """,
    )
    (tmp_path / "probe.h").write_text(made.probe, encoding="utf-8")
    session.parse_headers(["probe.h"], [tmp_path])
    directory = "".join(line.strip().rstrip(",")[1:-1] for line in made.probe.splitlines() if line.startswith('    "'))
    records = dict(json.loads(directory.replace('\\"', '"').partition(MARKER.decode())[2])["records"])
    assert records == {
        "toy_plain": ["a", "async"],
        "toy_half": ["bits"],
        "toy_nested": ["i", "f", "slow", "slow.rate"],
        "toy_copy_struct": ["a"],
    }
