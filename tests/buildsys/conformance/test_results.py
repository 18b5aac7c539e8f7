"""Counting pytest's report: each test once, failures before all else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buildsys.conformance.results import ConformanceResult, Subject, crashed, read_report, verdict

if TYPE_CHECKING:
    from pathlib import Path

ABOUT = Subject(wheel="x.whl", python="3.12.1", extent="whole", seconds=1.5)

REPORT = """<?xml version="1.0"?>
<testsuites><testsuite name="pytest">
<testcase classname="a.test_x" name="passes" time="0.1"/>
<testcase classname="a.test_x" name="fails[one]"><failure message="assert 1 == 2&#10;more">trace</failure></testcase>
<testcase classname="a.test_x" name="skips"><skipped type="pytest.skip" message="no model here"/></testcase>
<testcase classname="a.test_x" name="breaks-in-teardown"/>
<testcase classname="a.test_x" name="breaks-in-teardown"><error message="failed on teardown"/></testcase>
<testcase classname="" name="a.test_y"><error message="collection failure">ImportError</error></testcase>
</testsuite></testsuites>
"""


def read(tmp_path: Path, text: str) -> ConformanceResult:
    path = tmp_path / "report.xml"
    path.write_text(text)
    return read_report(path, ABOUT)


def test_counts(tmp_path: Path) -> None:
    result = read(tmp_path, REPORT)
    assert (result.passed, result.failed, result.skipped) == (1, 3, 1)
    assert not result.ok
    assert [(item.test, item.reason) for item in result.failures] == [
        ("a.test_x::fails[one]", "assert 1 == 2"),
        ("a.test_x::breaks-in-teardown", "failed on teardown"),
        ("a.test_y", "collection failure"),
    ]
    assert [item.reason for item in result.skips] == ["no model here"]


def test_all_passed_is_ok_and_nothing_run_is_not(tmp_path: Path) -> None:
    assert read(tmp_path, '<testsuites><testsuite><testcase classname="a" name="b"/></testsuite></testsuites>').ok
    assert not read(tmp_path, "<testsuites><testsuite/></testsuites>").ok
    assert not read(
        tmp_path, '<testsuites><testsuite><testcase classname="a" name="b"><skipped message="x"/></testcase></testsuite></testsuites>'
    ).ok


def test_a_crash_is_a_failure_that_names_the_signal() -> None:
    result = crashed(ABOUT, -11)
    assert not result.ok
    assert "signal 11" in result.failures[0].reason


def test_a_run_that_ends_badly_after_passing_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text('<testsuites><testsuite><testcase classname="a" name="b"/></testsuite></testsuites>')
    assert verdict(path, ABOUT, 0).ok
    assert not verdict(path, ABOUT, 3).ok
    assert not verdict(tmp_path / "none.xml", ABOUT, 0).ok
