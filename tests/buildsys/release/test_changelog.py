from __future__ import annotations

import pytest

from buildsys import cli
from buildsys.errors import ConfigurationError
from buildsys.release import command
from buildsys.release.changelog import CHANGELOG, NotReleasableError, check_tag, notes

TEXT = """# Changelog

## [Unreleased]

## [0.4.1] - 2026-02-01

### Fixed

- A crash.

## [0.4.0] - 2026-01-31 [YANKED]

### Added

- Everything.
"""


def test_a_tag_that_agrees_with_version_and_changelog_is_released() -> None:
    assert check_tag("v0.4.1", TEXT, version="0.4.1") == "0.4.1"


@pytest.mark.parametrize(
    ("tag", "version", "changelog", "word"),
    [
        ("0.4.1", "0.4.1", TEXT, "tag is 0.4.1"),
        ("v0.4.2", "0.4.1", TEXT, "version 0.4.1"),
        ("v0.4.0", "0.4.0", TEXT, "newest release is 0.4.1"),
        ("v0.4.2", "0.4.2", TEXT, "newest release is 0.4.1"),
        ("v0.4.1", "0.4.1", "## [Unreleased]\n", "newest release is none"),
        ("v0.4.1", "0.4.1", TEXT.replace(" - 2026-02-01", ""), "no date"),
        ("v0.4.1", "0.4.1", TEXT.replace("### Fixed\n\n- A crash.\n", ""), "says nothing"),
        ("vfour", "four", TEXT.replace("0.4.1", "four"), "no version"),
    ],
)
def test_a_contradiction_is_refused(tag: str, version: str, changelog: str, word: str) -> None:
    with pytest.raises(NotReleasableError, match=word) as caught:
        check_tag(tag, changelog, version=version)
    assert caught.value.hint


def test_notes_are_the_section_alone() -> None:
    assert notes("0.4.1", TEXT) == "### Fixed\n\n- A crash."
    assert notes("0.4.0", TEXT) == "### Added\n\n- Everything."
    with pytest.raises(NotReleasableError, match="no section"):
        notes("0.3.0", TEXT)


def test_the_changelog_of_the_project_has_the_form_that_is_read() -> None:
    assert "## [Unreleased]" in CHANGELOG.read_text(encoding="utf-8")


def test_the_commands_print_the_version_and_the_notes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    del tmp_path
    monkeypatch.setattr(command, "CHANGELOG", _Text(TEXT))
    monkeypatch.setattr("buildsys.release.changelog.package_version", lambda: "0.4.1")
    assert cli.main(["release", "check", "v0.4.1"]) == 0
    assert cli.main(["release", "notes", "v0.4.1"]) == 0
    assert capsys.readouterr().out == "0.4.1\n### Fixed\n\n- A crash.\n"
    assert cli.main(["release", "check", "v0.4.0"]) == ConfigurationError.exit_code


class _Text:
    def __init__(self, text: str) -> None:
        self._text = text

    def read_text(self, **_: object) -> str:
        return self._text
