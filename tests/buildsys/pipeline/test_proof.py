from __future__ import annotations

import platform
from pathlib import Path

import pytest

from buildsys.errors import WheelError
from buildsys.matrix import select_one
from buildsys.pipeline import proof
from buildsys.pipeline.proof import Proof

ROWS = ("linux_x86_64-cpu", "linux_x86_64-cu131", "linux_aarch64-cpu", "windows_amd64-cpu", "macos_arm64-metal", "macos_x86_64-cpu")


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way to prove a wheel says its name."""
    for way in ("_prove_here", "_prove_in_system", "_prove_under_wine"):
        monkeypatch.setattr(proof, way, lambda *_, name=way: Proof(lines=(), sample=name))


def way(identifier: str) -> str:
    try:
        return proof.prove(select_one(identifier), Path("some.whl"), None).sample
    except WheelError:
        return "refused"


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("Linux", "x86_64", ["_prove_here", "_prove_here", "_prove_in_system", "_prove_under_wine", "refused", "refused"]),
        ("Linux", "aarch64", ["_prove_in_system", "_prove_in_system", "_prove_here", "_prove_under_wine", "refused", "refused"]),
        ("Windows", "AMD64", ["refused", "refused", "refused", "_prove_here", "refused", "refused"]),
        ("Darwin", "arm64", ["refused", "refused", "refused", "refused", "_prove_here", "refused"]),
    ],
)
def test_a_wheel_is_proved_where_it_can_run(monkeypatch: pytest.MonkeyPatch, system: str, machine: str, expected: list[str]) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert [way(identifier) for identifier in ROWS] == expected
