"""A bill of materials put into a small wheel, and read as any reader of CycloneDX would."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from installer.sources import WheelFile

from buildsys.cli import main
from buildsys.errors import SbomError
from buildsys.matrix import select
from buildsys.sbom import bom, catalogue
from buildsys.sbom.catalogue import Catalogue, Component
from buildsys.sbom.wheel import add_sbom, bare_name

ROW = select(["linux_x86_64-cpu"])[0]
NAME = "llama_cpp_python-0.4.0-py3-none-manylinux_2_17_x86_64.whl"
INFO = "llama_cpp_python-0.4.0.dist-info"
FILES = {
    "llama_cpp/__init__.py": b"",
    "llama_cpp/lib/libllama.so": b"llama",
    "llama_cpp/lib/libomp.so": b"omp",
    f"{INFO}/METADATA": (
        b"Metadata-Version: 2.4\nName: llama_cpp_python\nVersion: 0.4.0\nLicense-Expression: MIT\n"
        b"Requires-Dist: numpy>=1.24\nRequires-Dist: huggingface-hub>=0.25; extra == 'hf'\n"
        b'Requires-Dist: tomli>=2; python_version < "3.11"\n'
    ),
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nGenerator: scikit-build-core 1.1.2\n",
    f"{INFO}/licenses/llama.txt": b"MIT",
    f"{INFO}/RECORD": b"",
}
TOOLS = {"toolchain": "zig", "cmake": "4.4.5", "compilers": {"C": {"id": "Clang", "version": "21.1.0"}}}
COMPONENTS = (
    {
        "name": "llama.cpp",
        "license": "MIT",
        "purl": "pkg:github/g/llama.cpp@{commit}",
        "libraries": ["llama*"],
        "licence_files": ["llama*"],
    },
    {
        "name": "OpenMP",
        "license": "Apache-2.0 WITH LLVM-exception",
        "purl": "pkg:pypi/cmeel-libomp@{version}",
        "libraries": ["omp"],
        "licence_files": ["LLVM*"],
        "version": {"package": "cmeel-libomp"},
    },
)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    (tmp_path / "build-tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    components = tuple(msgspec.convert(entry, type=Component) for entry in COMPONENTS)
    monkeypatch.setattr(catalogue, "catalogue", lambda: Catalogue(component=components))


def document(wheel: Path) -> dict[str, Any]:
    with zipfile.ZipFile(wheel) as archive:
        WheelFile(archive).validate_record()
        return json.loads(archive.read(f"{INFO}/sboms/llama_cpp_python.cdx.json"))  # type: ignore[no-any-return]


def test_the_document_is_valid_and_says_whose_it_is(wheel: Path) -> None:
    found = document(add_sbom(ROW, wheel, wheel.parent))
    assert bom.invalidity(json.dumps(found)) is None
    subject = found["metadata"]["component"]
    assert (subject["name"], subject["version"]) == ("llama_cpp_python", "0.4.0")
    assert subject["purl"] == f"pkg:pypi/llama-cpp-python@0.4.0?file_name={NAME}"
    assert found["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"


def test_each_library_is_hashed_and_depends_on_what_is_in_it(wheel: Path) -> None:
    found = document(add_sbom(ROW, wheel, wheel.parent))
    files = {component["name"]: component for component in found["components"] if component["type"] == "file"}
    assert files.keys() == {"llama_cpp/lib/libllama.so", "llama_cpp/lib/libomp.so"}
    assert files["llama_cpp/lib/libomp.so"]["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"omp").hexdigest()}]
    inside = {entry["ref"]: entry.get("dependsOn", []) for entry in found["dependencies"]}
    assert inside["file:llama_cpp/lib/libomp.so"] == ["bundled:OpenMP"]
    assert inside["file:llama_cpp/lib/libllama.so"] == ["bundled:llama.cpp"]
    assert set(inside["wheel"]) == {f"file:{name}" for name in files} | {"required:numpy", "required:tomli"}


def test_bundled_code_required_packages_and_tools_are_told_apart(wheel: Path) -> None:
    components = {component["bom-ref"]: component for component in document(add_sbom(ROW, wheel, wheel.parent))["components"]}
    openmp = components["bundled:OpenMP"]
    assert openmp["licenses"] == [{"expression": "Apache-2.0 WITH LLVM-exception"}]
    assert openmp["purl"] == f"pkg:pypi/cmeel-libomp@{openmp['version']}"
    assert components["bundled:llama.cpp"]["properties"] == [{"name": bom.LICENCE_FILE, "value": "llama.txt"}]
    assert components["required:numpy"]["properties"] == [{"name": bom.REQUIREMENT, "value": "numpy>=1.24"}]
    assert "required:huggingface-hub" not in components
    tools = {name.removeprefix("tool:") for name, component in components.items() if component.get("scope") == "excluded"}
    assert {"cmake@4.4.5", "Clang@21.1.0", "scikit-build-core@1.1.2"} < tools
    assert any(name.startswith("ziglang@") for name in tools)


def test_the_same_wheel_gives_the_same_bytes_and_another_library_another_number(wheel: Path) -> None:
    add_sbom(ROW, wheel, wheel.parent)
    first, number = wheel.read_bytes(), document(wheel)["serialNumber"]
    add_sbom(ROW, wheel, wheel.parent)
    assert wheel.read_bytes() == first
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in {**FILES, "llama_cpp/lib/libomp.so": b"another"}.items():
            archive.writestr(name, content)
    assert document(add_sbom(ROW, wheel, wheel.parent))["serialNumber"] != number


def test_a_library_of_unknown_origin_is_an_error_and_leaves_the_wheel_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("llama_cpp/lib/libcurl.so", b"")
    before = wheel.read_bytes()
    with pytest.raises(SbomError, match=r"no component of buildsys/sbom\.toml is in curl"):
        add_sbom(ROW, wheel, wheel.parent)
    assert wheel.read_bytes() == before


def test_the_command_writes_and_prints(wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sbom", str(wheel)]) == SbomError.exit_code
    assert "has no bill of materials" in capsys.readouterr().err
    assert main(["sbom", str(wheel), "--native", str(wheel.parent)]) == 0
    assert capsys.readouterr().out.strip() == str(wheel)
    assert main(["sbom", str(wheel)]) == 0
    assert json.loads(capsys.readouterr().out) == document(wheel)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("llama_cpp/lib/libggml-base.so", "ggml-base"),
        ("llama_cpp/lib/libomp.so.5", "omp"),
        ("llama_cpp/lib/libggml-cpu-armv8.2_1.so", "ggml-cpu-armv8.2_1"),
        ("llama_cpp/lib/ggml-cpu-x64.dll", "ggml-cpu-x64"),
        ("llama_cpp/lib/libomp.dylib", "omp"),
        ("llama_cpp/lib/abi.json", None),
        ("llama_cpp/so.py", None),
    ],
)
def test_bare_names(path: str, name: str | None) -> None:
    assert bare_name(path) == name
