"""mamba2: nothing but recurrent state, a selective state space in every block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from buildsys.models.synth.blocks import Dimensions, output_matrix
from buildsys.models.synth.vocabulary import SENTENCEPIECE_MARKS

if TYPE_CHECKING:
    from buildsys.models.synth.gguf_file import GgufFile

SIZES = Dimensions(heads=0, feed_forward=0)
INNER = 2 * SIZES.embedding
STATE = 16
CONVOLUTION = 4
GROUPS = 1
STEPS = 4  # heads of the state space, each with a step size of its own
CONVOLVED = INNER + 2 * GROUPS * STATE


def write(file: GgufFile, tokens: int) -> None:
    """All but the vocabulary, which has that many tokens."""
    file.hyperparameters(
        {
            **SIZES.metadata(),
            "vocab_size": tokens,
            "attention.layer_norm_rms_epsilon": 1e-5,
            "ssm.conv_kernel": CONVOLUTION,
            "ssm.group_count": GROUPS,
            "ssm.inner_size": INNER,
            "ssm.state_size": STATE,
            "ssm.time_step_rank": STEPS,
        }
    )
    file.random("token_embd.weight", SIZES.embedding, tokens, deviation=0.5)
    file.ones("output_norm.weight", SIZES.embedding)
    output_matrix(file, SIZES, tokens, muted=SENTENCEPIECE_MARKS)
    for block in range(SIZES.blocks):
        prefix = f"blk.{block}."
        file.ones(f"{prefix}attn_norm.weight", SIZES.embedding)
        file.random(f"{prefix}ssm_in.weight", SIZES.embedding, INNER + CONVOLVED + STEPS, deviation=0.3)
        file.random(f"{prefix}ssm_conv1d.weight", CONVOLUTION, CONVOLVED, deviation=0.5)
        file.random(f"{prefix}ssm_conv1d.bias", CONVOLVED)
        file.random(f"{prefix}ssm_dt.bias", STEPS)
        file.tensor(f"{prefix}ssm_a", decay(file, 1, STEPS))
        file.ones(f"{prefix}ssm_d", 1, STEPS)
        file.ones(f"{prefix}ssm_norm.weight", INNER // GROUPS, GROUPS)
        file.random(f"{prefix}ssm_out.weight", INNER, SIZES.embedding, deviation=0.3)


def decay(file: GgufFile, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """How fast a state fades: always negative, around -0.3, so that what was read long ago still counts."""
    values: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = -np.abs(np.float32(0.3) + file.draw(*shape, deviation=0.1))
    return values
