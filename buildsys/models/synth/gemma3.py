"""gemma3: attention through a sliding window in every other block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buildsys.models.synth.blocks import Dimensions, gated_feed_forward, grouped_attention, output_matrix
from buildsys.models.synth.vocabulary import SENTENCEPIECE_MARKS

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

SIZES = Dimensions(heads=2, kv_heads=1)
WINDOW = 32
PATTERN = 2  # every second block sees everything


def write(file: GgufFile, tokens: int) -> None:
    """All but the vocabulary, which has that many tokens."""
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "attention.head_count_kv": SIZES.kv_heads,
            "attention.key_length": SIZES.head,
            "attention.value_length": SIZES.head,
            "attention.layer_norm_rms_epsilon": 1e-6,
            "attention.sliding_window": WINDOW,
            "attention.sliding_window_pattern": PATTERN,
        }
    )
    file.random("token_embd.weight", SIZES.embedding, tokens)
    file.ones("output_norm.weight", SIZES.embedding)
    output_matrix(file, SIZES, tokens, muted=SENTENCEPIECE_MARKS)
    for block in range(SIZES.blocks):
        prefix = f"blk.{block}."
        for norm in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"):
            file.ones(f"{prefix}{norm}.weight", SIZES.embedding)
        for norm in ("attn_q_norm", "attn_k_norm"):
            file.ones(f"{prefix}{norm}.weight", SIZES.head)
        grouped_attention(file, prefix, SIZES)
        gated_feed_forward(file, prefix, SIZES)
