from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from buildsys.errors import ConfigurationError
from buildsys.reproduce.dates import source_date_epoch

CHANGES = """# Changelog

## [Unreleased]

## [0.4.1] - 2027-03-04

- On 2030-01-01 nothing happened.

## [0.4.0] - 2026-12-24
"""


@pytest.fixture
def changelog(tmp_path: Path) -> Path:
    path = tmp_path / "CHANGELOG.md"
    path.write_text(CHANGES, encoding="utf-8")
    return path


def date(epoch: int) -> str:
    return dt.datetime.fromtimestamp(epoch, dt.timezone.utc).isoformat()


def test_archives_bear_the_date_of_the_newest_release(changelog: Path) -> None:
    assert date(source_date_epoch({}, changelog)) == "2027-03-04T00:00:00+00:00"


def test_before_the_first_release_the_date_is_fixed(changelog: Path) -> None:
    changelog.write_text("# Changelog\n\n## [Unreleased]\n", encoding="utf-8")
    assert date(source_date_epoch({}, changelog)) == "2026-01-01T00:00:00+00:00"


def test_the_variable_decides(changelog: Path) -> None:
    assert source_date_epoch({"SOURCE_DATE_EPOCH": "1700000000"}, changelog) == 1700000000


@pytest.mark.parametrize("stated", ["yesterday", "-5", "0", "1.5"])
def test_what_no_archive_can_bear_is_refused(stated: str, changelog: Path) -> None:
    with pytest.raises(ConfigurationError, match="SOURCE_DATE_EPOCH"):
        source_date_epoch({"SOURCE_DATE_EPOCH": stated}, changelog)


def test_the_projects_own_changelog_has_a_date() -> None:
    assert source_date_epoch({}) >= 1767225600
