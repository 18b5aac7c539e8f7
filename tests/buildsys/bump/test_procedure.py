"""The steps of a move, with everything that touches the tree replaced by notes of what was asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from buildsys.bump import procedure, trees
from buildsys.bump.procedure import Request, move
from buildsys.errors import BindgenError, BumpError
from buildsys.project import Pin, SourceArchive
from tests.buildsys.vendor.test_vendor import git

OLD, NEW = Pin(commit="1" * 40, repository="r"), Pin(commit="2" * 40, repository="r")


class World:
    """The tree as the steps see it: what is pinned, and what was done to it."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.pinned = OLD
        self.changed: list[str] = []
        self.build_code = 0
        self.generation_fails = False

    def note(self, step: str, answer: Any = None) -> Callable[..., Any]:
        def called(*_: object, **__: object) -> Any:
            self.steps.append(step)
            return answer

        return called

    def write(self, wanted: Pin) -> None:
        self.steps.append("pin")
        self.pinned = wanted

    def generated(self, _source: Path) -> dict[Path, str]:
        self.steps.append("generate")
        if self.generation_fails:
            raise BindgenError("no function llama_first, where a section is to start")
        return {}

    def build(self, command: list[str], **_: object) -> SimpleNamespace:
        self.steps.append(" ".join(command[2:]))
        return SimpleNamespace(returncode=self.build_code)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(trees, "committed_pin", lambda: OLD)
    monkeypatch.setattr(trees, "changed_paths", lambda *_: made.changed)
    monkeypatch.setattr(trees, "source_tree", lambda wanted, _say: made.steps.append(f"fetch {wanted.commit[0]}") or Path(wanted.commit))
    monkeypatch.setattr(trees, "discard_others", lambda _kept: None)
    monkeypatch.setattr(procedure, "load_toml", lambda *_: made.pinned)
    monkeypatch.setattr(procedure, "_report", made.note("report"))
    monkeypatch.setattr(procedure, "write_pin", made.write)
    monkeypatch.setattr(procedure, "pin", SimpleNamespace(cache_clear=made.note("forget the old pin")))
    monkeypatch.setattr(procedure.vendor, "populate", made.note("submodule", answer=True))
    monkeypatch.setattr(procedure.checkout, "git", made.note("gitlink"))
    monkeypatch.setattr(procedure.bindgen, "generated_files", made.generated)
    monkeypatch.setattr(procedure.bindgen, "stale_files", lambda *_: [])
    monkeypatch.setattr(procedure.bindgen, "write", made.note("bindings", answer=3))
    monkeypatch.setattr(procedure.subprocess, "run", made.build)
    return made


LOOKED = ["fetch 1", "fetch 2", "report"]
MOVED = [*LOOKED, "pin", "forget the old pin", "submodule", "gitlink", "generate", "bindings"]


def test_a_dry_run_reads_and_reports(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.changed = ["package/llama_cpp/llama.py"]
    assert move(Request(commit=NEW.commit, dry_run=True)) == 0
    assert world.steps == [*LOOKED, "generate"]
    assert world.pinned == OLD
    assert "0 of 0 generated files would change" in capsys.readouterr().out


def test_a_move_ends_with_the_build_and_says_what_to_commit(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert move(Request(commit=NEW.commit, pythons=["3.12"])) == 0
    assert world.steps == [*MOVED, "buildsys build --python 3.12"]
    said = capsys.readouterr().out
    assert "222222222: built and proved" in said
    assert "git add buildsys/pin.toml vendor/llama.cpp package/llama_cpp/_native/bindings buildsys/native/abi_probe.c" in said
    assert "No package archive carries this commit" in said


def test_without_a_build_nothing_is_claimed(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert move(Request(commit=NEW.commit, build=False)) == 0
    assert world.steps == MOVED
    assert "222222222: not built, not proved" in capsys.readouterr().out


@pytest.mark.parametrize(("code", "verdict"), [(10, "the conformance suite FAILED"), (7, "NOT built: the build ended with exit code 7")])
def test_a_failure_is_said_and_is_the_exit_code(world: World, capsys: pytest.CaptureFixture[str], code: int, verdict: str) -> None:
    world.build_code = code
    assert move(Request(commit=NEW.commit)) == code
    said = capsys.readouterr().out
    assert verdict in said
    assert "git restore --staged --worktree buildsys/pin.toml" in said


def test_changes_that_are_not_committed_stop_it_before_anything_is_done(world: World) -> None:
    world.changed = ["package/llama_cpp/llama.py"]
    with pytest.raises(BumpError, match=r"package/llama_cpp/llama\.py"):
        move(Request(commit=NEW.commit))
    assert world.steps == []


def test_a_move_that_stopped_goes_on_with_the_adaptions_made_meanwhile(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.generation_fails = True
    with pytest.raises(BindgenError):
        move(Request(commit=NEW.commit))
    assert world.pinned == NEW
    world.generation_fails, world.steps = False, []
    world.changed = ["buildsys/pin.toml", "buildsys/bindgen/headers.toml"]
    assert move(Request(commit=NEW.commit)) == 0
    assert world.steps == [*MOVED, "buildsys build"]
    assert "Changed beside what this command writes: buildsys/bindgen/headers.toml" in capsys.readouterr().out


def test_an_archive_may_be_named_when_a_move_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.pinned, world.changed = NEW, ["buildsys/pin.toml"]
    archive = SourceArchive(project="p", filename="p-1.tar.gz", sha256="f00", git_directory="g")
    monkeypatch.setattr(
        procedure, "with_archive", lambda commit, repository, _named: Pin(commit=commit, repository=repository, archive=archive)
    )
    assert move(Request(commit=NEW.commit, archive="p==1", build=False)) == 0
    assert world.pinned.archive == archive


def test_another_move_does_not_begin_while_one_is_under_way(world: World) -> None:
    world.pinned, world.changed = NEW, ["buildsys/pin.toml"]
    with pytest.raises(BumpError, match="a move to 2222") as caught:
        move(Request(commit="3" * 40))
    assert "git restore" in caught.value.hint
    assert world.steps == []


def test_the_pin_that_is_there_already_needs_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert move(Request(commit=OLD.commit)) == 0
    assert world.steps == []
    assert "already" in capsys.readouterr().out


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "buildsys").mkdir(parents=True)
    git(root, "init", "--quiet")
    (root / "buildsys" / "pin.toml").write_text(f'commit = "{OLD.commit}"\nrepository = "r"\n', encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "first")
    return root


def test_the_committed_pin_is_read_whatever_the_work_tree_says(project: Path) -> None:
    (project / "buildsys" / "pin.toml").write_text(f'commit = "{NEW.commit}"\nrepository = "r"\n', encoding="utf-8")
    assert trees.committed_pin(project) == OLD
    with pytest.raises(BumpError, match=r"pin\.toml"):
        trees.require_clean(project)


def test_an_unknown_file_is_in_the_way_only_among_generated_ones(project: Path) -> None:
    (project / "notes.txt").write_text("mine", encoding="utf-8")
    trees.require_clean(project)
    stray = project / trees.OWN_PATHS[2] / "mine.py"
    stray.parent.mkdir(parents=True)
    stray.write_text("x = 1", encoding="utf-8")
    with pytest.raises(BumpError, match=r"mine\.py"):
        trees.require_clean(project)


def test_a_folder_without_git_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(BumpError, match="no committed"):
        trees.committed_pin(tmp_path)


def test_the_source_comes_from_the_own_submodule_and_stays_in_the_cache(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Pin(commit=git(project, "rev-parse", "HEAD"), repository="r")
    home = tmp_path / "home"
    found = trees.source_tree(wanted, lambda _line: None, home=home, local=project)
    assert (found / "buildsys" / "pin.toml").is_file()
    monkeypatch.setattr(trees.checkout, "fetch", None)
    assert trees.source_tree(wanted, lambda _line: None, home=home, local=project) == found
    (home / "former").mkdir()
    trees.discard_others([found])
    assert [path.name for path in home.iterdir()] == [wanted.commit]
