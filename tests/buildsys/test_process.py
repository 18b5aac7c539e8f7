from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from buildsys.errors import CommandFailedError
from buildsys.process import run_logged


def test_all_output_is_kept_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "deep" / "log"
    script = "import sys; print('out'); print('err', file=sys.stderr)"
    run_logged([sys.executable, "-c", script], log=log, label="demo")
    text = log.read_text(encoding="utf-8")
    assert text.startswith("$ ")
    assert "\nout\n" in text
    assert "err\n" in text


def test_a_failure_shows_the_last_lines_and_where_the_rest_is(tmp_path: Path) -> None:
    script = "import sys; [print(n) for n in range(100)]; sys.exit(3)"
    with pytest.raises(CommandFailedError, match="demo failed with exit code 3") as caught:
        run_logged([sys.executable, "-c", script], log=tmp_path / "log", label="demo")
    assert "  99" in caught.value.message
    assert "\n  5\n" not in caught.value.message
    assert str(tmp_path / "log") in caught.value.hint


def test_markup_in_output_is_text(tmp_path: Path) -> None:
    run_logged([sys.executable, "-c", "print('[/bold] [1/2]')"], log=tmp_path / "log", label="[demo]")


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError, match="cannot start nowhere-99"):
        run_logged(["nowhere-99"], log=tmp_path / "log", label="demo")


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are a matter of POSIX")
def test_surroundings_can_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEFT_OUT", "1")
    script = "import os; print(sorted(os.environ)); open('made', 'w').close()"
    for alone in (False, True):
        env = {"GIVEN": "1", "PATH": os.environ["PATH"]}
        run_logged([sys.executable, "-c", script], log=tmp_path / str(alone), label="demo", cwd=tmp_path, env=env, alone=alone, umask=0o077)
    assert "LEFT_OUT" in (tmp_path / "False").read_text(encoding="utf-8")
    assert "LEFT_OUT" not in (tmp_path / "True").read_text(encoding="utf-8")
    assert "GIVEN" in (tmp_path / "True").read_text(encoding="utf-8")
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600
