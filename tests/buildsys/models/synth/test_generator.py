from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import gguf
import numpy as np
import pytest

from buildsys.models.synth import SYNTHETIC_MODELS, SyntheticModel, find, fingerprint, generate, generator
from buildsys.models.synth.catalog import FixedVocabularyError, UnknownArchitectureError
from buildsys.models.synth.gguf_file import GgufFile

if TYPE_CHECKING:
    from pathlib import Path

SMALL = [model for model in SYNTHETIC_MODELS if "synthetic" in model.roles]
WHOLE = [model for model in SMALL if "adapter" not in model.roles]


def read(path: Path) -> gguf.GGUFReader:
    return gguf.GGUFReader(path)


def value(reader: gguf.GGUFReader, key: str) -> object:
    field = reader.get_field(key)
    assert field is not None, key
    return field.contents()


@pytest.mark.parametrize("model", SMALL, ids=lambda model: model.name)
def test_the_same_seed_gives_the_same_bytes(model: SyntheticModel, tmp_path: Path) -> None:
    first = generate(model, tmp_path / "first.gguf").read_bytes()
    assert generate(model, tmp_path / "second.gguf").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.gguf", "second.gguf"]


def test_the_weights_do_not_depend_on_numpys_version(tmp_path: Path) -> None:
    """PCG64's raw stream is guaranteed; were the values drawn by a distribution method, they could change."""
    file = GgufFile(tmp_path / "x.gguf", "llama", seed=1)
    digest = hashlib.sha256(file.draw(64, 64).tobytes()).hexdigest()
    assert digest == "6807a5dd07d1bea04e2b80a5bf5c0c07eb215d14ac920e6185231c6c48a9c754"


def test_random_weights_have_the_deviation_asked_for(tmp_path: Path) -> None:
    values = GgufFile(tmp_path / "x.gguf", "llama", seed=1).draw(100, 1000, deviation=0.25)
    assert values.shape == (1000, 100)
    assert values.dtype == np.float32
    assert abs(float(values.mean())) < 0.005
    assert abs(float(values.std()) - 0.25) < 0.005


@pytest.mark.parametrize("model", WHOLE, ids=lambda model: model.name)
def test_a_model_states_what_its_tensors_are(model: SyntheticModel, tmp_path: Path) -> None:
    reader = read(generate(model, tmp_path / model.file))
    tokens = value(reader, "tokenizer.ggml.tokens")
    assert isinstance(tokens, list)
    assert value(reader, "general.architecture") == model.architecture
    assert value(reader, "general.name") == model.name
    assert value(reader, f"{model.architecture}.vocab_size") == len(tokens) == len(set(tokens))
    shapes = {tensor.name: tuple(int(size) for size in tensor.shape) for tensor in reader.tensors}
    width = value(reader, f"{model.architecture}.embedding_length")
    assert shapes["token_embd.weight"] == (width, len(tokens))
    blocks = {name.split("blk.")[1].split(".")[0] for name in shapes if "blk." in name}
    assert len(blocks) == value(reader, f"{model.architecture}.block_count")
    assert all(np.isfinite(tensor.data).all() for tensor in reader.tensors)


def test_models_differ(tmp_path: Path) -> None:
    digests = {hashlib.sha256(generate(model, tmp_path / model.file).read_bytes()).digest() for model in SMALL}
    assert len(digests) == len(SMALL)


def test_greedy_text_cannot_end_by_chance(tmp_path: Path) -> None:
    reader = read(generate(find("llama"), tmp_path / "m.gguf"))
    kinds = value(reader, "tokenizer.ggml.token_type")
    assert isinstance(kinds, list)
    (output,) = [tensor.data for tensor in reader.tensors if tensor.name == "output.weight"]
    silent = [index for index in range(len(kinds)) if not output[index].any()]
    assert silent == [index for index, kind in enumerate(kinds) if kind in {2, 3}]


def test_a_hybrid_has_both_kinds_of_blocks(tmp_path: Path) -> None:
    reader = read(generate(find("lfm2"), tmp_path / "m.gguf"))
    heads = value(reader, "lfm2.attention.head_count_kv")
    assert isinstance(heads, list)
    names = {tensor.name for tensor in reader.tensors}
    for block, count in enumerate(heads):
        assert (f"blk.{block}.attn_q.weight" in names) == bool(count)
        assert (f"blk.{block}.shortconv.conv.weight" in names) != bool(count)
    assert len(set(heads)) == 2


def test_a_mixture_has_a_router_and_experts_in_every_block(tmp_path: Path) -> None:
    reader = read(generate(find("synthetic-mixture"), tmp_path / "m.gguf"))
    experts = value(reader, "llama.expert_count")
    shapes = {tensor.name: tuple(int(size) for size in tensor.shape) for tensor in reader.tensors}
    assert 0 < value(reader, "llama.expert_used_count") < experts  # type: ignore[operator]
    for block in range(4):
        assert shapes[f"blk.{block}.ffn_gate_inp.weight"] == (128, experts)
        assert {shapes[f"blk.{block}.ffn_{name}_exps.weight"][2] for name in ("gate", "up", "down")} == {experts}
        assert f"blk.{block}.ffn_up.weight" not in shapes


def test_a_vocabulary_grows_to_the_size_asked_for(tmp_path: Path) -> None:
    model = find("llama").with_vocabulary(2000)
    reader = read(generate(model, tmp_path / model.file))
    tokens = value(reader, "tokenizer.ggml.tokens")
    assert isinstance(tokens, list)
    assert len(tokens) == len(set(tokens)) == 2000
    assert model.name == "synthetic-llama-2000"


def test_only_a_vocabulary_that_can_grow_is_asked_to() -> None:
    with pytest.raises(FixedVocabularyError, match="synthetic-bert has a fixed size"):
        find("bert").with_vocabulary(2000)


def test_an_unknown_architecture_is_named_with_those_that_exist() -> None:
    with pytest.raises(UnknownArchitectureError, match="no generator for gpt9") as caught:
        find("gpt9")
    assert caught.value.hint == "choose from llama, lfm2, bert, t5, gemma3, qwen35, mamba2, rwkv7, qwen3"


def test_a_failed_generation_leaves_nothing(tmp_path: Path) -> None:
    def fail(file: GgufFile, tokens: int) -> None:
        file.ones("token_embd.weight", 32, tokens)
        file.close()
        raise RuntimeError("disk on fire")

    broken = SyntheticModel(name="broken", architecture="llama", seed=1, vocabulary=find("llama").vocabulary, write=fail, roles=())
    with pytest.raises(RuntimeError):
        generate(broken, tmp_path / "m.gguf")
    assert list(tmp_path.iterdir()) == []


def test_rows_have_names_and_variables_of_their_own() -> None:
    names = [model.name for model in SYNTHETIC_MODELS]
    variables = [model.variable for model in SYNTHETIC_MODELS if model.variable]
    assert len(names) == len(set(names))
    for row in SYNTHETIC_MODELS:
        assert row.variable in {"", f"LLAMA_TEST_{row.name.upper().replace('-', '_').replace('SYNTHETIC', 'SYNTH')}"}
    assert len(variables) == len(set(variables)) == len(SMALL)


def test_the_fingerprint_follows_the_generators_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint()
    (tmp_path / "generator.py").write_text("seed = 2")
    monkeypatch.setattr(generator, "__file__", str(tmp_path / "generator.py"))
    fingerprint.cache_clear()
    try:
        assert fingerprint() != before
    finally:
        monkeypatch.undo()
        fingerprint.cache_clear()
    assert fingerprint() == before
