"""bert: an encoder with mean pooling, for embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buildsys.models.synth.blocks import Dimensions

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

SIZES = Dimensions(context=512)
MEAN_POOLING = 1


def write(file: GgufFile, tokens: int, *, pooling: int = MEAN_POOLING, token_types: int = 2) -> None:
    """All but the vocabulary, which has that many tokens."""
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "pooling_type": pooling,
            "attention.causal": False,
            "attention.layer_norm_epsilon": 1e-12,
        }
    )
    width = SIZES.embedding
    file.random("token_embd.weight", width, tokens, deviation=0.5)
    file.random("token_types.weight", width, token_types)
    file.random("position_embd.weight", width, SIZES.context)
    _norm(file, "token_embd_norm")
    for block in range(SIZES.blocks):
        prefix = f"blk.{block}."
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            _linear(file, prefix + name, width, width)
        _norm(file, f"{prefix}attn_output_norm")
        _linear(file, f"{prefix}ffn_up", width, SIZES.feed_forward)
        _linear(file, f"{prefix}ffn_down", SIZES.feed_forward, width)
        _norm(file, f"{prefix}layer_output_norm")


def _linear(file: GgufFile, name: str, inputs: int, outputs: int) -> None:
    file.random(f"{name}.weight", inputs, outputs)
    file.random(f"{name}.bias", outputs)


def _norm(file: GgufFile, name: str) -> None:
    file.ones(f"{name}.weight", SIZES.embedding)
    file.random(f"{name}.bias", SIZES.embedding)
