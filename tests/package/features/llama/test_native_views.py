from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from llama_cpp._engine.batch import Batch
from llama_cpp._features.generation.live import LiveSequence, as_tokens
from llama_cpp._features.generation.turns import Turns
from llama_cpp._features.llama.native_views import LiveLedger
from tests.package.features.fakes import FakeContext


@pytest.fixture
def context() -> FakeContext:
    return FakeContext(n_ctx=16)


@pytest.fixture
def live(context: FakeContext) -> LiveSequence:
    made = LiveSequence(context)  # type: ignore[arg-type]
    made.extend(as_tokens([1, 2, 3, 4]))
    return made


def batch(tokens: list[int], *, pos: int, seq_ids: tuple[int, ...] = (0,)) -> Batch:
    made = Batch(16, n_seq_max=3)
    for place, token in enumerate(tokens):
        made.add(token, pos=pos + place, seq_ids=seq_ids)
    return made


def test_tokens_that_follow_are_taken_over(live: LiveSequence) -> None:
    LiveLedger(live).evaluated(batch([7, 8], pos=4))
    assert live.tokens.tolist() == [1, 2, 3, 4, 7, 8]
    assert (live.holder, live.evaluated) == (None, 6)


@pytest.mark.parametrize(
    "other",
    [
        None,
        batch([7], pos=3),
        batch([7], pos=5),
        batch([7], pos=4, seq_ids=(0, 1)),
        batch([7] * 13, pos=4),
        batch([7], pos=4, seq_ids=(1, 0)),
    ],
    ids=["failure", "again", "gap", "shared", "too many", "shared the other way"],
)
def test_after_anything_else_nothing_is_sure(live: LiveSequence, other: Batch | None) -> None:
    ledger = LiveLedger(live)
    ledger.evaluated(other)
    shared = other is not None and int(other.n_seq_ids[0]) > 1 and int(other.seq_ids[0, 0]) == 0
    assert live.length == (5 if shared else 0), "a token that is in sequence 0 too follows on it"


def test_other_sequences_are_of_no_concern(live: LiveSequence) -> None:
    LiveLedger(live).evaluated(batch([7], pos=0, seq_ids=(1,)))
    assert live.length == 4


def test_scores_of_foreign_tokens_are_not_known(context: FakeContext) -> None:
    live = LiveSequence(context, scores=SimpleNamespace(record=lambda *_: None))  # type: ignore[arg-type]
    live.extend(as_tokens([1, 2]))
    LiveLedger(live).evaluated(batch([7], pos=2))
    assert live.length == 0


@pytest.mark.parametrize(("keep", "length"), [(0, 0), (2, 2), (4, 4), (9, 4)])
def test_what_is_kept(live: LiveSequence, keep: int, length: int) -> None:
    live.holder = object()
    LiveLedger(live).memory_changed(keep)
    assert (live.length, live.holder) == (length, None)


class TestTaking:
    """A turn finds out what became of memory."""

    def held(self, live: LiveSequence, tokens: list[int]) -> list[list[int]]:
        turns = Turns()
        del live.context.calls[:]  # type: ignore[attr-defined]
        with turns.blocking() as turn:
            live.hold(as_tokens(tokens), turn)
        calls: Any = live.context.calls  # type: ignore[attr-defined]
        return list(calls)

    def test_nothing_changed(self, live: LiveSequence) -> None:
        assert self.held(live, [1, 2, 3, 4, 5]) == [[5]]

    def test_memory_that_was_cut_where_the_ledger_was_told(self, live: LiveSequence, context: FakeContext) -> None:
        del context.cells[2:]
        live.distrust(2)
        assert self.held(live, [1, 2, 3, 4, 5]) == [[3, 4], [5]]

    @pytest.mark.parametrize("cells", [[1, 2], [1, 2, 3, 4, 5], []])
    def test_memory_that_was_changed_behind_its_back(self, live: LiveSequence, context: FakeContext, cells: list[int]) -> None:
        context.cells[:] = cells
        assert self.held(live, [1, 2, 3, 4, 5]) == [[1, 2, 3, 4], [5]]

    def test_memory_that_is_not_to_be_trusted(self, live: LiveSequence) -> None:
        live.distrust(0)
        assert self.held(live, [1, 2]) == [[1], [2]]
