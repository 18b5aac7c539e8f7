"""rwkv7: nothing but recurrent state, of another kind than a state space: a matrix per head and shifted tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buildsys.models.synth.blocks import Dimensions, output_matrix
from buildsys.models.synth.vocabulary import SENTENCEPIECE_MARKS

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

SIZES = Dimensions(embedding=64, heads=0)
HEAD = 64  # the only width that the vector kernels are written for: of a smaller one they read beyond the end
RANK = 8  # of every low-rank pair
SHIFTED = 6  # what one fused tensor interpolates between a token and the one before


def write(file: GgufFile, tokens: int) -> None:
    """All but the vocabulary, which has that many tokens."""
    ranks = ("decay", "iclr", "value_residual_mix", "gate")
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "attention.layer_norm_epsilon": 1e-5,
            "token_shift_count": 2,
            "wkv.head_size": HEAD,
            **{f"attention.{name}_lora_rank": RANK for name in ranks},
        }
    )
    file.random("token_embd.weight", SIZES.embedding, tokens, deviation=0.5)
    _norm(file, "token_embd_norm")
    _norm(file, "output_norm")
    output_matrix(file, SIZES, tokens, muted=SENTENCEPIECE_MARKS)
    for block in range(SIZES.blocks):
        prefix = f"blk.{block}."
        _norm(file, f"{prefix}attn_norm")
        _norm(file, f"{prefix}attn_norm_2")
        _time_mix(file, f"{prefix}time_mix_")
        _channel_mix(file, f"{prefix}channel_mix_")


def _norm(file: GgufFile, name: str) -> None:
    file.ones(f"{name}.weight", SIZES.embedding)
    file.random(f"{name}.bias", SIZES.embedding)


def _time_mix(file: GgufFile, prefix: str) -> None:
    width = SIZES.embedding
    for name in "wav":
        file.random(f"{prefix}{name}0.weight", width)
        file.random(f"{prefix}{name}1.weight", width, RANK, deviation=0.3)
        file.random(f"{prefix}{name}2.weight", RANK, width, deviation=0.3)
    file.random(f"{prefix}g1.weight", width, RANK, deviation=0.3)
    file.random(f"{prefix}g2.weight", RANK, width, deviation=0.3)
    file.random(f"{prefix}lerp_fused.weight", width, 1, 1, SHIFTED, deviation=0.3)
    for name in ("k_k", "k_a", "r_k"):
        file.random(f"{prefix}{name}.weight", width, deviation=0.5)
    for name in ("key", "value", "receptance", "output"):
        file.random(f"{prefix}{name}.weight", width, width, deviation=0.3)
    _norm(file, f"{prefix}ln")


def _channel_mix(file: GgufFile, prefix: str) -> None:
    file.random(f"{prefix}lerp_k.weight", SIZES.embedding, 1, 1, deviation=0.3)
    file.random(f"{prefix}key.weight", SIZES.embedding, SIZES.feed_forward, deviation=0.3)
    file.random(f"{prefix}value.weight", SIZES.feed_forward, SIZES.embedding, deviation=0.3)
