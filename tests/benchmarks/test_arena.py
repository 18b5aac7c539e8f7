from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from benchmarks.arena import WARM_UP_TOKENS, Entry
from benchmarks.line import at_least
from benchmarks.protocol import GREEDY, Reading, Task
from tests.benchmarks.fakes import FakeContestant, arena

MODEL = Path("/models/m")


def test_the_bare_loop_takes_over_our_context_and_threads_and_the_peer_keeps_its_own() -> None:
    ours, bare, peer = FakeContestant(1.0, threads=4), FakeContestant(1.0, threads=1), FakeContestant(1.0, threads=2)
    readied = arena(ours, bare, peer).ready(MODEL)
    assert (readied.ours.n_ctx, readied.ours.n_threads) == (None, None)
    assert (bare.setups[0].n_ctx, bare.setups[0].n_threads, bare.setups[0].n_threads_batch) == (512, 4, 8)
    assert [setup.n_threads for setup in peer.setups] == [None, 4]
    assert (readied.threads, readied.peer_threads) == (4, 2)


def test_a_peer_that_does_not_load_is_left_out_with_its_reason() -> None:
    field = arena(FakeContestant(1.0), FakeContestant(1.0), FakeContestant(1.0, fails="prepare"))
    field.ready(MODEL)
    assert field.peer is None
    assert field.peer_failure == "it did not load"


def test_a_seed_is_sought_with_which_the_bare_loop_does_not_end() -> None:
    bare = FakeContestant(1.0)
    bare.ends_with_seeds = {1, 2, 3}
    field = arena(FakeContestant(1.0), bare, None)
    task = Task(setup=field.ready(MODEL).bare, prompt="p", tokens=8, sampling=GREEDY)
    assert field.endless_seed(task) == 4


def test_a_contest_warms_up_and_then_alternates() -> None:
    journal: list[str] = []
    ours, bare = FakeContestant(2.0, journal=journal, name="A"), FakeContestant(1.0, journal=journal, name="B")
    field = arena(ours, bare, None, rounds=2)
    readied = field.ready(MODEL)
    task = Task(setup=readied.ours, prompt="p", tokens=64, sampling=GREEDY)
    entries = {
        "ours": Entry(contestant=field.ours, task=task, label="ours"),
        "bare": Entry(contestant=field.bare, task=dataclasses.replace(task, setup=readied.bare), label="bare"),
    }
    contest = field.contest("row", entries)
    assert "".join(journal) == "AB" + "ABAB"
    line = contest.compare("ours", "bare", at_least(0.98))
    assert line.figure is not None
    assert line.figure.value == pytest.approx(0.5)
    assert line.verdict == "missed"
    assert [reading.tokens for reading in contest.series["ours"].readings] == [64, 64]
    assert task.tokens > WARM_UP_TOKENS


def test_text_that_differs_is_noted() -> None:
    class Deviating(FakeContestant):
        def measure(self, task: Task) -> Reading:
            return dataclasses.replace(super().measure(task), text="something else")

    field = arena(Deviating(1.0), FakeContestant(1.0), None)
    readied = field.ready(MODEL)
    task = Task(setup=readied.ours, prompt="p", tokens=64, sampling=GREEDY)
    entries = {
        "ours": Entry(contestant=field.ours, task=task, label="ours"),
        "bare": Entry(contestant=field.bare, task=dataclasses.replace(task, setup=readied.bare), label="bare"),
    }
    assert field.contest("row", entries).compare("ours", "bare", None).notes == ("create_completion wrote other text than the bare loop",)


def test_one_that_breaks_down_costs_its_comparisons_only() -> None:
    field = arena(FakeContestant(1.0, fails="measure"), FakeContestant(1.0), None)
    readied = field.ready(MODEL)
    task = Task(setup=readied.ours, prompt="p", tokens=64, sampling=GREEDY)
    entries = {
        "ours": Entry(contestant=field.ours, task=task, label="ours"),
        "bare": Entry(contestant=field.bare, task=dataclasses.replace(task, setup=readied.bare), label="bare"),
    }
    contest = field.contest("row", entries)
    assert contest.compare("ours", "bare", at_least(1.0)).failure == "ours: it broke down"
    assert len(contest.rates("bare")) == field.rounds
