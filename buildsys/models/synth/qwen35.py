"""qwen35: a hybrid with positions in several dimensions (M-RoPE), and a block that predicts the token after the next.

A gated delta rule keeps the recurrent state of every other block; the rest attend.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from buildsys.models.synth.blocks import Dimensions, gated_feed_forward, output_matrix
from buildsys.models.synth.mamba2 import decay
from buildsys.models.synth.vocabulary import CHAT_MARKERS, byte_pairs

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

PREDICTING = 1  # blocks at the end that are no part of the ordinary evaluation
SIZES = Dimensions(heads=2, kv_heads=1, blocks=2 + PREDICTING)
HEAD = 16
SECTIONS = 4
INTERVAL = 2  # every second block attends
CONVOLUTION = 4
STATE = 16
KEY_HEADS = VALUE_HEADS = 2
INNER = STATE * VALUE_HEADS
CONVOLVED = 2 * STATE * KEY_HEADS + INNER
CONTROL = ("<|endoftext|>", *CHAT_MARKERS, "<|vision_start|>", "<|vision_end|>")

vocabulary = partial(byte_pairs, splitting="qwen35", control=CONTROL, end=CHAT_MARKERS[1])


def write(file: GgufFile, tokens: int) -> None:
    """All but the vocabulary, which has that many tokens."""
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "attention.head_count_kv": SIZES.kv_heads,
            "attention.key_length": HEAD,
            "attention.value_length": HEAD,
            "attention.layer_norm_rms_epsilon": 1e-6,
            "full_attention_interval": INTERVAL,
            "nextn_predict_layers": PREDICTING,
            "rope.dimension_count": HEAD,
            "rope.dimension_sections": [HEAD // 2 // SECTIONS] * SECTIONS,
            "ssm.conv_kernel": CONVOLUTION,
            "ssm.group_count": KEY_HEADS,
            "ssm.inner_size": INNER,
            "ssm.state_size": STATE,
            "ssm.time_step_rank": VALUE_HEADS,
        }
    )
    file.random("token_embd.weight", SIZES.embedding, tokens, deviation=0.5)
    file.ones("output_norm.weight", SIZES.embedding)
    output_matrix(file, SIZES, tokens, muted=-len(CONTROL))
    for block in range(SIZES.blocks):
        prefix = f"blk.{block}."
        file.ones(f"{prefix}attn_norm.weight", SIZES.embedding)
        file.ones(f"{prefix}post_attention_norm.weight", SIZES.embedding)
        gated_feed_forward(file, prefix, SIZES)
        predicts = block >= SIZES.blocks - PREDICTING
        if predicts:
            _prediction(file, f"{prefix}nextn.")
        if predicts or (block + 1) % INTERVAL == 0:
            _attention(file, prefix)
        else:
            _delta_rule(file, prefix)


def _attention(file: GgufFile, prefix: str) -> None:
    """The query is twice as wide as it would be: half of it gates the output."""
    file.random(f"{prefix}attn_q.weight", SIZES.embedding, 2 * HEAD * SIZES.heads)
    file.random(f"{prefix}attn_k.weight", SIZES.embedding, HEAD * SIZES.kv_heads)
    file.random(f"{prefix}attn_v.weight", SIZES.embedding, HEAD * SIZES.kv_heads)
    file.random(f"{prefix}attn_output.weight", HEAD * SIZES.heads, SIZES.embedding)
    file.ones(f"{prefix}attn_q_norm.weight", HEAD)
    file.ones(f"{prefix}attn_k_norm.weight", HEAD)


def _delta_rule(file: GgufFile, prefix: str) -> None:
    file.random(f"{prefix}attn_qkv.weight", SIZES.embedding, CONVOLVED, deviation=0.3)
    file.random(f"{prefix}attn_gate.weight", SIZES.embedding, INNER, deviation=0.3)
    file.random(f"{prefix}ssm_conv1d.weight", CONVOLUTION, CONVOLVED, deviation=0.5)
    file.random(f"{prefix}ssm_dt.bias", VALUE_HEADS)
    file.tensor(f"{prefix}ssm_a", decay(file, VALUE_HEADS))
    file.random(f"{prefix}ssm_beta.weight", SIZES.embedding, VALUE_HEADS, deviation=0.3)
    file.random(f"{prefix}ssm_alpha.weight", SIZES.embedding, VALUE_HEADS, deviation=0.3)
    file.ones(f"{prefix}ssm_norm.weight", STATE)
    file.random(f"{prefix}ssm_out.weight", INNER, SIZES.embedding, deviation=0.3)


def _prediction(file: GgufFile, prefix: str) -> None:
    file.random(f"{prefix}eh_proj.weight", 2 * SIZES.embedding, SIZES.embedding)
    file.ones(f"{prefix}enorm.weight", SIZES.embedding)
    file.ones(f"{prefix}hnorm.weight", SIZES.embedding)
