"""Models that rank: bert with a head that gives one score, and qwen3, which reads a template and gives two."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from buildsys.models.synth import bert
from buildsys.models.synth.blocks import Dimensions, gated_feed_forward, grouped_attention, output_matrix
from buildsys.models.synth.vocabulary import SENTENCEPIECE_MARKS, sentencepiece, wordpiece

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

RANK_POOLING = 4
SIZES = Dimensions()
TEMPLATE = "<|im_start|>user\nDoes this answer it?\nquery: {query}\ntext: {document}<|im_end|>\n<|im_start|>assistant\n"

encoder_vocabulary = partial(wordpiece, token_types=1)  # llama.cpp tells no second text from a first


def write_encoder(file: GgufFile, tokens: int) -> None:
    """All of bert but the vocabulary, a head upon it."""
    bert.write(file, tokens, pooling=RANK_POOLING, token_types=1)
    width = bert.SIZES.embedding
    file.random("cls.weight", width, width, deviation=0.5)
    file.random("cls.bias", width)
    file.random("cls.output.weight", width, 1, deviation=1.0)
    file.random("cls.output.bias", 1)


def decoder_vocabulary(file: GgufFile) -> int:
    """SentencePiece, and the template that puts query and document together."""
    count = sentencepiece(file)
    file.set("tokenizer.chat_templates", ["rerank"])
    file.set("tokenizer.chat_template.rerank", TEMPLATE)
    return count


def write_decoder(file: GgufFile, tokens: int) -> None:
    """All of qwen3 but the vocabulary, with a head of two outputs."""
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "attention.head_count_kv": SIZES.kv_heads,
            "attention.key_length": SIZES.head,
            "attention.value_length": SIZES.head,
            "attention.layer_norm_rms_epsilon": 1e-6,
            "pooling_type": RANK_POOLING,
            "classifier.output_labels": ["yes", "no"],
        }
    )
    file.random("token_embd.weight", SIZES.embedding, tokens, deviation=0.5)
    file.ones("output_norm.weight", SIZES.embedding)
    output_matrix(file, SIZES, tokens, muted=SENTENCEPIECE_MARKS)
    file.random("cls.output.weight", SIZES.embedding, 2, deviation=1.0)
    for block in range(SIZES.blocks):
        prefix = f"blk.{block}."
        for norm, width in (
            ("attn_norm", SIZES.embedding),
            ("ffn_norm", SIZES.embedding),
            ("attn_q_norm", SIZES.head),
            ("attn_k_norm", SIZES.head),
        ):
            file.ones(f"{prefix}{norm}.weight", width)
        grouped_attention(file, prefix, SIZES)
        gated_feed_forward(file, prefix, SIZES)
