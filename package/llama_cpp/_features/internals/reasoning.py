"""`ReasoningBudgetSampler`: a limit on how long a model thinks, by itself."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._features.sampling.reasoning import NO_BUDGET, ReasoningBudget, ReasoningLimit, ReasoningState

if TYPE_CHECKING:
    from .candidates import LlamaTokenDataArray
    from .model import LlamaModel


class ReasoningBudgetState(IntEnum):
    """Where a text is, by the numbers of llama.cpp's own budget."""

    IDLE = 0
    COUNTING = 1
    FORCING = 2
    WAITING_UTF8 = 3
    DONE = 4


_STATES = {
    ReasoningState.IDLE: ReasoningBudgetState.IDLE,
    ReasoningState.COUNTING: ReasoningBudgetState.COUNTING,
    ReasoningState.FORCING: ReasoningBudgetState.FORCING,
    ReasoningState.COMPLETING: ReasoningBudgetState.WAITING_UTF8,
    ReasoningState.DONE: ReasoningBudgetState.DONE,
}


class ReasoningBudgetSampler:
    """At most `reasoning_budget` tokens between two marks, then `reasoning_budget_message` and the end mark are forced.

    The arguments are those of `Llama.create_completion`. -1 is no limit, but `force` works.
    """

    def __init__(  # noqa: PLR0917 - as the public methods have them
        self,
        model: LlamaModel,
        reasoning_budget: int = NO_BUDGET,
        reasoning_start: str = "<think>",
        reasoning_end: str = "</think>",
        reasoning_budget_message: str | None = None,
        reasoning_start_in_prompt: bool = False,
        reasoning_start_max_tokens: int = 32,
    ) -> None:
        self._vocab = model.engine.vocab
        self._limit = ReasoningLimit(
            budget=reasoning_budget,
            start=reasoning_start,
            end=reasoning_end,
            message=reasoning_budget_message or "",
            start_in_prompt=reasoning_start_in_prompt,
            start_max_tokens=reasoning_start_max_tokens,
        )
        self.engine = ReasoningBudget(self._limit, self._vocab)

    @property
    def state(self) -> ReasoningBudgetState:
        """Where the text is."""
        return _STATES[self.engine.state]

    def apply(self, candidates: LlamaTokenDataArray) -> None:
        """Leave only the forced token, where one is: the logits of all others become -inf."""
        token = self.engine.forced()
        if token is not None:
            data = candidates.candidates_data
            data["logit"][data["id"] != token] = -np.inf

    def accept(self, token: int) -> None:
        """See what was chosen."""
        self.engine.accept(self._vocab.check(token))

    def force(self) -> bool:
        """End the thinking now; False outside of it."""
        return self.engine.force()

    def reset(self) -> None:
        """Back to the start."""
        self.engine = ReasoningBudget(self._limit, self._vocab)

    def clone(self) -> ReasoningBudgetSampler:
        """An independent copy in the same state."""
        made = ReasoningBudgetSampler.__new__(ReasoningBudgetSampler)
        made.__dict__.update(self.__dict__)
        made.engine = self.engine.clone()
        return made

    def close(self) -> None:
        """Nothing native is behind it; here for programs that close what they made."""
