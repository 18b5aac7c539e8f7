"""Models of every kind of memory, tiny and real, and prompts that share beginnings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rig import material

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from llama_cpp import Llama

SIZES = {"n_ctx": 512, "n_batch": 32, "n_ubatch": 32, "n_threads": 1, "n_threads_batch": 1, "verbose": False}
# Attention keeps keys and values in half precision, and kernels for many tokens round differently from those for one.
TOLERANCE = 0.03


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A model and how its context is made.

    `tolerance` is what other batch shapes may change in a logit; `after_load` what a loaded state may: nothing, but for
    windows, whose new tokens then lie elsewhere in memory, and are summed in another order.
    """

    variable: str
    options: dict[str, Any] = field(default_factory=dict)
    tolerance: float = TOLERANCE
    after_load: float = 0.0

    def open(self, **options: Any) -> Llama:
        from llama_cpp import Llama  # noqa: PLC0415 - not before the suite has seen to its environment

        return Llama(str(material.model(self.variable)), **{**SIZES, "checkpoint_interval": 64, **self.options, **options})


MEMORIES = {
    "attention": Memory(variable=material.SYNTH_LLAMA),
    "window, kept in full": Memory(variable=material.SYNTH_GEMMA3, after_load=TOLERANCE),
    "window only": Memory(variable=material.SYNTH_GEMMA3, options={"swa_full": False}, after_load=TOLERANCE),
    "hybrid": Memory(variable=material.SYNTH_LFM2),
    "hybrid, with steps back": Memory(variable=material.SYNTH_LFM2, options={"n_rs_seq": 4}),
    "hybrid, M-RoPE": Memory(variable=material.SYNTH_QWEN35),
    "hybrid, on the device": Memory(variable=material.SYNTH_QWEN35, options={"checkpoint_on_device": True}),
    "state space": Memory(variable=material.SYNTH_MAMBA2),
    "linear attention": Memory(variable=material.SYNTH_RWKV7),
}
_LARGER = {"n_batch": 128, "n_ubatch": 128, "n_threads": 2, "n_threads_batch": 2}
REAL = {
    "smollm2": Memory(variable=material.TRANSFORMER, options=_LARGER, tolerance=0.5),
    "gemma3": Memory(variable=material.SLIDING_WINDOW, options=_LARGER, tolerance=0.5),
}
UNCUTTABLE = tuple(name for name in MEMORIES if name not in {"attention", "window, kept in full"})


def tokens(count: int, *, seed: int = 0) -> list[int]:
    """The same ordinary tokens for every model: sequences of one seed begin alike."""
    return np.random.default_rng(seed).integers(10, 250, 512)[:count].tolist()


def logits_from_scratch(llama: Llama, prompt: Sequence[int]) -> NDArray[np.float32]:
    """The logits after a prompt, with nothing reused."""
    llama.reset()
    return llama.prefill(prompt).logits


def assert_same(found: Any, due: Any, tolerance: float) -> None:
    """Two rows of logits, within what other batch shapes may change."""
    assert np.isfinite(found).all()
    worst = float(np.abs(np.asarray(found) - due).max())
    assert worst <= tolerance, f"a logit is {worst} off"
