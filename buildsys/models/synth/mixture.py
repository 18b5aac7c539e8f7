"""llama with a mixture of experts: a router sends each token to some of the feed-forward networks of a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buildsys.models.synth.blocks import Dimensions, grouped_attention, output_matrix
from buildsys.models.synth.vocabulary import SENTENCEPIECE_MARKS

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

# Heads of a width that GPU kernels serve, and blocks enough to split them between devices.
SIZES = Dimensions(embedding=128, heads=2, kv_heads=1, feed_forward=128, blocks=4)
EXPERTS = 4
EXPERTS_USED = 2


def write(file: GgufFile, tokens: int) -> None:
    """All but the vocabulary, which has that many tokens."""
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "attention.head_count_kv": SIZES.kv_heads,
            "attention.layer_norm_rms_epsilon": 1e-5,
            "rope.dimension_count": SIZES.head,
            "expert_count": EXPERTS,
            "expert_used_count": EXPERTS_USED,
        }
    )
    file.random("token_embd.weight", SIZES.embedding, tokens)
    file.ones("output_norm.weight", SIZES.embedding)
    output_matrix(file, SIZES, tokens, muted=SENTENCEPIECE_MARKS)
    for block in range(SIZES.blocks):
        prefix = f"blk.{block}."
        file.ones(f"{prefix}attn_norm.weight", SIZES.embedding)
        grouped_attention(file, prefix, SIZES)
        file.ones(f"{prefix}ffn_norm.weight", SIZES.embedding)
        _experts(file, prefix)


def _experts(file: GgufFile, prefix: str) -> None:
    # The router speaks clearly: rounding on another device does not change which experts are chosen.
    file.random(f"{prefix}ffn_gate_inp.weight", SIZES.embedding, EXPERTS, deviation=0.5)
    file.random(f"{prefix}ffn_gate_exps.weight", SIZES.embedding, SIZES.feed_forward, EXPERTS)
    file.random(f"{prefix}ffn_up_exps.weight", SIZES.embedding, SIZES.feed_forward, EXPERTS)
    file.random(f"{prefix}ffn_down_exps.weight", SIZES.feed_forward, SIZES.embedding, EXPERTS)
