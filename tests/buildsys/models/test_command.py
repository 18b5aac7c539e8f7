from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from buildsys import cli
from buildsys.models import catalog, sources
from buildsys.models.lock import LockedModel, read_lock
from buildsys.project import CACHE_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    for model in catalog.catalogue():
        monkeypatch.delenv(model.variable or "LLAMA_TEST_NONE", raising=False)

    def unreachable(model: LockedModel, target: Path) -> Path:
        raise sources.ModelUnavailableError(f"{model.name} for {target} could not be fetched", hint="plug in the cable")

    monkeypatch.setattr(sources, "fetch_model", unreachable)
    return tmp_path / "cache" / "models"


def models(*arguments: str) -> int:
    return cli.main(["models", *arguments])


def test_list_shows_every_model_aligned_and_whether_it_is_there(cache: Path, capsys: Capture) -> None:
    assert models("fetch", "synthetic-bert") == 0
    capsys.readouterr()
    assert models("list") == 0
    heading, *rows, footer = capsys.readouterr().out.splitlines()
    assert len(rows) == len(catalog.catalogue())
    assert all(row[heading.index("licence") - 1] == " " for row in rows)
    present = {row.split()[0]: row.split()[-1] for row in rows}
    assert present["synthetic-bert"] == "yes"
    assert present["smollm2-135m-instruct"] == present["synthetic-llama"] == "no"
    assert any("98.4 MB" in row and "Apache-2.0" in row for row in rows)
    assert footer == f"cache: {cache}"


def test_path_prints_the_path_alone(cache: Path, capsys: Capture) -> None:
    assert models("path", "synthetic-bert") == 0
    out = capsys.readouterr().out
    assert out.startswith(str(cache))
    assert out.count("\n") == 1


def test_path_offline_fails_with_the_next_step(capsys: Capture) -> None:
    name = read_lock()[0].name
    assert models("path", "--offline", name) == catalog.ModelMissingError.exit_code
    assert f"models fetch {name}" in capsys.readouterr().err


def test_fetch_goes_on_after_a_failure_and_still_fails(cache: Path, capsys: Capture) -> None:
    assert models("fetch", "smollm2-135m-instruct", "synthetic-bert") == sources.ModelUnavailableError.exit_code
    out, err = capsys.readouterr()
    assert "synthetic-bert.gguf" in out
    assert "smollm2-135m-instruct: failed" in err
    assert "next: plug in the cable" in err
    assert list(cache.rglob("synthetic-bert.gguf"))


def test_fetch_by_role(capsys: Capture) -> None:
    assert models("fetch", "--role", "hybrid") == 0
    made = [line.rpartition("/")[2].rpartition("\\")[2] for line in capsys.readouterr().out.splitlines()]
    assert made == ["synthetic-lfm2.gguf", "synthetic-qwen35.gguf"]


def test_fetch_wants_a_selection(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        models("fetch")
    assert caught.value.code == 2
    assert "name a model, or give --role or --all" in capsys.readouterr().err


def test_verify_checks_what_is_there(capsys: Capture) -> None:
    assert models("verify") == 0
    assert "no models in" in capsys.readouterr().err
    models("fetch", "synthetic-bert")
    capsys.readouterr()
    assert models("verify") == 0
    assert capsys.readouterr().out == "synthetic-bert: intact\n"


def test_verify_fails_on_a_damaged_file(capsys: Capture) -> None:
    models("fetch", "synthetic-bert")
    path = catalog.select(["synthetic-bert"])[0].path
    path.write_bytes(path.read_bytes()[:-1])
    assert models("verify", "synthetic-bert") == catalog.ModelDamagedError.exit_code
    assert models("fetch", "synthetic-bert") == 0
    assert models("verify", "synthetic-bert") == 0
    capsys.readouterr()


def test_synth_writes_where_it_is_told(tmp_path: Path, capsys: Capture) -> None:
    assert models("synth", "llama", "--vocab-size", "1000", "--out", str(tmp_path / "out")) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'out' / 'synthetic-llama-1000.gguf'}\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["synthetic-llama-1000.gguf"]


def test_synth_writes_to_the_cache_by_default(cache: Path, capsys: Capture) -> None:
    assert models("synth", "lfm2", "bert") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert {path.name for path in cache.rglob("*.gguf")} == {"synthetic-lfm2.gguf", "synthetic-bert.gguf"}


@pytest.mark.parametrize("arguments", [["--vocab-size", "1000"], ["llama", "--vocab-size", "0"], ["llama", "--vocab-size", "x"]])
def test_synth_refuses_a_vocabulary_size_without_sense(arguments: list[str], capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        models("synth", *arguments)
    assert "vocab-size" in capsys.readouterr().err
