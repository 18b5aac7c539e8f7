"""Writing, and checking that nothing would be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.bindgen.command import StaleBindingsError, check, stale_files, write
from buildsys.bindgen.places import BINDINGS

FILES = {BINDINGS / "__init__.py": '"""A."""\n', BINDINGS / "toy" / "all.py": "A = 1\n"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    assert write(tmp_path, FILES, []) == len(FILES)
    return tmp_path


def test_writing_again_changes_nothing(tree: Path) -> None:
    before = {path: (tree / path).stat().st_mtime_ns for path in FILES}
    assert write(tree, FILES, stale_files(tree, FILES)) == 0
    assert {path: (tree / path).stat().st_mtime_ns for path in FILES} == before


def test_check_passes_on_what_was_written(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(tree, FILES, stale_files(tree, FILES))
    assert capsys.readouterr().out == ""


def test_check_shows_what_would_change(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = tree / BINDINGS / "toy" / "all.py"
    changed.write_text("A = 2\n", encoding="utf-8")
    with pytest.raises(StaleBindingsError, match="1 generated files differ"):
        check(tree, FILES, stale_files(tree, FILES))
    shown = capsys.readouterr().out
    assert "-A = 2\n+A = 1\n" in shown
    assert "toy/all.py" in shown
    assert changed.read_text(encoding="utf-8") == "A = 2\n"


def test_check_sees_a_missing_file(tree: Path) -> None:
    (tree / BINDINGS / "toy" / "all.py").unlink()
    with pytest.raises(StaleBindingsError):
        check(tree, FILES, stale_files(tree, FILES))


def test_files_that_are_no_longer_generated_are_found_and_removed(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left_over = tree / BINDINGS / "toy" / "gone.py"
    left_over.write_text("", encoding="utf-8")
    with pytest.raises(StaleBindingsError, match="1 are left over"):
        check(tree, FILES, stale_files(tree, FILES))
    assert "gone.py" in capsys.readouterr().out
    write(tree, FILES, stale_files(tree, FILES))
    assert not left_over.exists()


def test_the_exit_code_is_that_of_binding_failures() -> None:
    assert StaleBindingsError("x").exit_code == 13
