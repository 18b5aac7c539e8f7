from __future__ import annotations

import json
from pathlib import Path

import pytest

from buildsys.errors import SbomError
from buildsys.sbom.tools import Compiler, packages_of, read_build_tools

STATED = {
    "toolchain": "zig",
    "cmake": "4.4.5",
    "ninja": "1.13.2.git",
    "compilers": {"C": {"id": "Clang", "version": "21.1.0"}, "CXX": {"id": "Clang", "version": "21.1.0"}},
}


def native(folder: Path, text: str) -> Path:
    (folder / "build-tools.json").write_text(text, encoding="utf-8")
    return folder


def test_what_cmake_wrote_is_read_with_the_toolchains_packages(tmp_path: Path) -> None:
    tools = read_build_tools(native(tmp_path, json.dumps(STATED)))
    assert tools.toolchain == "zig"
    assert tools.compilers["CXX"] == Compiler(id="Clang", version="21.1.0")
    assert tools.others == {"cmake": "4.4.5", "ninja": "1.13.2.git"}
    assert tools.packages == packages_of("zig")
    assert {"ziglang", "cmeel-libomp"} <= tools.packages.keys()
    assert tools.compiler_version("CUDA") is None


def test_a_toolchain_of_the_system_has_no_packages(tmp_path: Path) -> None:
    assert read_build_tools(native(tmp_path, json.dumps({**STATED, "toolchain": "clang"}))).packages == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps({**STATED, "toolchain": "turbo"}), "names the toolchain 'turbo'"),
        (json.dumps({key: value for key, value in STATED.items() if key != "toolchain"}), "names the toolchain ''"),
        ("{", "build-tools.json"),
        ('{"cmake": 4}', "build-tools.json"),
    ],
)
def test_what_says_nothing_of_its_tools_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SbomError, match=message):
        read_build_tools(native(tmp_path, text))


def test_output_of_an_older_build_system_is_to_be_compiled_anew(tmp_path: Path) -> None:
    with pytest.raises(SbomError, match="does not exist") as caught:
        read_build_tools(tmp_path)
    assert "compile the row anew" in caught.value.hint
