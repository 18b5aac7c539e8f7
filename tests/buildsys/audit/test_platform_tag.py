"""The platform tag, against what auditwheel computes from symbol versions."""

from __future__ import annotations

import subprocess
import sys

import pytest

from buildsys.audit.checks.platform_tag import glibc_floor

from .conftest import Audit
from .recipes import Recipe, cuda_wheel, linux_wheel


def tagged(*floors: str, glibc: str) -> Recipe:
    """A wheel that claims `floors` and needs a symbol of `glibc`."""
    wheel = linux_wheel()
    platform = ".".join(f"{floor}_x86_64" for floor in floors)
    wheel.replace(wheel.info("WHEEL"), wheel.platform, platform)
    wheel.file_name = wheel.file_name.replace(wheel.platform, platform)
    wheel.elf("llama", ["libggml.so", "libggml-base.so"], versions={"libc.so.6": [f"GLIBC_{glibc}"]})
    return wheel


@pytest.mark.parametrize("floors", [["manylinux_2_27"], ["manylinux_2_27", "manylinux_2_28"]])
def test_the_oldest_tag_of_the_file_name_is_earned(floors: list[str], audit: Audit) -> None:
    assert audit(tagged(*floors, glibc="2.27")).ok


@pytest.mark.parametrize(
    ("floors", "glibc", "finding"),
    [
        (["manylinux_2_17"], "2.27", "file name says manylinux_2_17_x86_64, older than the earned manylinux_2_27_x86_64"),
        (["manylinux2014"], "2.27", "file name says manylinux2014_x86_64, older than the earned manylinux_2_27_x86_64"),
        (["manylinux_2_17", "manylinux_2_28"], "2.28", "older than the earned manylinux_2_28_x86_64"),
        (["manylinux_2_28"], "2.17", "newer than the earned manylinux_2_17_x86_64"),
        (["manylinux_2_34"], "2.34", "earned manylinux_2_34_x86_64 is newer than manylinux_2_28_x86_64"),
        (["linux"], "2.17", "platform tag linux_x86_64 promises no glibc version"),
    ],
)
def test_a_tag_that_is_not_earned_fails(floors: list[str], glibc: str, finding: str, audit: Audit) -> None:
    (failed,) = audit(tagged(*floors, glibc=glibc)).failed
    assert failed.name == "platform-tag"
    assert any(finding in text for text in failed.findings), failed.findings


def test_a_need_outside_of_every_policy_earns_no_tag(audit: Audit) -> None:
    wheel = linux_wheel()
    wheel.elf("llama", ["libggml.so", "libggml-base.so", "libexotic.so.1"])
    findings = {check.name: check.findings for check in audit(wheel).failed}
    assert "auditwheel grants only linux_x86_64" in findings["platform-tag"][0]


def test_cuda_libraries_of_other_wheels_cost_no_tag(audit: Audit) -> None:
    assert audit(cuda_wheel()).ok


def test_a_failing_auditwheel_is_a_finding(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.CompletedProcess([sys.executable], 1, stdout="", stderr="No module named auditwheel")
    monkeypatch.setattr("buildsys.audit.checks.platform_tag.subprocess.run", lambda *_, **__: done)
    failed = {check.name: check.findings for check in audit(linux_wheel()).failed}
    assert "No module named auditwheel" in failed["platform-tag"][0]


@pytest.mark.parametrize(
    ("tag", "floor"),
    [
        ("manylinux_2_28_x86_64", (2, 28)),
        ("manylinux2014_aarch64", (2, 17)),
        ("manylinux1_x86_64", (2, 5)),
        ("linux_x86_64", None),
        ("win_amd64", None),
    ],
)
def test_glibc_floor(tag: str, floor: tuple[int, int] | None) -> None:
    assert glibc_floor(tag) == floor
