"""BERT encoders as sentence-transformers publishes them: a folder of JSON files, a WordPiece vocabulary and one safetensors file.

Matrices become 16-bit floats, which embeddings do not notice; what is added or scales (biases, norms, positions) stays 32-bit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import gguf
import numpy as np
import numpy.typing as npt
import safetensors.numpy

from buildsys.models.convert.conversion import CheckpointUnusableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Tensor: TypeAlias = "npt.NDArray[np.float32] | npt.NDArray[np.float16]"

CONTINUATION = "##"  # how WordPiece marks a piece inside a word
WORD_START = "\N{LOWER ONE EIGHTH BLOCK}"  # how GGUF marks a piece that begins one
UNUSED_TENSORS = ("embeddings.position_ids", "pooler.")
KEPT_WIDE = ("position_embd.", "token_types.")
SPECIAL = {  # the key in special_tokens_map.json, and the names of llama.cpp for it
    "pad_token": ("padding",),
    "unk_token": ("unknown",),
    "cls_token": ("bos", "cls"),
    "sep_token": ("seperator",),  # the format's own spelling
    "mask_token": ("mask",),
}
POOLING = {
    "pooling_mode_mean_tokens": gguf.PoolingType.MEAN,
    "pooling_mode_cls_token": gguf.PoolingType.CLS,
    "pooling_mode_lasttoken": gguf.PoolingType.LAST,
}


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A folder as published; everything in it is read when it is asked for."""

    folder: Path

    def json(self, name: str) -> dict[str, Any]:
        """One of its JSON objects."""
        path = self.folder / name
        if not path.is_file():
            raise CheckpointUnusableError(f"the checkpoint has no {name}", hint="choose a checkpoint of sentence-transformers")
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return values

    def vocabulary(self) -> list[str]:
        """Its tokens, by their numbers."""
        return (self.folder / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")

    def special_tokens(self) -> dict[str, str]:
        """Role → token, as far as this converter knows the roles."""
        stated = self.json("special_tokens_map.json")
        return {role: value["content"] if isinstance(value, dict) else value for role, value in stated.items() if role in SPECIAL}

    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """All its weights, as 32-bit floats."""
        found = safetensors.numpy.load_file(self.folder / "model.safetensors")
        return {name: values.astype(np.float32) for name, values in found.items() if not name.startswith(UNUSED_TENSORS)}


def write(folder: Path, target: Path, name: str) -> None:
    """Write the checkpoint in `folder` to `target` as a model of architecture bert."""
    checkpoint = Checkpoint(folder=folder)
    config = checkpoint.json("config.json")
    if config["hidden_act"] != "gelu" or config["position_embedding_type"] != "absolute":
        raise CheckpointUnusableError(
            "llama.cpp's bert has GELU and absolute positions, this checkpoint has not", hint="choose another one"
        )
    writer = gguf.GGUFWriter(target, "bert")
    writer.add_name(name)
    _hyperparameters(writer, config, checkpoint.json("1_Pooling/config.json"))
    _vocabulary(writer, checkpoint, config)
    for tensor, values in converted(checkpoint.tensors(), config["num_hidden_layers"]):
        writer.add_tensor(tensor, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _hyperparameters(writer: gguf.GGUFWriter, config: Mapping[str, Any], pooling: Mapping[str, Any]) -> None:
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_vocab_size(config["vocab_size"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(value=False)
    chosen = [kind for key, kind in POOLING.items() if pooling.get(key)]
    if len(chosen) != 1:
        raise CheckpointUnusableError(
            "the checkpoint pools in a way that llama.cpp lacks", hint="choose one that pools by mean or first token"
        )
    writer.add_pooling_type(chosen[0])


def _vocabulary(writer: gguf.GGUFWriter, checkpoint: Checkpoint, config: Mapping[str, Any]) -> None:
    pieces = checkpoint.vocabulary()
    if len(pieces) != config["vocab_size"]:
        raise CheckpointUnusableError(f"{len(pieces)} tokens for {config['vocab_size']} rows of weights", hint="choose another checkpoint")
    special = checkpoint.special_tokens()
    writer.add_tokenizer_model("bert")
    writer.add_token_list([piece if piece in special.values() else token_text(piece) for piece in pieces])
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_token_types([control if piece in special.values() else normal for piece in pieces])
    writer.add_token_type_count(config["type_vocab_size"])
    for role, token in special.items():
        for key in SPECIAL[role]:
            writer.add_uint32(f"tokenizer.ggml.{key}_token_id", pieces.index(token))
    lowercase = bool(checkpoint.json("tokenizer_config.json")["do_lower_case"])
    writer.add_bool("tokenizer.ggml.normalizer.lowercase", lowercase)
    writer.add_bool("tokenizer.ggml.normalizer.strip_accents", lowercase)  # unless stated, BERT's tokenizer does both or none


def token_text(piece: str) -> str:
    """A WordPiece token as GGUF has it: the beginning of a word is marked, not the rest of it."""
    return piece.removeprefix(CONTINUATION) if piece.startswith(CONTINUATION) else WORD_START + piece


def converted(tensors: Mapping[str, npt.NDArray[np.float32]], blocks: int) -> Iterator[tuple[str, Tensor]]:
    """Name and values of each tensor as GGUF has them, in the order of the GGUF names."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, blocks)
    renamed = {}
    for name, values in tensors.items():
        found = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if found is None:
            raise CheckpointUnusableError(f"llama.cpp's bert has no place for the tensor {name}", hint="choose another checkpoint")
        renamed[found] = values
    for name in sorted(renamed):
        values = renamed[name]
        wide = values.ndim == 1 or name.startswith(KEPT_WIDE)
        yield name, values if wide else values.astype(np.float16)
