"""t5: an encoder, and a decoder that attends to what the encoder made of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buildsys.models.synth.blocks import Dimensions, output_matrix
from buildsys.models.synth.vocabulary import SENTENCEPIECE_MARKS

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

SIZES = Dimensions(kv_heads=4)
BUCKETS = 32
PADDING = 0  # T5 begins its answers with the padding token


def write(file: GgufFile, tokens: int) -> None:
    """All but the vocabulary, which has that many tokens."""
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "attention.layer_norm_rms_epsilon": 1e-6,
            "attention.relative_buckets_count": BUCKETS,
            "decoder_start_token_id": PADDING,
        }
    )
    file.random("token_embd.weight", SIZES.embedding, tokens, deviation=0.5)
    file.ones("enc.output_norm.weight", SIZES.embedding)
    file.ones("dec.output_norm.weight", SIZES.embedding)
    output_matrix(file, SIZES, tokens, muted=SENTENCEPIECE_MARKS)
    for block in range(SIZES.blocks):
        _layer(file, f"enc.blk.{block}.", attentions=("attn",))
        _layer(file, f"dec.blk.{block}.", attentions=("attn", "cross_attn"))
    for side in ("enc", "dec"):  # the first layer's positions serve all of them
        file.random(f"{side}.blk.0.attn_rel_b.weight", SIZES.heads, BUCKETS)


def _layer(file: GgufFile, prefix: str, *, attentions: tuple[str, ...]) -> None:
    width = SIZES.embedding
    for attention in attentions:
        file.ones(f"{prefix}{attention}_norm.weight", width)
        for part in ("q", "k", "v", "o"):
            file.random(f"{prefix}{attention}_{part}.weight", width, width, deviation=0.4)
    file.ones(f"{prefix}ffn_norm.weight", width)
    file.random(f"{prefix}ffn_up.weight", width, SIZES.feed_forward)
    file.random(f"{prefix}ffn_down.weight", SIZES.feed_forward, width)
