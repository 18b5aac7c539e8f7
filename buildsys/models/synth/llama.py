"""llama: the plain transformer, with grouped attention and an output matrix of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buildsys.models.synth.blocks import Dimensions, gated_feed_forward, grouped_attention, output_matrix
from buildsys.models.synth.vocabulary import SENTENCEPIECE_MARKS

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

SIZES = Dimensions()


def write(file: GgufFile, tokens: int) -> None:
    """All but the vocabulary, which has that many tokens."""
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "attention.head_count_kv": SIZES.kv_heads,
            "attention.layer_norm_rms_epsilon": 1e-5,
            "rope.dimension_count": SIZES.head,
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
        gated_feed_forward(file, prefix, SIZES)
