"""The shapes of Python callbacks into sampling: processors that change logits, criteria that end a generation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LogitsProcessor = Callable[["NDArray[np.intc]", "NDArray[np.single]"], "NDArray[np.single]"]
"""Called with the token ids so far and the logits of the next token; returns logits, the same array or another."""

StoppingCriteria = Callable[["NDArray[np.intc]", "NDArray[np.single]"], bool]
"""Called with the token ids so far and the logits; True ends the generation."""

LogitsProcessors = LogitsProcessor | Sequence[LogitsProcessor] | None
StoppingCriterions = StoppingCriteria | Sequence[StoppingCriteria] | None
"""As arguments: none, one, or several in a row."""


class LogitsProcessorList(list[LogitsProcessor]):
    """Processors applied one after the other; itself a processor."""

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        for processor in self:
            scores = processor(input_ids, scores)
        return scores


class StoppingCriteriaList(list[StoppingCriteria]):
    """Criteria of which one is enough; itself a criterion."""

    def __call__(self, input_ids: NDArray[np.intc], logits: NDArray[np.single]) -> bool:
        return any(criterion(input_ids, logits) for criterion in self)


class MinTokensLogitsProcessor:
    """Forbids the end-of-text token until so many tokens followed the prompt, which it sees with its first call."""

    def __init__(self, min_tokens: int, token_eos: int) -> None:
        self.min_tokens = min_tokens
        self.token_eos = token_eos
        self.prompt_tokens: int | None = None

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        if self.prompt_tokens is None:
            self.prompt_tokens = len(input_ids)
        if len(input_ids) - self.prompt_tokens < self.min_tokens:
            scores[self.token_eos] = -np.inf
        return scores
