"""A limit on how long a model thinks: when it is used up, the end of the thinking is written for it.

Works on the bytes of tokens, so that it does not matter how a model's vocabulary spells the marks.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections import deque
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llama_cpp._engine.vocab import Vocab

NO_BUDGET = -1


@dataclass(frozen=True, kw_only=True)
class ReasoningLimit:
    """At most `budget` tokens between the marks `start` and `end`; -1 is no limit.

    When it is used up, `message` and `end` follow. `start_in_prompt` says that the prompt ends within the thinking;
    else the start has to come within the first `start_max_tokens` tokens, or nothing is limited.
    """

    budget: int = NO_BUDGET
    start: str = "<think>"
    end: str = "</think>"
    message: str = ""
    start_in_prompt: bool = False
    start_max_tokens: int = 32

    def __post_init__(self) -> None:
        for name in ("budget", "start_max_tokens"):
            value = getattr(self, name)
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise ValueError(f"reasoning_{name} must be an integer, not {value!r}")
        if self.budget < NO_BUDGET:
            raise ValueError(f"reasoning_budget must be -1 (no limit) or a number of tokens, not {self.budget}")
        for name, empty in (("start", False), ("end", False), ("message", True)):
            text = getattr(self, name)
            if not isinstance(text, str) or not (text or empty):
                argument = "reasoning_budget_message" if name == "message" else f"reasoning_{name}"
                raise ValueError(f"{argument} must be a str{'' if empty else ' that is not empty'}, not {text!r}")

    @property
    def limits(self) -> bool:
        """Whether there is a limit at all."""
        return self.budget > NO_BUDGET


UNLIMITED = ReasoningLimit()


def reasoning_from(arguments: Mapping[str, Any]) -> ReasoningLimit:
    """The limit in the arguments of a public method; ValueError for values that make no sense."""
    return ReasoningLimit(
        budget=arguments["reasoning_budget"],
        start=arguments["reasoning_start"],
        end=arguments["reasoning_end"],
        message="" if arguments["reasoning_budget_message"] is None else arguments["reasoning_budget_message"],
        start_in_prompt=bool(arguments["reasoning_start_in_prompt"]),
        start_max_tokens=arguments["reasoning_start_max_tokens"],
    )


class ReasoningState(Enum):
    """Where a text is."""

    IDLE = "idle"
    """Before the start mark."""
    COUNTING = "counting"
    """Within the thinking."""
    COMPLETING = "completing"
    """The budget is used up, within a character."""
    FORCING = "forcing"
    """The end is being written."""
    DONE = "done"
    """After the end mark, or where no start mark came in time."""


class ReasoningBudget:
    """Watches the tokens of one text and forces the end of its thinking. A `TokenForcer`."""

    def __init__(self, limit: ReasoningLimit, vocab: Vocab) -> None:
        self._limit = limit
        self._vocab = vocab
        self._start, self._end = limit.start.encode(), limit.end.encode()
        self._tail = b""
        self._left = limit.budget
        self._seen = 0
        self._queue: deque[int] = deque()
        self.state = ReasoningState.IDLE
        if limit.start_in_prompt:
            self._begin()

    def forced(self) -> int | None:
        """The only token allowed now; None leaves the choice to the samplers."""
        return self._queue[0] if self._queue else None

    @property
    def thinking(self) -> bool:
        """Whether the text is between the marks."""
        return self.state not in (ReasoningState.IDLE, ReasoningState.DONE)

    @property
    def end_tokens(self) -> list[int]:
        """The end mark."""
        return self._vocab.tokenize(self._limit.end, add_special=False, parse_special=True)

    def accept(self, token: int) -> None:
        """See what was chosen."""
        if self.state is ReasoningState.DONE:
            return
        if self.state is ReasoningState.FORCING:
            self._queue.popleft()
            if not self._queue:
                self.state = ReasoningState.DONE
            return
        self._seen += 1
        self._tail += self._vocab.piece(token, special=True)
        if self.state is ReasoningState.IDLE:
            self._look_for_start()
        else:
            self._count()

    def force(self) -> bool:
        """End the thinking now, whatever is left of the budget; False outside of it, where that has no effect."""
        if self.state not in (ReasoningState.COUNTING, ReasoningState.COMPLETING):
            return False
        self._exhaust()
        return True

    def clone(self) -> ReasoningBudget:
        """An independent copy in the same state."""
        made = copy(self)
        made._queue = self._queue.copy()  # noqa: SLF001 - its own class
        return made

    def _look_for_start(self) -> None:
        place = self._tail.find(self._start)
        if place >= 0:
            self._tail = self._tail[place + len(self._start) :]
            self._begin()
        elif self._seen >= self._limit.start_max_tokens:
            self.state = ReasoningState.DONE
        else:
            self._tail = self._tail[-len(self._start) :]

    def _begin(self) -> None:
        self.state = ReasoningState.COUNTING
        if not self._left:
            self._exhaust()

    def _count(self) -> None:
        if self._end in self._tail:
            self.state = ReasoningState.DONE
            return
        if self.state is ReasoningState.COUNTING:
            self._left -= 1
        if self._left <= 0:
            self._exhaust()
        self._tail = self._tail[-len(self._end) :] if self.state is ReasoningState.COUNTING else self._tail

    def _exhaust(self) -> None:
        """Write the end, or wait for the rest of a character: what is forced must not tear it."""
        _, complete = utf_8_decode(self._tail, "replace", False)
        if complete < len(self._tail):
            self.state = ReasoningState.COMPLETING
            return
        self.state = ReasoningState.FORCING
        self._queue.extend(self._vocab.tokenize(self._limit.message, add_special=False) if self._limit.message else ())
        self._queue.extend(self._vocab.tokenize(self._limit.end, add_special=False, parse_special=True))
