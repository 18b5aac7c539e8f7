"""The command, with builds that write their wheel at once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from buildsys.cli import main
from buildsys.errors import CommandFailedError, NotReproducibleError
from buildsys.reproduce import command, twice

BUILD = """
    import os, pathlib, sys, zipfile
    dist = pathlib.Path("dist")
    dist.mkdir()
    with zipfile.ZipFile(dist / "demo-1-py3-none-any.whl", "w") as archive:
        archive.writestr(zipfile.ZipInfo("demo.txt"), {content})
"""
Project = Callable[[str], None]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose build writes the value of an expression into its wheel."""
    root = tmp_path / "root"
    (root / "buildsys").mkdir(parents=True)
    (root / "dist").mkdir()
    (root / "dist" / "old-1-py3-none-any.whl").touch()
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setattr(twice, "ROOT", root)
    monkeypatch.setattr(command, "ROOT", root)
    monkeypatch.setattr(twice, "_TICK_SECONDS", 0.0)
    monkeypatch.setattr(twice, "_pip_settings", dict)

    def write(content: str) -> None:
        text = textwrap.dedent(BUILD).format(content=content)
        (root / "buildsys" / "__main__.py").write_text(text, encoding="utf-8")

    return write


def test_equal_builds_end_with_0_and_leave_nothing_behind(project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project("'always the same'")
    assert main(["reproduce", "linux_x86_64-cpu"]) == 0
    told = capsys.readouterr().out
    assert "the two wheels are equal" in told
    rows = [line.split() for line in told.splitlines() if line.lstrip().startswith(("one", "another"))]
    assert [row[0] for row in rows] == ["one", "another/and-much.longer_place"]
    assert rows[0][2:] == rows[1][2:], "the same size and hash"
    assert list((tmp_path / "cache" / "reproduce").iterdir()) == []


@pytest.mark.parametrize(
    "expression",
    [
        "os.getcwd()",
        "os.environ['HOME']",
        "os.environ['LLAMA_CPP_BUILD_CACHE']",
        "os.environ['TZ']",
        "os.environ['LC_ALL']",
        "os.environ['PYTHONHASHSEED']",
        "str(pathlib.Path('buildsys/__main__.py').stat().st_mtime_ns)",
        pytest.param(
            "oct(dist.stat().st_mode)", marks=pytest.mark.skipif(os.name != "posix", reason="permissions of files are a matter of POSIX")
        ),
    ],
)
def test_what_may_differ_between_machines_differs_between_the_builds(
    expression: str, project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(expression)
    assert main(["reproduce", "linux_x86_64-cpu"]) == NotReproducibleError.exit_code
    told = capsys.readouterr()
    assert "  demo.txt: " in told.out
    assert "diffoscope" in told.err
    assert len(list(tmp_path.glob("cache/reproduce/linux_x86_64-cpu/**/dist/*.whl"))) == 2


def test_a_date_from_outside_does_not_make_the_builds_alike(project: Project) -> None:
    project("os.environ.get('SOURCE_DATE_EPOCH', 'none') and str(len(os.environ.get('SOURCE_DATE_EPOCH', '')))")
    assert main(["reproduce", "linux_x86_64-cpu", "--keep"]) == 0


def test_options_are_the_builds(project: Project, tmp_path: Path) -> None:
    project("' '.join(sys.argv[1:])")
    assert main(["reproduce", "--keep", "linux_x86_64-cu131", "--", "--architectures", "75-virtual"]) == 0
    (wheel,) = tmp_path.glob("cache/reproduce/linux_x86_64-cu131/one/project/dist/*.whl")
    assert b"build linux_x86_64-cu131 --no-conformance --architectures 75-virtual" in wheel.read_bytes()


def test_quick_builds_find_compiled_output_and_tools_in_their_caches(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    for name in ("native/linux-key", "toolchains/zig", "models"):
        (cache / name).mkdir(parents=True)
    monkeypatch.setattr(command, "_compiled", lambda *_: cache / "native" / "linux-key")
    project("' '.join(sorted(str(p) for p in pathlib.Path(os.environ['LLAMA_CPP_BUILD_CACHE']).glob('*/*')))[-40:][:0] + 'x'")
    assert main(["reproduce", "linux_x86_64-cpu", "--quick", "--keep"]) == 0
    own = cache / "reproduce" / "linux_x86_64-cpu" / "one" / "cache"
    assert sorted(path.name for path in own.iterdir()) == ["native", "toolchains"]
    assert (own / "native" / "linux-key").is_dir()
    assert not (own / "native" / "linux-key").is_symlink()


def test_a_failed_build_is_told_with_its_last_lines(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project("sys.exit('no compiler here')")
    assert main(["reproduce", "linux_x86_64-cpu"]) == CommandFailedError.exit_code
    assert "no compiler here" in capsys.readouterr().err


def test_a_failed_compilation_is_told(project: Project) -> None:
    project("sys.exit(1)")
    assert main(["reproduce", "linux_x86_64-cpu", "--quick"]) == CommandFailedError.exit_code


def test_the_users_pip_settings_are_found_from_another_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = tmp_path / ".config" / "pip" / "pip.conf"
    configuration.parent.mkdir(parents=True)
    configuration.touch()
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("PIP_CONFIG_FILE", raising=False)
    asked: list[list[str]] = []

    def run(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(words)
        return subprocess.CompletedProcess(words, 0, stdout="/downloads\n")

    monkeypatch.setattr(subprocess, "run", run)
    assert twice._pip_settings() == {"PIP_CACHE_DIR": "/downloads", "PIP_CONFIG_FILE": str(configuration)}
    assert asked == [[sys.executable, "-m", "pip", "cache", "dir"]]
