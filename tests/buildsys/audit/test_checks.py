"""Each check, seen to fail by the wheels that it is there for, and silent for sound ones."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from buildsys.audit import audit_wheel
from buildsys.audit.checks import CHECKS
from buildsys.audit.policy import POLICY_FILE, Policy, for_source
from buildsys.tables import load_toml

from .conftest import Audit
from .faults import FAULTS, SDOT, Fault, copy
from .recipes import LIB, ROWS, Recipe, cuda_wheel, linux_wheel, windows_wheel

BY_OTHER_PROGRAMS = {"conventions"}  # seen to fail below


@pytest.mark.parametrize("make", [linux_wheel, lambda: linux_wheel(machine="aarch64"), cuda_wheel, windows_wheel])
def test_a_sound_wheel_passes_every_check(make: Callable[[], Recipe], audit: Audit) -> None:
    report = audit(make())
    assert {check.name: check.findings for check in report.failed} == {}
    assert [check.name for check in report.checks] == list(CHECKS)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_fault_fails_its_checks_and_no_other(fault: Fault, quick_audit: Audit) -> None:
    wheel = fault.wheel()
    fault.spoil(wheel)
    report = quick_audit(wheel)
    found = {check.name: check.findings for check in report.failed}
    assert found.keys() == fault.failing, found
    assert any(fault.finding in finding for findings in found.values() for finding in findings), found


def test_every_check_has_a_fault_that_fails_it() -> None:
    seen = {name for fault in FAULTS for name in fault.failing}
    assert seen == set(CHECKS) - BY_OTHER_PROGRAMS


def test_a_cpu_variant_may_have_its_own_instructions(quick_audit: Audit) -> None:
    wheel = linux_wheel(machine="aarch64")
    wheel.elf("ggml-cpu-armv8.2_1", ["libggml-base.so"], code=SDOT, machine="aarch64")
    (failed,) = quick_audit(wheel).failed
    assert (failed.name, failed.findings) == ("inventory", ("libggml-cpu-armv8.2_1.so is no library of this build",))


def test_intels_openmp_runtime_may_need_what_every_windows_python_has(quick_audit: Audit) -> None:
    wheel = windows_wheel()
    del wheel.files[f"{LIB}/libomp.dll"]
    wheel.dll("libiomp5md", ["VCRUNTIME140.dll"], exports=["__kmpc_fork_call"])
    wheel.dll("ggml-base", ["libiomp5md.dll"], exports=["ggml_init"])
    assert quick_audit(wheel).ok


def test_a_damaged_archive_is_a_finding_not_a_crash(tmp_path: Path) -> None:
    path = linux_wheel().write(tmp_path)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo(f"{LIB}/libllama.so").header_offset
    data[start + 100 : start + 120] = bytes(20)
    path.write_bytes(data)
    failed = {check.name for check in audit_wheel(path, rows=ROWS).failed}
    assert {"archive", "readable", "record"} <= failed


def test_the_linter_of_wheels_is_asked(audit: Audit) -> None:
    wheel = linux_wheel()
    wheel.files["llama_cpp/twin.py"] = b"value = 1\n"
    copy("llama_cpp/twin.py", "llama_cpp/double.py")(wheel)
    (failed,) = audit(wheel).failed
    assert failed.name == "conventions"
    assert failed.findings == ("W002: Wheel contains duplicate files: llama_cpp/twin.py llama_cpp/double.py",)


def test_what_the_packager_of_the_openmp_runtime_left_is_accepted_in_it_alone(quick_audit: Audit) -> None:
    path = b"\0/tmp/cmeel-x1_y/bld/kmp.cpp\0"
    wheel = linux_wheel()
    wheel.elf("omp", runpath=None, payload=path)
    assert quick_audit(wheel).ok
    wheel.elf("mtmd", ["libllama.so"], payload=path)
    (failed,) = quick_audit(wheel).failed
    assert failed.name == "build-paths"


@pytest.mark.parametrize("text", [" /tmp/%s", "/proc/self/status", "https://example.com/home/page/x", "a/work/b/c", "s:/work"])
def test_paths_that_a_library_opens_are_no_build_paths(text: str, quick_audit: Audit) -> None:
    wheel = linux_wheel()
    wheel.elf("mtmd", ["libllama.so"], payload=b"\0" + text.encode() + b"\0")
    assert quick_audit(wheel).ok


def test_equal_exports_are_harmless_where_each_library_binds_its_own(quick_audit: Audit) -> None:
    wheel = linux_wheel()
    for variant in ("x64", "haswell"):
        wheel.elf(
            f"ggml-cpu-{variant}", ["libggml-base.so"], soname=None, exports=["ggml_vec_dot"], self_bound=["ggml_vec_dot"], symbolic=True
        )
    assert quick_audit(wheel).ok


def test_licences_of_what_the_pinned_llama_cpp_does_not_bundle_are_not_asked_for(tmp_path: Path) -> None:
    policy = load_toml(POLICY_FILE, Policy)
    assert for_source(policy, tmp_path) == policy, "nothing is checked out, so nothing is known to be absent"
    (tmp_path / "CMakeLists.txt").touch()
    (tmp_path / "vendor" / "hash" / "xxhash").mkdir(parents=True)
    due = {licence.component for licence in for_source(policy, tmp_path).licence}
    assert {"xxHash", "cpp-httplib"} <= due
    assert {licence.component for licence in policy.licence} - due == {"sha256", "sha1", "rotate-bits"}
