"""lfm2: the simplest hybrid. Short convolutions keep a rolling state, one block in the middle attends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buildsys.models.synth.blocks import Dimensions, gated_feed_forward, grouped_attention, output_matrix
from buildsys.models.synth.vocabulary import SENTENCEPIECE_MARKS

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

SIZES = Dimensions(blocks=3)
ATTENDING = frozenset({1})
CONVOLUTION = 3


def write(file: GgufFile, tokens: int) -> None:
    """All but the vocabulary, which has that many tokens."""
    kv_heads = [SIZES.kv_heads if block in ATTENDING else 0 for block in range(SIZES.blocks)]
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "attention.head_count_kv": kv_heads,  # 0 marks a convolution block
            "attention.layer_norm_rms_epsilon": 1e-5,
            "shortconv.l_cache": CONVOLUTION,
        }
    )
    file.random("token_embd.weight", SIZES.embedding, tokens)
    file.ones("token_embd_norm.weight", SIZES.embedding)  # the final norm, for all its name
    output_matrix(file, SIZES, tokens, muted=SENTENCEPIECE_MARKS)
    for block in range(SIZES.blocks):
        prefix = f"blk.{block}."
        file.ones(f"{prefix}attn_norm.weight", SIZES.embedding)
        if block in ATTENDING:
            file.ones(f"{prefix}attn_q_norm.weight", SIZES.head)
            file.ones(f"{prefix}attn_k_norm.weight", SIZES.head)
            grouped_attention(file, prefix, SIZES)
        else:
            _short_convolution(file, prefix)
        file.ones(f"{prefix}ffn_norm.weight", SIZES.embedding)
        gated_feed_forward(file, prefix, SIZES)


def _short_convolution(file: GgufFile, prefix: str) -> None:
    file.random(f"{prefix}shortconv.conv.weight", CONVOLUTION, SIZES.embedding, deviation=0.5)
    file.random(f"{prefix}shortconv.in_proj.weight", SIZES.embedding, 3 * SIZES.embedding)
    file.random(f"{prefix}shortconv.out_proj.weight", SIZES.embedding, SIZES.embedding)
