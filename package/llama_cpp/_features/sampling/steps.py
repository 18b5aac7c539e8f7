"""The choice of one token after the other where Python takes part: processors, criteria, log-probabilities, forced tokens.

A request without any of them samples by the bound chain alone, and never comes here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .reasoning import UNLIMITED, ReasoningBudget, ReasoningLimit, reasoning_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from llama_cpp._engine.context import Context
    from llama_cpp._engine.sampler import SamplerChain

    from .callbacks import LogitsProcessor, StoppingCriteria
    from .logprobs import LogprobRecorder

END = -1
"""What a step answers in place of a token when a criterion ends the generation."""


class TokenForcer(Protocol):
    """What may leave no choice."""

    def forced(self) -> int | None:
        """The only token allowed now; None leaves the choice to the samplers."""

    def accept(self, token: int) -> None:
        """See what was chosen."""

    @property
    def thinking(self) -> bool:
        """Whether what is written now is no part of the answer, and grammars have nothing to do with it."""

    @property
    def end_tokens(self) -> list[int]:
        """What the thinking ends with."""


@dataclass(frozen=True, kw_only=True)
class Participants:
    """Who takes part in the choice beside the chain."""

    processors: tuple[LogitsProcessor, ...] = ()
    criteria: tuple[StoppingCriteria, ...] = ()
    reasoning: ReasoningLimit = UNLIMITED

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Participants:
        """Those that the arguments of a public method name."""
        return cls(
            processors=_callables("logits_processor", arguments["logits_processor"]),
            criteria=_callables("stopping_criteria", arguments.get("stopping_criteria")),
            reasoning=reasoning_from(arguments),
        )

    @property
    def present(self) -> bool:
        """Whether there is one."""
        return bool(self.processors or self.criteria or self.reasoning.limits)


NOBODY = Participants()


class Steps:
    """Chooses tokens from one row of `context`, the last by default. `seen` gives the token ids so far, read-only.

    In order: the criteria see the logits of the model; `recorder` keeps their log-probabilities; the processors
    change them in native memory; the forcer or the chain chooses. While the forcer says that the model is thinking, grammars are
    neither asked nor told. What a callback raises goes to the caller.
    """

    def __init__(
        self,
        context: Context,
        chain: SamplerChain,
        seen: Callable[[], NDArray[np.intc]],
        participants: Participants,
        *,
        recorder: LogprobRecorder | None = None,
        forcer: TokenForcer | None = None,
        index: int = -1,
    ) -> None:
        self._context = context
        self._chain = chain
        self._seen = seen
        self._processors = participants.processors
        self._criteria = participants.criteria
        self._recorder = recorder
        self._forcer = forcer
        if forcer is None and participants.reasoning.limits:
            self._forcer = ReasoningBudget(participants.reasoning, context.vocab)
        self._index = index
        self.ended = False  # by a criterion

    def __call__(self) -> int:
        """The next token, accepted by the chain; `END` when there shall be none."""
        row, recorder = self._context.logits(self._index), self._recorder
        if self._criteria and any(criterion(self._seen(), row) for criterion in self._criteria):
            self.ended = True
            return END
        raw = row.copy() if self._processors and recorder is not None else row
        if self._processors:
            self._process(row)
        token = self._choose()
        if recorder is not None:
            recorder.record(raw, token)
        return token

    def _process(self, row: NDArray[np.float32]) -> None:
        seen = self._seen()
        scores: Any = row
        for processor in self._processors:
            scores = processor(seen, scores)
        if scores is not row:
            scores = np.asarray(scores, dtype=np.float32)
            if scores.size != row.size:
                raise ValueError(
                    f"a logits processor returned shape {scores.shape} for {row.size} logits; it must return one logit per token"
                )
            np.copyto(row, scores.reshape(row.shape))
        if not np.isfinite(row.max()):
            raise ValueError("a logits processor left no token that could be chosen: all logits are -inf, or one is NaN or +inf")

    def _choose(self) -> int:
        forcer = self._forcer
        if forcer is None:
            return self._chain.sample(self._context, self._index)
        thinking, token = forcer.thinking, forcer.forced()
        if token is None:
            token = self._chain.sample(self._context, self._index, filters=not thinking)
        else:
            self._chain.accept(token, filters=not thinking)
        forcer.accept(token)
        if thinking and not forcer.thinking:
            self._chain.remind(forcer.end_tokens)
        return token


def _callables(name: str, value: Any) -> tuple[Any, ...]:
    found = () if value is None else tuple(value) if isinstance(value, list | tuple) else (value,)
    for each in found:
        if not callable(each):
            raise TypeError(f"{name} must be a callable or a list of them, but holds {each!r}")
    return found
