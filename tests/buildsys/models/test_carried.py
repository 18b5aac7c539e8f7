from __future__ import annotations

import json
from pathlib import Path

import pytest

from buildsys import cli
from buildsys.conformance import runner
from buildsys.conformance.interpreters import Interpreter
from buildsys.models import carried, catalog
from buildsys.models.catalog import ModelDamagedError, ModelMissingError

NAMES = ("LLAMA_TEST_TRANSFORMER_MODEL", "LLAMA_TEST_SYNTH_BERT")


class Model:
    """A model of the catalogue, already made."""

    licence, roles = "MIT", ()

    def __init__(self, path: Path, variable: str) -> None:
        self.path, self.variable, self.name = path, variable, path.stem
        path.write_text(f"weights of {path.name}", encoding="utf-8")

    def intact(self) -> bool:
        return True


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    cache = tmp_path / "cache"
    cache.mkdir()
    models = [Model(cache / "small.gguf", NAMES[0]), Model(cache / "bert.gguf", NAMES[1]), Model(cache / "bench.gguf", "")]
    monkeypatch.setattr(catalog, "catalogue", lambda: models)
    monkeypatch.setattr(runner, "SUITE_MODELS", NAMES)
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    assert cli.main(["models", "export", str(tmp_path / "models")]) == 0
    return tmp_path / "models"


def test_what_the_suite_uses_is_carried_with_its_hash(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["bert.gguf", "models.json", "small.gguf"]
    assert {len(entry["sha256"]) for entry in json.loads((folder / "models.json").read_text(encoding="utf-8"))} == {64}


def test_the_folder_serves_wherever_it_is_taken(folder: Path, tmp_path: Path) -> None:
    moved = folder.rename(tmp_path / "elsewhere")
    paths = carried.variables(moved)
    assert paths == {NAMES[0]: str(moved / "small.gguf"), NAMES[1]: str(moved / "bert.gguf")}


def test_a_changed_file_is_refused(folder: Path) -> None:
    path = folder / "small.gguf"
    path.write_text(path.read_text(encoding="utf-8").replace("w", "W"), encoding="utf-8")
    with pytest.raises(ModelDamagedError, match=r"small\.gguf"):
        carried.variables(folder)


def test_a_missing_file_is_named_with_its_variable(folder: Path) -> None:
    (folder / "bert.gguf").unlink()
    with pytest.raises(ModelMissingError, match="LLAMA_TEST_SYNTH_BERT"):
        carried.variables(folder)


def test_a_folder_without_a_manifest_is_none(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match=r"no models\.json") as caught:
        carried.variables(tmp_path)
    assert "models export" in caught.value.hint


@pytest.mark.parametrize("text", ["", "{}", '[{"variable": "X"}]'])
def test_a_damaged_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / "models.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelDamagedError):
        carried.variables(folder)


def test_the_suite_takes_its_models_from_the_folder_alone(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    handed: list[dict[str, str]] = []
    monkeypatch.setattr(runner, "environment", lambda *_, **__: pytest.fail("the cache was asked"))
    monkeypatch.setattr(runner, "find_interpreters", lambda _: (Interpreter(version="3.12", release="3.12.1", path=Path("/opt/3.12")),))
    monkeypatch.setattr(runner, "_prove", lambda run: handed.append(run.variables))
    wheel = tmp_path / "thing-1.0-py3-none-any.whl"
    wheel.touch()
    runner.run_conformance([wheel], models=folder)
    assert carried.variables(folder).items() <= handed[0].items()


def test_a_folder_that_lacks_a_model_of_the_suite_fails_in_a_pipeline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "SUITE_MODELS", (*NAMES, "LLAMA_TEST_SWA_MODEL"))
    monkeypatch.setenv("LLAMA_TEST_REQUIRE_MODELS", "1")
    monkeypatch.delenv("LLAMA_TEST_SWA_MODEL", raising=False)
    with pytest.raises(ModelMissingError, match="LLAMA_TEST_SWA_MODEL"):
        runner._carried(folder)
    monkeypatch.setenv("LLAMA_TEST_REQUIRE_MODELS", "0")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert set(runner._carried(folder)) == set(NAMES)
