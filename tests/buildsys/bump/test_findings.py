from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from buildsys.bump.findings import OwnLists, findings
from buildsys.bump.report import own_lists
from buildsys.bump.upstream import Upstream, cpu_variants, read_upstream
from buildsys.matrix import select_one

GGML = """
if (GGML_CPU_ALL_VARIANTS)
    if (GGML_SYSTEM_ARCH STREQUAL "x86")
        ggml_add_cpu_backend_variant(x64)
        if (NOT MSVC)
            ggml_add_cpu_backend_variant(zen4 SSE42 AVX)
        endif()
        ggml_add_cpu_backend_variant(haswell)
    elseif(GGML_SYSTEM_ARCH STREQUAL "ARM")
        if (CMAKE_SYSTEM_NAME MATCHES "Linux")
            ggml_add_cpu_backend_variant(armv8.0_1)
        elseif (CMAKE_SYSTEM_NAME MATCHES "Android")
            ggml_add_cpu_backend_variant(android_armv8.0_1)
        elseif (APPLE)
            ggml_add_cpu_backend_variant(apple_m1 DOTPROD)
        else()
            message(FATAL_ERROR "no")
        endif()
    elseif (GGML_SYSTEM_ARCH STREQUAL "riscv64")
        ggml_add_cpu_backend_variant(riscv64_0)
    endif()
endif()
add_library(ggml-base ggml.c)
add_library(ggml-openmp-c INTERFACE)
add_library(ggml)
add_library(ggml::ggml ALIAS ggml)
ggml_add_backend(CPU)
    ggml_add_backend(Vulkan)
"""
COMMON = """
set(TARGET llama-common-base)
add_library(${TARGET} STATIC a.cpp)
set(TARGET llama-common)
add_library(${TARGET}
    b.cpp)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    files = {
        "ggml/src/CMakeLists.txt": GGML,
        "common/CMakeLists.txt": COMMON,
        "CMakeLists.txt": 'option(LLAMA_CURL "x" ON)\n',
        "LICENSE": "MIT",
        "vendor/hash/CMakeLists.txt": "",
        "vendor/hash/sha1/sha1.c": "int x;",
        "vendor/stb/stb_image.h": "int y;",
        "vendor/stb/LICENSE": "free",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_variants_belong_to_the_branch_that_they_stand_in() -> None:
    found = cpu_variants(GGML)
    expected = {"x86": ("x64", "zen4", "haswell"), "ARM Linux": ("armv8.0_1",), "ARM Apple": ("apple_m1",)}
    assert {name: found[name] for name in expected} == expected
    assert found["ARM Android"] == ("android_armv8.0_1",)
    assert found[""] == ("riscv64_0",)


def test_a_checkout_is_read_from_its_build_files(checkout: Path) -> None:
    found = read_upstream(checkout)
    assert found.libraries == {"ggml-base", "ggml", "llama-common"}
    assert found.backends == {"CPU", "Vulkan"}
    assert found.options == {"LLAMA_CURL"}
    assert set(found.third_party) == {"LICENSE", "vendor/hash/sha1", "vendor/stb", "vendor/stb/LICENSE"}


def test_an_empty_folder_reads_as_nothing(tmp_path: Path) -> None:
    assert read_upstream(tmp_path) == Upstream(
        variants={}, backends=frozenset(), libraries=frozenset(), options=frozenset(), third_party={}
    )


def own(*variants: str, targets: str = "set(LLAMA_CPP_TARGETS ggml-base ggml llama-common)", licenses: str = "") -> OwnLists:
    row = msgspec.structs.replace(select_one("linux_x86_64-cpu"), cpu_variants=variants)
    return OwnLists(rows=[row], targets=targets, licenses=licenses)


def test_lists_that_are_complete_give_nothing_to_do(checkout: Path) -> None:
    upstream = read_upstream(checkout)
    assert list(findings(upstream, upstream, own("x64", "zen4", "haswell"), lambda _path: True)) == []


def test_each_list_that_lacks_something_is_named(checkout: Path) -> None:
    old = read_upstream(checkout)
    (checkout / "ggml/src/CMakeLists.txt").write_text(GGML + "ggml_add_backend(Metal)\nadd_library(ggml-extra a.c)\n", encoding="utf-8")
    (checkout / "CMakeLists.txt").write_text('option(LLAMA_NEW "x" ON)\n', encoding="utf-8")
    (checkout / "vendor/hash/sha1/sha1.c").write_text("int z;", encoding="utf-8")
    (checkout / "vendor/new").mkdir()
    (checkout / "vendor/new/LICENSE").write_text("BSD", encoding="utf-8")
    (checkout / "vendor/stb/LICENSE").unlink()
    lists = own("x64", "haswell", "pentium", licenses="install_license(stb ${THIRD_PARTY}/vendor/stb/LICENSE)")
    assert list(findings(old, read_upstream(checkout), lists, lambda path: (checkout / path).is_file())) == [
        "CPU variant zen4: cpu_variants of linux_x86_64 in matrix.toml lacks it",
        "CPU variant pentium: cpu_variants of linux_x86_64 in matrix.toml has it, and this llama.cpp does not",
        "library ggml-extra is not installed: RuntimeTargets.cmake doesn't name it",
        "backend Metal is new: no row builds it",
        "build option LLAMA_NEW is new",
        "build option LLAMA_CURL is gone",
        "third-party code vendor/hash/sha1 changed",
        "third-party code vendor/new is new: Licenses.cmake doesn't name it",
        "licence vendor/new/LICENSE is new: Licenses.cmake doesn't name it",
        "third-party code vendor/stb changed",
        "licence vendor/stb/LICENSE is gone",
        "licence text vendor/stb/LICENSE is named in Licenses.cmake, and this llama.cpp lacks it: left out if its folder is gone too",
    ]


def test_this_projects_own_files_are_read() -> None:
    lists = own_lists()
    assert {"ggml-base", "llama-common", "mtmd"} <= set(lists.targets.replace(")", " ").split())
    assert "${THIRD_PARTY}/LICENSE" in lists.licenses
