"""Contestants without models or processes."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from benchmarks.arena import Arena
from benchmarks.contestant import Contestant
from benchmarks.interleave import MeasurementError
from benchmarks.protocol import UNSAMPLED, Reading, Ready, Setup, Task


class FakeContestant:
    """Takes a fixed time per token plus a fixed time per call; its clock is arithmetic."""

    def __init__(
        self,
        per_token: float,
        *,
        bare: float | None = None,
        threads: int = 4,
        journal: list[str] | None = None,
        name: str = "",
        fails: str = "",
    ) -> None:
        self.per_token = per_token
        self.bare = per_token if bare is None else bare  # the bare loop on its own context
        self.threads = threads
        self.fails = fails
        self.name = name
        self.journal: list[str] = [] if journal is None else journal
        self.setups: list[Setup] = []
        self.ends_with_seeds: set[int] = set()

    def prepare(self, setup: Setup) -> Ready:
        if self.fails == "prepare":
            raise MeasurementError("it did not load")
        self.setups.append(setup)
        threads = setup.n_threads or self.threads
        return Ready(n_ctx=setup.n_ctx or 512, n_threads=threads, n_threads_batch=setup.n_threads_batch or 8, version="9.9")

    def measure(self, task: Task) -> Reading:
        if self.fails == "measure":
            raise MeasurementError("it broke down")
        assert task.setup in self.setups
        self.journal.append(self.name)
        text = "" if task.sampling == UNSAMPLED else f"{task.tokens} {task.sampling} {task.seed}"
        seconds = (self.bare if task.bare else self.per_token) * task.tokens * task.calls
        return Reading(
            seconds=seconds, cpu_seconds=seconds, tokens=task.tokens * task.calls, text=text, ended=task.seed in self.ends_with_seeds
        )

    def release(self) -> None:
        self.setups.clear()


class FakeArena(Arena):
    def model(self, name: str) -> Path:
        return Path(f"/models/{name}")


def arena(ours: FakeContestant, bare: FakeContestant, peer: FakeContestant | None, *, rounds: int = 3, peer_failure: str = "") -> Arena:
    return FakeArena(
        ours=cast("Contestant", ours),
        bare=cast("Contestant", bare),
        peer=cast("Contestant | None", peer),
        peer_failure=peer_failure,
        rounds=rounds,
        tokens=64,
        say=lambda _text: None,
        rest=lambda _seconds: None,
    )
