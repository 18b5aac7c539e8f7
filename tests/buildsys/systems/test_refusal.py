"""A system's own Python that is too old: pip must refuse the wheel, and for that reason."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from buildsys.systems import refusal
from buildsys.systems.chamber import Chamber

if TYPE_CHECKING:
    from pathlib import Path

RIGHT = "ERROR: Package 'llama-cpp-python' requires a different Python: 3.9.2 not in '>=3.10'\n"
PLATFORM = "ERROR: x.whl is not a supported wheel on this platform.\n"


def test_the_right_refusal_is_quoted() -> None:
    found = refusal.judge("3.9", 1, f"WARNING: old pip\n{RIGHT}")
    assert found.fault == ""
    assert "its own Python 3.9: pip refuses the wheel: Package 'llama-cpp-python' requires a different Python" in found.said


@pytest.mark.parametrize(
    ("code", "stderr", "words"),
    [
        (0, "", "took the wheel"),
        (1, PLATFORM, "not a supported wheel"),
        (1, RIGHT.replace("3.9.2", "3.11.2"), r"3\.11\.2 not in"),
        (127, "sh: python3: not found", "not found"),
    ],
    ids=["taken", "another reason", "another Python", "no Python"],
)
def test_all_else_is_a_fault(code: int, stderr: str, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        assert refusal.judge("3.9", code, stderr).fault == ""


def test_pip_is_asked_inside_with_the_systems_own_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = []

    def run(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(words)
        return subprocess.CompletedProcess(words, 1, stdout="", stderr=RIGHT)

    monkeypatch.setattr(refusal.subprocess, "run", run)
    wheel = tmp_path / "llama_cpp_python-1.0-py3-none-any.whl"
    assert not refusal.check(Chamber(program="bwrap", root=tmp_path), wheel, "3.9").fault
    inside = calls[0][calls[0].index("--") + 1 :]
    assert inside[:2] == ["sh", "-c"]
    assert "python3 -m venv" in inside[2]
    assert inside[-1] == f"/proof/wheel/{wheel.name}"
