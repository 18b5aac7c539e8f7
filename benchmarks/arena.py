"""Everybody who is measured, readied alike: contests between them, one repetition at a time, and lines from the results."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.contestant import Contestant
from benchmarks.interleave import MeasurementError, Series, interleave
from benchmarks.line import Line, Quantity, Target
from benchmarks.protocol import Reading, Ready, Setup, Task
from benchmarks.statistics import difference, figure, ratio
from buildsys import models

# OpenMP's idle threads keep spinning for a while (libomp: 200 ms) after a repetition and would take the next one's cores.
REST_SECONDS = 0.3
WARM_UP_TOKENS = 16
SEEDS_TRIED = 24
RATE = "tok/s"
MILLI = 1e3


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One side of a contest."""

    contestant: Contestant
    task: Task
    label: str


@dataclass(frozen=True, kw_only=True)
class Readied:
    """The setups of one model, with a context of the same size and the same threads for all but `peer`, whose defaults stay."""

    ours: Setup
    bare: Setup
    peer: Setup
    peer_alike: Setup
    peer_threads: int
    threads: int


@dataclass(kw_only=True)
class Arena:
    """Who takes part, and how long. `peer` is None when it is left out, or could not be had for the reason in `peer_failure`."""

    ours: Contestant
    bare: Contestant
    peer: Contestant | None
    rounds: int
    tokens: int
    say: Callable[[str], None]
    threads: int | None = None
    peer_failure: str = ""
    rest: Callable[[float], None] = time.sleep
    seen: dict[str, Ready] = field(default_factory=dict)

    def model(self, name: str) -> Path:
        """The file of a model of the catalogue."""
        return models.resolve([name])[name]

    def ready(
        self, model: Path, *, n_ctx: int | None = None, threads: int | None = None, embeddings: bool = False, logits_all: bool = False
    ) -> Readied:
        """Have `model` loaded by everybody: ours first, whose context size and threads the bare loop takes over.

        `threads` fixes the number for prompts too; without it the package chooses, or the user. `logits_all` is for the peer
        alone, which has no log-probabilities without it.
        """
        ours = Setup(model=str(model), n_ctx=n_ctx, n_threads=threads or self.threads, n_threads_batch=threads, embeddings=embeddings)
        made = self._prepare("package", self.ours, ours)
        bare = dataclasses.replace(ours, n_ctx=made.n_ctx, n_threads=made.n_threads, n_threads_batch=made.n_threads_batch)
        self._prepare("bare loop", self.bare, bare)
        peer = Setup(model=str(model), n_ctx=n_ctx, embeddings=embeddings, logits_all=logits_all)
        alike = dataclasses.replace(peer, n_threads=made.n_threads, n_threads_batch=made.n_threads_batch)
        threads = 0
        if self.peer is not None:
            try:
                threads = self._prepare("peer", self.peer, peer).n_threads
                self.peer.prepare(alike)
            except MeasurementError as error:
                self.peer_failure = str(error)
                self.peer = None
        return Readied(ours=ours, bare=bare, peer=peer, peer_alike=alike, peer_threads=threads, threads=made.n_threads)

    def release(self) -> None:
        """Have every model unloaded."""
        for contestant in (self.ours, self.bare, self.peer):
            if contestant is not None:
                contestant.release()

    def endless_seed(self, task: Task) -> int:
        """A seed with which the bare loop samples no end token, so that all contestants go the whole way."""
        for seed in range(1, SEEDS_TRIED + 1):
            if not self.bare.measure(dataclasses.replace(task, seed=seed)).ended:
                return seed
        return 1

    def peer_entries(self, readied: Readied, task: Task, label: str) -> Iterator[Entry]:
        """The peer with its own defaults, and once more with our threads where these differ."""
        if self.peer is None:
            return
        own = dataclasses.replace(task, setup=readied.peer)
        name = f"llama-cpp-python {self.seen['peer'].version}{label}, its defaults"
        yield Entry(contestant=self.peer, task=own, label=f"{name} (threads: {readied.peer_threads})")
        if readied.peer_threads != readied.threads:
            alike = dataclasses.replace(task, setup=readied.peer_alike)
            yield Entry(contestant=self.peer, task=alike, label=f"{name} but threads: {readied.threads}")

    def contest(self, title: str, entries: Mapping[str, Entry], *, rounds: int | None = None) -> Contest:
        """Warm everybody up, then take repetitions in turn."""
        count = rounds or self.rounds
        self.say(f"{title}: {len(entries)} contestants, {count} rounds")
        cold: dict[str, str] = {}
        for key, entry in entries.items():
            short = dataclasses.replace(entry.task, tokens=min(entry.task.tokens, WARM_UP_TOKENS), calls=1)
            try:
                entry.contestant.measure(short)
            except MeasurementError as error:
                cold[key] = str(error)
        turns = {key: _turn(entry) for key, entry in entries.items() if key not in cold}
        series = interleave(turns, rounds=count, before_each=lambda _name, _number: self.rest(REST_SECONDS))
        return Contest(row=title, entries=entries, series={**series, **{key: Series(failure=reason) for key, reason in cold.items()}})

    def _prepare(self, who: str, contestant: Contestant, setup: Setup) -> Ready:
        made = contestant.prepare(setup)
        self.seen.setdefault(who, made)
        return made


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What came out: a series of readings for every entry."""

    row: str
    entries: Mapping[str, Entry]
    series: Mapping[str, Series[Reading]]

    def failure(self, *keys: str) -> str:
        """Why a comparison of these entries can't be made; empty when it can."""
        return "; ".join(f"{self.entries[key].label}: {self.series[key].failure}" for key in keys if self.series[key].failure)

    def compare(self, key: str, other: str, target: Target | None) -> Line:
        """Tokens per second of one entry over those of the other."""
        line = Line(row=self.row, measured=self.entries[key].label, against=self.entries[other].label, target=target)
        if failed := self.failure(key, other):
            return dataclasses.replace(line, failure=failed)
        rates, others = self.rates(key), self.rates(other)
        return dataclasses.replace(
            line,
            value=Quantity(value=figure(rates).value, unit=RATE),
            other=Quantity(value=figure(others).value, unit=RATE),
            figure=ratio(rates, others),
            notes=self.notes(key, other),
        )

    def cost(self, key: str, plain: str, target: Target | None) -> Line:
        """Milliseconds per token that one entry takes more than another."""
        line = Line(row=self.row, measured=self.entries[key].label, against=self.entries[plain].label, unit="ms", target=target)
        if failed := self.failure(key, plain):
            return dataclasses.replace(line, failure=failed)
        times, others = ([reading.per_token() * MILLI for reading in self.series[each].readings] for each in (key, plain))
        return dataclasses.replace(
            line,
            value=Quantity(value=figure(times).value, unit="ms/tok"),
            other=Quantity(value=figure(others).value, unit="ms/tok"),
            figure=difference(times, others),
            notes=self.notes(key, plain),
        )

    def rates(self, key: str) -> list[float]:
        """Tokens per second of every repetition."""
        return [reading.rate for reading in self.series[key].readings]

    def notes(self, *keys: str) -> tuple[str, ...]:
        """What a reader must know of these entries' readings."""
        return tuple(
            f"{self.entries[key].label}: the model wished to end after {last.tokens // self.entries[key].task.calls} tokens"
            for key in keys
            if (last := self.series[key].readings[-1]).ended
        ) + self._differing_text(*keys)

    def _differing_text(self, *keys: str) -> tuple[str, ...]:
        """Ours and the bare loop, with the same sampling, must write the same; the peer never promised that."""
        texts: dict[tuple[int, str, int], set[str]] = {}
        for key in keys:
            task, text = self.entries[key].task, self.series[key].readings[-1].text.strip()
            if "peer" not in key and text:
                texts.setdefault((task.tokens, task.sampling, task.seed), set()).add(text)
        return ("create_completion wrote other text than the bare loop",) if any(len(each) > 1 for each in texts.values()) else ()


def _turn(entry: Entry) -> Callable[[], Reading]:
    return lambda: entry.contestant.measure(entry.task)
