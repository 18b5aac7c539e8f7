"""Tensors that several architectures share, written under a block's prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile


@dataclass(frozen=True, kw_only=True)
class Dimensions:
    """Sizes of a tiny transformer; every one is small enough that a decode is mostly overhead."""

    embedding: int = 32
    heads: int = 4
    kv_heads: int = 2
    feed_forward: int = 64
    blocks: int = 2
    context: int = 2048

    @property
    def head(self) -> int:
        """Width of one attention head."""
        return self.embedding // self.heads

    def metadata(self) -> dict[str, int]:
        """The keys under which every text model states its sizes."""
        return {
            "context_length": self.context,
            "embedding_length": self.embedding,
            "block_count": self.blocks,
            "feed_forward_length": self.feed_forward,
            "attention.head_count": self.heads,
        }


def grouped_attention(file: GgufFile, prefix: str, sizes: Dimensions) -> None:
    """Query, key, value and output projections without biases."""
    file.random(f"{prefix}attn_q.weight", sizes.embedding, sizes.head * sizes.heads)
    file.random(f"{prefix}attn_k.weight", sizes.embedding, sizes.head * sizes.kv_heads)
    file.random(f"{prefix}attn_v.weight", sizes.embedding, sizes.head * sizes.kv_heads)
    file.random(f"{prefix}attn_output.weight", sizes.head * sizes.heads, sizes.embedding)


def gated_feed_forward(file: GgufFile, prefix: str, sizes: Dimensions) -> None:
    """Gate, up and down projections."""
    file.random(f"{prefix}ffn_gate.weight", sizes.embedding, sizes.feed_forward)
    file.random(f"{prefix}ffn_up.weight", sizes.embedding, sizes.feed_forward)
    file.random(f"{prefix}ffn_down.weight", sizes.feed_forward, sizes.embedding)


def output_matrix(file: GgufFile, sizes: Dimensions, tokens: int, *, muted: int) -> None:
    """The matrix that gives the logits. The first `muted` tokens get 0, so that greedy text doesn't end by chance.

    A negative `muted` counts from the vocabulary's end.
    """
    weights = file.draw(sizes.embedding, tokens, deviation=0.25)
    weights[slice(muted, None) if muted < 0 else slice(muted)] = 0.0
    file.tensor("output.weight", weights)
