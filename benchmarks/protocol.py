"""What the parent asks of a worker process, and what it is told: JSON objects, one a line. Standard library only."""

from __future__ import annotations

import time
from dataclasses import dataclass

GREEDY = "greedy"
DEFAULT_CHAIN = "default"
"""Top-k 40, top-p 0.95, min-p 0.05, temperature 0.8, then a draw."""
UNSAMPLED = "unsampled"
"""No sampler at all: the tokens to decode are given."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A model in a context. None leaves the choice to the contestant's own defaults."""

    model: str
    n_ctx: int | None = None
    n_threads: int | None = None
    n_threads_batch: int | None = None
    embeddings: bool = False
    """A context for embeddings, one per text: the mean of its tokens'."""
    logits_all: bool = False


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What a contestant made of a setup. `backends` names the CPU backend files in the process, where the system tells."""

    n_ctx: int
    n_threads: int
    n_threads_batch: int
    version: str
    backends: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Task:
    """One timed repetition: `calls` completions of `tokens` tokens, each from an emptied context, or as many embeddings."""

    setup: Setup
    prompt: str
    tokens: int
    sampling: str
    seed: int = 1
    stream: bool = False
    calls: int = 1
    chat: str = ""
    """Answer this message of a user as chat. The bare loop goes on from `prompt`: what the model's template makes of the message."""
    logprobs: int | None = None
    processor: bool = False
    """With a logits processor that changes nothing."""
    grammar: str = ""
    """Held to a grammar."""
    texts: tuple[str, ...] = ()
    """Embed these instead of completing the prompt: together, or one at a time where they are `apart`."""
    apart: bool = False
    bare: bool = False
    """Run the bare loop, on the contestant's own context, in its process."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One repetition: seconds from the prompt to the last token, over all calls; `text` is that of the last call.

    `cpu_seconds` is what all threads of the process spent computing, or waiting busily, in that time.
    `ended` tells that the model wished to end before the last token that was asked for.
    """

    seconds: float
    cpu_seconds: float
    tokens: int
    text: str = ""
    ended: bool = False

    @property
    def rate(self) -> float:
        """Tokens per second."""
        return self.tokens / self.seconds

    def per_token(self, *, cpu: bool = False) -> float:
        """Seconds per token, or CPU seconds."""
        return (self.cpu_seconds if cpu else self.seconds) / self.tokens


@dataclass(kw_only=True)
class Stopwatch:
    """Adds up wall and CPU time over the blocks that it is entered for."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __enter__(self) -> None:
        self.cpu_seconds -= time.process_time()
        self.seconds -= time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter()
        self.cpu_seconds += time.process_time()
