"""The command: its lines, its JSON, its exit codes, and the errors of what is no wheel."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from buildsys.audit import AuditReport, CheckResult, audit_wheel, command
from buildsys.audit.policy import POLICY_FILE, load_policy
from buildsys.cli import main
from buildsys.errors import AuditFailedError, ConfigurationError, WheelError

from .recipes import LIB, ROWS, linux_wheel


@pytest.fixture(autouse=True)
def _rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "customised_rows", lambda _args: ROWS)


def broken(folder: Path) -> Path:
    wheel = linux_wheel()
    del wheel.files[f"{LIB}/libomp.so"]
    return wheel.write(folder)


def test_a_sound_wheel_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = linux_wheel().write(tmp_path)
    assert main(["audit", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"{path.name}: all {len(lines) - 1} checks passed"
    assert {line[:5] for line in lines[:-1]} == {"ok   "}


def test_a_finding_ends_with_its_own_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(broken(tmp_path))]) == AuditFailedError.exit_code
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("FAIL dependencies"))
    assert lines[at + 1].strip().startswith("- llama_cpp/lib/libggml-base.so needs libomp.so, which is neither")
    assert lines[-1].endswith("checks failed: platform-tag, dependencies, openmp")


def test_json_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = broken(tmp_path)
    assert main(["audit", "--json", str(path)]) == AuditFailedError.exit_code
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["wheel"], report["ok"]) == (str(path), False)
    failed = {check["name"]: check["findings"] for check in report["checks"] if not check["ok"]}
    assert failed.keys() == {"platform-tag", "dependencies", "openmp"}


def test_one_bad_wheel_among_good_ones_fails_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad").mkdir()
    assert main(["audit", str(broken(tmp_path / "bad")), str(linux_wheel().write(tmp_path))]) == AuditFailedError.exit_code
    assert "checks passed" in capsys.readouterr().out


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["audit", "--help"])
    assert "example: python -m buildsys audit dist/*.whl" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("llama.whl", "Invalid wheel filename"),
        ("llama_cpp_python-0.4.0%2Bcu131-py3-none-manylinux_2_28_x86_64.whl", "Invalid wheel filename"),
        ("llama_cpp_python-0.4.0+cu118-py3-none-manylinux_2_28_x86_64.whl", "no row of the build matrix makes a cu118 wheel"),
        ("llama_cpp_python-0.4.0-py3-none-any.whl", "no row of the build matrix makes a cpu wheel for any"),
        ("llama_cpp_python-0.4.0-py3-none-musllinux_1_2_x86_64.whl", "no row of the build matrix"),
        ("llama_cpp_python-0.4.0-py3-none-manylinux_2_28_x86_64.whl", "cannot be read"),
    ],
)
def test_what_is_no_wheel_is_an_error_with_a_next_step(name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_bytes(b"not a zip archive")
    assert main(["audit", str(path)]) == WheelError.exit_code
    error = capsys.readouterr().err
    assert message in error
    assert "next: " in error


def test_a_system_without_rules_is_an_error(tmp_path: Path) -> None:
    policy = load_policy()
    rules = {name: system for name, system in policy.system.items() if name != "linux"}
    with pytest.raises(WheelError, match="no rules for linux"):
        audit_wheel(linux_wheel().write(tmp_path), policy=msgspec.structs.replace(policy, system=rules), rows=ROWS)


def test_another_policy_can_be_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY_FILE.read_text(encoding="utf-8").replace('"libc.so.6", ', ""), encoding="utf-8")
    assert main(["audit", "--policy", str(policy), str(linux_wheel().write(tmp_path))]) == AuditFailedError.exit_code
    assert "needs libc.so.6" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[contents]", "[content]", "content"),
        ('naming = "lib{}.so"', 'naming = "lib.so"', "must hold {} once"),
        ("'^__cxa_'", "'^__cxa_('", "not a regular expression"),
        (r"\.so\.(\d+)'", r"\.so\.\d+'", "must have 1 group"),
    ],
)
def test_a_wrong_policy_is_named(old: str, new: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "policy.toml"
    text = POLICY_FILE.read_text(encoding="utf-8")
    assert old in text
    policy.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert main(["audit", "--policy", str(policy), "any.whl"]) == ConfigurationError.exit_code
    assert message in capsys.readouterr().err


def test_report_properties() -> None:
    good = CheckResult(name="a", detail="fine", findings=())
    bad = CheckResult(name="longer", detail="", findings=("x is wrong",))
    report = AuditReport(wheel=Path("w.whl"), checks=(good, bad))
    assert (report.ok, report.failed) == (False, (bad,))
    assert list(report.lines()) == ["ok   a       fine", "FAIL longer  ", "       - x is wrong", "w.whl: 1 of 2 checks failed: longer"]
