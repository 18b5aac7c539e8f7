"""A published BERT checkpoint as a GGUF file: names, types, vocabulary; the same bytes every time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
import pytest
import safetensors.numpy

from buildsys.models.convert import bert
from buildsys.models.convert.conversion import CheckpointUnusableError

if TYPE_CHECKING:
    from pathlib import Path

WIDTH, WIDER, CONTEXT = 4, 8, 16
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat", "##s", "#"]
CONFIG = {
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "hidden_size": WIDTH,
    "intermediate_size": WIDER,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": CONTEXT,
    "layer_norm_eps": 1e-12,
    "vocab_size": len(PIECES),
    "type_vocab_size": 2,
}
SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": {"content": "[SEP]"}, "mask_token": "[MASK]"}


def weights() -> dict[str, Any]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(PIECES), WIDTH),
        "embeddings.position_embeddings.weight": (CONTEXT, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
        "encoder.layer.0.attention.self.query.weight": (WIDTH, WIDTH),
        "encoder.layer.0.attention.self.query.bias": (WIDTH,),
        "encoder.layer.0.intermediate.dense.weight": (WIDER, WIDTH),
        "pooler.dense.weight": (WIDTH, WIDTH),
    }
    made: dict[str, Any] = {
        name: np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + index for index, (name, shape) in enumerate(shapes.items())
    }
    return {**made, "embeddings.position_ids": np.arange(CONTEXT)}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    files = {
        "config.json": CONFIG,
        "special_tokens_map.json": SPECIAL,
        "tokenizer_config.json": {"do_lower_case": True},
        "1_Pooling/config.json": {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "word_embedding_dimension": WIDTH},
    }
    for name, values in files.items():
        (folder / name).write_text(json.dumps(values), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    safetensors.numpy.save_file(weights(), folder / "model.safetensors")
    return folder


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **values}), encoding="utf-8")


def value(reader: gguf.GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    assert field is not None, key
    return field.contents()


def test_the_same_bytes_every_time(checkpoint: Path, tmp_path: Path) -> None:
    bert.write(checkpoint, tmp_path / "one.gguf", "demo")
    bert.write(checkpoint, tmp_path / "two.gguf", "demo")
    assert (tmp_path / "one.gguf").read_bytes() == (tmp_path / "two.gguf").read_bytes()


def test_what_the_model_says_of_itself(checkpoint: Path, tmp_path: Path) -> None:
    bert.write(checkpoint, tmp_path / "m.gguf", "demo")
    reader = gguf.GGUFReader(tmp_path / "m.gguf")
    assert [value(reader, f"general.{key}") for key in ("architecture", "name")] == ["bert", "demo"]
    keys = ("embedding_length", "feed_forward_length", "block_count", "attention.head_count", "context_length", "pooling_type")
    assert [value(reader, f"bert.{key}") for key in keys] == [WIDTH, WIDER, 1, 2, CONTEXT, gguf.PoolingType.MEAN]
    assert value(reader, "bert.attention.causal") is False


def test_the_vocabulary_marks_beginnings_of_words_and_control_tokens(checkpoint: Path, tmp_path: Path) -> None:
    bert.write(checkpoint, tmp_path / "m.gguf", "demo")
    reader = gguf.GGUFReader(tmp_path / "m.gguf")
    start = bert.WORD_START
    assert value(reader, "tokenizer.ggml.tokens") == [*PIECES[:5], f"{start}cat", "s", f"{start}#"]
    assert value(reader, "tokenizer.ggml.token_type") == [gguf.TokenType.CONTROL] * 5 + [gguf.TokenType.NORMAL] * 3
    ids = {name: value(reader, f"tokenizer.ggml.{name}_token_id") for name in ("padding", "unknown", "bos", "cls", "seperator", "mask")}
    assert ids == {"padding": 0, "unknown": 1, "bos": 2, "cls": 2, "seperator": 3, "mask": 4}
    assert value(reader, "tokenizer.ggml.normalizer.lowercase") is True


def test_matrices_are_narrow_and_everything_else_wide(checkpoint: Path, tmp_path: Path) -> None:
    bert.write(checkpoint, tmp_path / "m.gguf", "demo")
    found = {tensor.name: tensor for tensor in gguf.GGUFReader(tmp_path / "m.gguf").tensors}
    narrow = {name for name, tensor in found.items() if tensor.tensor_type == gguf.GGMLQuantizationType.F16}
    assert narrow == {"token_embd.weight", "blk.0.attn_q.weight", "blk.0.ffn_up.weight"}
    assert set(found) - narrow == {
        *("position_embd.weight", "token_types.weight", "token_embd_norm.weight", "token_embd_norm.bias", "blk.0.attn_q.bias")
    }
    assert np.array_equal(found["blk.0.ffn_up.weight"].data, weights()["encoder.layer.0.intermediate.dense.weight"])


@pytest.mark.parametrize(
    ("file", "values", "message"),
    [
        ("config.json", {"hidden_act": "relu"}, "GELU"),
        ("config.json", {"position_embedding_type": "relative_key"}, "absolute positions"),
        ("config.json", {"vocab_size": 9}, "8 tokens for 9 rows"),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": False}, "pools in a way"),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}, "pools in a way"),
    ],
)
def test_what_llama_cpp_cannot_compute_is_refused(
    checkpoint: Path, tmp_path: Path, file: str, values: dict[str, Any], message: str
) -> None:
    change(checkpoint / file, **values)
    with pytest.raises(CheckpointUnusableError, match=message):
        bert.write(checkpoint, tmp_path / "m.gguf", "demo")


def test_a_tensor_without_a_place_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    safetensors.numpy.save_file({**weights(), "encoder.layer.0.extra.weight": np.zeros(2, np.float32)}, checkpoint / "model.safetensors")
    with pytest.raises(CheckpointUnusableError, match=r"encoder\.layer\.0\.extra"):
        bert.write(checkpoint, tmp_path / "m.gguf", "demo")


def test_a_missing_file_is_named(checkpoint: Path, tmp_path: Path) -> None:
    (checkpoint / "special_tokens_map.json").unlink()
    with pytest.raises(CheckpointUnusableError, match=r"no special_tokens_map\.json"):
        bert.write(checkpoint, tmp_path / "m.gguf", "demo")
