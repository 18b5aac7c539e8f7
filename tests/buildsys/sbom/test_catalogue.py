from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from packageurl import PackageURL

from buildsys import toolchains
from buildsys.errors import SbomError
from buildsys.matrix import rows, select, select_one
from buildsys.project import VENDOR, pin
from buildsys.sbom import catalogue
from buildsys.sbom.catalogue import Catalogue, Component, VersionSource, components_of
from buildsys.sbom.tools import BuildTools, Compiler, packages_of

ROW = select(["linux_x86_64-cpu"])[0]
VENDORED = pytest.mark.skipif(not (VENDOR / "CMakeLists.txt").is_file(), reason="vendor/llama.cpp is not populated")


def tools(name: str = "zig") -> BuildTools:
    compilers = {language: Compiler(id="Clang", version="21.1.0") for language in ("C", "CXX", "CUDA")}
    return BuildTools(
        toolchain=name, packages=packages_of(name), compilers=compilers, others={"cmake": "4.0", "cccl": "3.0.1", "gcc": "12.2.0"}
    )


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> object:
    def state(**entry: object) -> None:
        component = msgspec.convert(
            {
                "name": "demo",
                "license": "MIT",
                "purl": "pkg:github/o/demo@v{version}#{commit}",
                "libraries": ["demo"],
                "licence_files": ["demo*"],
            }
            | entry,
            type=Component,
        )
        monkeypatch.setattr(catalogue, "catalogue", lambda: Catalogue(component=(component,)))

    return state


@VENDORED
def test_every_version_stands_where_the_table_says() -> None:
    found = {component.name: component.version for component in components_of(ROW, tools())}
    assert found["cpp-httplib"] is not None
    stated = [component for component in catalogue.catalogue().component if component.version and component.version.file]
    assert len(stated) >= 8
    for component in stated:
        version = found[component.name]
        assert version is not None
        assert version[0].isdecimal(), (component.name, version)


def makers() -> list[tuple[str, str]]:
    """Each row with each toolchain that makes it: the matrix's, and what a machine without the row's system takes."""
    local = [(row.identifier, option) for row in rows() if row.local for option in row.local.options if option in toolchains.listed()]
    return [*((row.identifier, row.toolchain) for row in rows()), *(pair for pair in local if pair[1] != select_one(pair[0]).toolchain)]


@VENDORED
@pytest.mark.parametrize(("identifier", "toolchain"), makers())
def test_names_are_unique_and_purls_parse_in_every_wheel(identifier: str, toolchain: str) -> None:
    components = components_of(select_one(identifier), tools(toolchain))
    names = [component.name for component in components]
    assert len(names) == len(set(names))
    for component in components:
        assert PackageURL.from_string(component.purl).name
        assert "{" not in component.purl


@VENDORED
@pytest.mark.parametrize("name", sorted(toolchains.listed()))
def test_each_toolchain_says_where_its_openmp_runtime_comes_from(name: str) -> None:
    components = components_of(ROW, tools(name))
    assert any(component.is_in(library) for component in components for library in ("omp", "iomp5md"))


@VENDORED
def test_llama_cpp_is_named_by_the_pinned_commit() -> None:
    (component,) = [each for each in components_of(ROW, tools()) if each.name == "llama.cpp"]
    assert component.purl == f"pkg:github/ggml-org/llama.cpp@{pin().commit}"
    assert component.is_in("llama")
    assert not component.is_in("ggml-cpu-haswell")


@VENDORED
def test_each_source_is_a_folder_of_the_pinned_llama_cpp() -> None:
    assert [each.name for each in catalogue.catalogue().component if each.source and not (VENDOR / each.source).is_dir()] == []


def test_what_a_pin_does_not_bundle_is_no_component(stated: object, tmp_path: Path) -> None:
    stated(source="vendor/demo", version={"file": "vendor/demo/demo.h", "pattern": r"VERSION (\d+)"})  # type: ignore[operator]
    assert components_of(ROW, tools(), vendor=tmp_path) == ()
    (tmp_path / "vendor" / "demo").mkdir(parents=True)
    with pytest.raises(SbomError, match="the version of demo"):
        components_of(ROW, tools(), vendor=tmp_path)


def test_the_static_runtime_of_visual_cpp_is_in_every_library_that_llvm_makes_for_windows() -> None:
    (component,) = [each for each in catalogue.catalogue().component if "Visual C++" in each.name]
    assert component.toolchains == ("llvm-windows",)
    assert set(component.libraries) >= {"ggml-base", "ggml-cpu*", "ggml-cuda", "llama*", "mtmd"}


def test_groups_are_joined_and_put_into_the_purl(stated: object, tmp_path: Path) -> None:
    (tmp_path / "demo.h").write_text("#define MAJOR 3\n#define MINOR 12\n", encoding="utf-8")
    stated(version={"file": "demo.h", "pattern": r"MAJOR (\d+)\n#define MINOR (\d+)(?:\n#define PATCH (\d+))?"})  # type: ignore[operator]
    (component,) = components_of(ROW, tools(), vendor=tmp_path)
    assert (component.version, component.purl) == ("3.12", f"pkg:github/o/demo@v3.12#{pin().commit}")


@pytest.mark.parametrize("text", ["#define VERSION beta", None])
def test_a_version_that_does_not_stand_there_is_an_error(text: str | None, stated: object, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "demo.h").write_text(text, encoding="utf-8")
    stated(version={"file": "demo.h", "pattern": r"VERSION (\d+)"})  # type: ignore[operator]
    with pytest.raises(SbomError, match=r"the version of demo does not stand in demo\.h"):
        components_of(ROW, tools(), vendor=tmp_path)


@pytest.mark.parametrize(
    ("source", "version"),
    [({"package": "ziglang"}, packages_of("zig")["ziglang"]), ({"compiler": "CXX"}, "21.1.0"), ({"tool": "cmake"}, "4.0")],
)
def test_versions_of_tools_are_the_builds(source: dict[str, str], version: str, stated: object) -> None:
    stated(version=source)  # type: ignore[operator]
    assert [component.version for component in components_of(ROW, tools())] == [version]


def test_a_tool_that_the_build_did_not_have_is_an_error(stated: object) -> None:
    stated(version={"compiler": "Fortran"})  # type: ignore[operator]
    with pytest.raises(SbomError, match="the version of demo is that of the compiler for Fortran"):
        components_of(ROW, tools())


@pytest.mark.parametrize(
    ("restriction", "present"),
    [
        ({}, True),
        ({"systems": ["linux"]}, True),
        ({"systems": ["windows"]}, False),
        ({"accelerators": ["cu*"]}, False),
        ({"toolchains": ["zi*"]}, True),
        ({"toolchains": ["clang"]}, False),
        ({"version": {"package": "no-such-package"}}, False),
        ({"version": {"tool": "no-such-tool"}}, False),
    ],
)
def test_a_component_is_in_the_wheels_that_have_it(restriction: dict[str, object], present: bool, stated: object) -> None:
    stated(**restriction)  # type: ignore[operator]
    assert bool(components_of(ROW, tools())) is present


@pytest.mark.parametrize(
    "source", [{}, {"file": "a"}, {"pattern": "a"}, {"file": "a", "pattern": "no group"}, {"package": "a", "compiler": "C"}]
)
def test_a_version_has_one_source(source: dict[str, str]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(source, type=VersionSource)


@VENDORED
def test_a_cuda_plugin_holds_what_its_own_compilers_put_in() -> None:
    row = select(["linux_x86_64-cu131"])[0]
    inside = {component.name.split(" ")[0] for component in components_of(row, tools()) if component.is_in("ggml-cuda")}
    assert inside == {"ggml", "YaRN", "CUDA", "GCC"}
    assert not [
        component for component in components_of(ROW, tools()) if component.is_in("ggml-cuda") and component.name.startswith("CUDA")
    ]
