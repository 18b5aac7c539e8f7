from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from buildsys.native.link_with_exports import ExportError, defined_symbols, definition, exported_patterns, main, object_files
from buildsys.project import NATIVE

EXTERNAL, STATIC = 2, 3
ABSOLUTE, UNDEFINED, CODE, DATA = -1, 0, 1, 2


def coff(symbols: Sequence[tuple[str, int, int, int]], *, machine: int = 0x8664) -> bytes:
    """An object with the sections .text and .data, and symbols as (name, value, section, storage class)."""
    sections = b"".join(struct.pack("<8s6I2HI", name, *[0] * 8, flags) for name, flags in ((b".text", 0x60000020), (b".data", 0xC0000040)))
    table, strings, count = b"", b"", 0
    for name, value, section, storage in symbols:
        encoded = name.encode()
        if len(encoded) > 8:
            field = struct.pack("<II", 0, 4 + len(strings))
            strings += encoded + b"\0"
        else:
            field = encoded.ljust(8, b"\0")
        auxiliary = 1 if storage == STATIC else 0
        # An auxiliary record, whose bytes would make a symbol too.
        record = b"ggml_aux" + struct.pack("<IhHBB", 0, CODE, 0, EXTERNAL, 0)
        table += field + struct.pack("<IhHBB", value, section, 0, storage, auxiliary) + record * auxiliary
        count += 1 + auxiliary
    header = struct.pack("<HHIIIHH", machine, 2, 0, 20 + len(sections), count, 0, 0)
    return header + sections + table + struct.pack("<I", 4 + len(strings)) + strings


OBJECT = coff(
    [
        (".text", 0, CODE, STATIC),
        ("ggml_new_tensor_1d", 0, CODE, EXTERNAL),
        ("ggml_one", 16, CODE, EXTERNAL),
        ("ggml_table", 0, DATA, EXTERNAL),
        ("ggml_common", 64, UNDEFINED, EXTERNAL),  # a size, and no section: common data
        ("ggml_needed_elsewhere", 0, UNDEFINED, EXTERNAL),
        ("ggml_private_helper", 32, CODE, STATIC),
        ("@feat.00", 0, ABSOLUTE, EXTERNAL),
        ("atexit", 48, CODE, EXTERNAL),
        ("_ZdlPv", 56, CODE, EXTERNAL),
        ("_Z9ggml_sizey", 64, CODE, EXTERNAL),
        ("_ZNSt3__112basic_stringD1Ev", 72, CODE, EXTERNAL),
    ]
)


def test_an_object_s_own_external_symbols_are_read_with_their_kind() -> None:
    found = dict(defined_symbols(OBJECT))
    assert found["ggml_new_tensor_1d"] is found["ggml_one"] is True
    assert found["ggml_table"] is found["ggml_common"] is False
    assert found.keys().isdisjoint({"ggml_needed_elsewhere", "ggml_private_helper", "ggml_aux", "@feat.00", ".text"})


@pytest.mark.parametrize("data", [coff([], machine=0x14C), b"\x7fELF" + bytes(60)])
def test_another_kind_of_object_is_refused(data: bytes) -> None:
    with pytest.raises(ExportError, match="not a 64-bit COFF object"):
        list(defined_symbols(data))


def test_only_what_the_version_script_lists_is_exported() -> None:
    patterns = exported_patterns((NATIVE / "library.map").read_text(encoding="utf-8"))
    assert definition("ggml-base.dll", patterns, [OBJECT]) == (
        "LIBRARY ggml-base.dll\nEXPORTS\n  _Z9ggml_sizey\n  ggml_common DATA\n  ggml_new_tensor_1d\n  ggml_one\n  ggml_table DATA\n"
    )


def test_a_plugin_exports_less() -> None:
    patterns = exported_patterns((NATIVE / "backend.map").read_text(encoding="utf-8"))
    plugin = coff([("ggml_backend_init", 0, CODE, EXTERNAL), ("ggml_vec_dot_q4_0_q8_0", 8, CODE, EXTERNAL)])
    assert definition("ggml-cpu-x64.dll", patterns, [plugin]).splitlines()[2:] == ["  ggml_backend_init"]


def test_a_library_that_would_export_nothing_is_an_error() -> None:
    with pytest.raises(ExportError, match=r"mtmd\.dll defines nothing"):
        definition("mtmd.dll", ["mtmd_*"], [OBJECT])


def test_a_version_script_of_another_form_is_an_error() -> None:
    with pytest.raises(ExportError, match="version script"):
        exported_patterns("VERS_1 { global: a; };")


def test_objects_are_found_in_response_files_too(tmp_path: Path) -> None:
    response = tmp_path / "objects.rsp"
    response.write_text('"a b.cpp.obj" c.c.obj\n-lkernel32\n', encoding="utf-8")
    assert list(object_files([f"@{response}", "-o", "x.dll", "d.o", "y.lib"])) == [Path("a b.cpp.obj"), Path("c.c.obj"), Path("d.o")]


def test_the_linker_is_called_with_the_list_and_its_exit_code_returned(tmp_path: Path) -> None:
    source, target, linker = tmp_path / "a.obj", tmp_path / "x.def", tmp_path / "linker.py"
    source.write_bytes(OBJECT)
    linker.write_text("import sys\nassert sys.argv[1] == '-shared'\nsys.exit(len(open(sys.argv[-1]).readlines()))\n", encoding="utf-8")
    command = ["x.dll", str(NATIVE / "library.map"), str(target), sys.executable, str(linker), "-shared", str(source)]
    assert main(command) == 7
    assert target.read_text(encoding="utf-8").startswith("LIBRARY x.dll\n")


def test_what_is_wrong_is_said_with_the_library_s_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.obj").write_bytes(b"!<arch>")
    assert main(["x.dll", str(NATIVE / "library.map"), str(tmp_path / "x.def"), "false", str(tmp_path / "a.obj")]) == 1
    assert main(["x.dll"]) == 2
    assert "x.dll" in capsys.readouterr().err
