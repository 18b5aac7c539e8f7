"""The Mach-O reader, on files that are written here."""

from __future__ import annotations

import pytest

from buildsys.audit.image import NativeImage
from buildsys.audit.macho import read_macho

from .macho_files import dylib


def test_macho_facts() -> None:
    data = dylib(
        name="@rpath/libggml.dylib",
        needed=["@rpath/libggml-base.dylib", "@loader_path/libomp.dylib", "/usr/lib/libc++.1.dylib"],
        exports=["run", "_Z4stopv"],
    )
    assert read_macho("lib/libggml.dylib", data) == NativeImage(
        path="lib/libggml.dylib",
        format="macho",
        machine="aarch64",
        is_program=False,
        own_name="libggml.dylib",
        needed=("libggml-base.dylib", "libomp.dylib", "/usr/lib/libc++.1.dylib"),
        search_paths=("$ORIGIN",),
        exports=frozenset({"run", "_Z4stopv"}),
        rebindable=frozenset(),
        debug_records=(),
        weaknesses=(),
        oldest_system=(14, 0, 0),
    )


def test_a_library_that_is_found_beside_its_user_needs_no_rpath() -> None:
    image = read_macho("x", dylib(name="", needed=["@loader_path/liby.dylib"], rpaths=[]))
    assert image.own_name is None
    assert image.search_paths == ("$ORIGIN",)
    assert read_macho("x", dylib(needed=["@rpath/liby.dylib"], rpaths=["/opt/homebrew/lib"])).search_paths == ("/opt/homebrew/lib",)


def test_the_processor_is_named_as_in_the_matrix() -> None:
    assert read_macho("x", dylib(machine="x86_64")).machine == "x86_64"


def test_leftovers_and_weaknesses() -> None:
    image = read_macho("x", dylib(signed=False, executable_stack=True, dwarf=True, is_program=True, two_level=False))
    assert image.is_program
    assert image.debug_records == ("__DWARF",)
    assert image.rebindable == image.exports == frozenset({"run"})
    assert [weakness.split(",")[0] for weakness in image.weaknesses] == ["asks for an executable stack", "is not signed"]
    assert read_macho("x", dylib(machine="x86_64", signed=False)).weaknesses == ()


@pytest.mark.parametrize("data", [b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe\0\0\0\2", b"text"])
def test_what_is_no_library_for_one_machine_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="Mach-O"):
        read_macho("x", data)
