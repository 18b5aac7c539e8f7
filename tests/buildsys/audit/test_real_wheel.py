"""The audit of a wheel that was really built: sound as it is, and unsound without any one of its libraries.

The pipeline names the wheel in LLAMA_CPP_TEST_WHEEL, or a folder that has this machine's; without one there is nothing to look at.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from buildsys.audit import audit_wheel
from buildsys.audit.checks import CHECKS
from buildsys.matrix.wheels import built_for
from buildsys.toolkits.request import this_system

from .copies import copy_wheel

VARIABLE = "LLAMA_CPP_TEST_WHEEL"
LINKAGE = {name: CHECKS[name] for name in ("record", "readable", "inventory", "dependencies", "openmp")}

pytestmark = pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no wheel")


@pytest.fixture(scope="module")
def wheel() -> Path:
    named = Path(os.environ[VARIABLE]).resolve(strict=True)
    return built_for(this_system(), named, accelerated=False)[-1] if named.is_dir() else named


@pytest.fixture(scope="module")
def libraries(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if PurePosixPath(name).suffix in {".so", ".dll"}]


def test_the_wheel_is_sound(wheel: Path) -> None:
    assert {check.name: check.findings for check in audit_wheel(wheel).failed} == {}


@pytest.mark.timeout(600)  # copies the wheel once per library
def test_without_any_one_library_it_fails(wheel: Path, libraries: list[str], tmp_path: Path) -> None:
    assert libraries
    unnoticed = []
    for name in libraries:
        failed = {check.name for check in audit_wheel(copy_wheel(wheel, tmp_path, {name: lambda _: None}), checks=LINKAGE).failed}
        if not failed or failed & {"record", "readable"}:
            unnoticed.append((name, failed))
    assert unnoticed == []


def test_without_the_openmp_runtime_who_needs_it_is_named(wheel: Path, libraries: list[str], tmp_path: Path) -> None:
    (runtime,) = [name for name in libraries if "omp" in PurePosixPath(name).name]
    failed = {check.name: check for check in audit_wheel(copy_wheel(wheel, tmp_path, {runtime: lambda _: None}), checks=LINKAGE).failed}
    assert failed.keys() == {"dependencies", "openmp"}
    assert any(PurePosixPath(runtime).name in finding and "ggml-base" in finding for finding in failed["dependencies"].findings)


def test_a_truncated_variant_is_named(wheel: Path, libraries: list[str], tmp_path: Path) -> None:
    variant = next(name for name in libraries if "ggml-cpu-" in name)
    (failed,) = audit_wheel(copy_wheel(wheel, tmp_path, {variant: lambda content: content[:5000]}), checks=LINKAGE).failed
    assert failed.name == "readable"
    assert variant in failed.findings[0]
