"""A LoRA adapter for the plain transformer, strong enough to change what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from buildsys.models.synth.llama import SIZES

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

RANK = 4
ALPHA = 4.0


def no_vocabulary(_file: GgufFile) -> int:
    """An adapter has none."""
    return 0


def write(file: GgufFile, _tokens: int) -> None:
    """Both halves of the change to two matrices."""
    file.set("general.type", "adapter")
    file.set("adapter.type", "lora")
    file.set("adapter.lora.alpha", ALPHA)
    _change(file, "blk.0.attn_q.weight", SIZES.embedding, SIZES.head * SIZES.heads)
    _change(file, "blk.1.ffn_down.weight", SIZES.feed_forward, SIZES.embedding)


def _change(file: GgufFile, name: str, inputs: int, outputs: int) -> None:
    file.random(f"{name}.lora_a", inputs, RANK, deviation=1.0)
    file.random(f"{name}.lora_b", RANK, outputs, deviation=1.0)
