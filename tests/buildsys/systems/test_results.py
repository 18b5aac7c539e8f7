"""Verdicts of systems: a fault of the wheel is one thing, a wheel that was not proved another."""

from __future__ import annotations

from typing import Any

import pytest

from buildsys.conformance.results import ConformanceResult
from buildsys.systems.results import SystemResult, with_texts_compared


def suite(failed: int = 0) -> ConformanceResult:
    return ConformanceResult(wheel="a.whl", python="3.11.2", extent="whole", passed=5, failed=failed, skipped=0, seconds=1.0)


def result(name: str = "old", **changes: Any) -> SystemResult:
    return SystemResult(**{"system": name, "machine": "x86_64", "text": " 5, 6", "suite": suite(), **changes})


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "ok"),
        ({"suite": suite(failed=1)}, "FAILED"),
        ({"suite": None}, "FAILED"),
        ({"faults": ("gave no text",)}, "FAILED"),
        ({"suite": None, "obstacle": "no mirror"}, "not proved"),
    ],
)
def test_verdicts(changes: dict[str, Any], verdict: str) -> None:
    found = result(**changes)
    assert found.verdict == verdict
    assert found.ok is (verdict == "ok")


def test_every_text_is_that_of_the_first_system() -> None:
    silent, first, same, other = result("dead", text=""), result("old"), result("new"), result("arm", text=" 6, 7")
    compared = with_texts_compared([silent, first, same, other])
    assert compared[:3] == [silent, first, same]
    assert compared[3].faults == ("wrote ' 6, 7', where old writes ' 5, 6'",)
    assert with_texts_compared([silent]) == [silent]
