"""The policy as a table: kinds of memory, what they hold, what is asked for, and what can be kept."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.generation.reuse import NOTHING, Held, MemoryKind, Reuse, can_cut, plan_reuse, whole_or_part

PLAIN = MemoryKind()
RECURRENT = MemoryKind(recurrent=True)
ROLLING = MemoryKind(recurrent=True, rollback=4)
WINDOW = MemoryKind(window=32)
ROOMY = MemoryKind(window=32, whole_window=True)
BOTH = MemoryKind(recurrent=True, window=32)


def held(length: int, **other: Any) -> Held:
    return Held(**{"length": length, "first": 0, "last": length - 1, **other})


@pytest.mark.parametrize(
    ("kind", "memory", "asked", "plan"),
    [
        # nothing to keep
        (PLAIN, held(0), {"common": 0, "wanted": 5}, NOTHING),
        (PLAIN, held(10), {"common": 0, "wanted": 5}, NOTHING),
        (PLAIN, held(10), {"common": 1, "wanted": 1}, NOTHING),
        # going on needs no cut, whatever the kind
        (PLAIN, held(10), {"common": 10, "wanted": 15}, Reuse(keep=10)),
        (RECURRENT, held(10, first=9), {"common": 10, "wanted": 11}, Reuse(keep=10)),
        (WINDOW, held(100, first=60), {"common": 100, "wanted": 101}, Reuse(keep=100)),
        # the same again: the last token is evaluated anew
        (PLAIN, held(10), {"common": 10, "wanted": 10}, Reuse(keep=9)),
        (RECURRENT, held(10, first=9), {"common": 10, "wanted": 10}, NOTHING),
        (RECURRENT, held(10, first=9), {"common": 10, "wanted": 10, "checkpoint": 9}, Reuse(keep=9, restore=True)),
        # a fork
        (PLAIN, held(10), {"common": 4, "wanted": 9}, Reuse(keep=4)),
        (RECURRENT, held(10, first=9), {"common": 4, "wanted": 9}, NOTHING),
        (RECURRENT, held(10, first=9), {"common": 4, "wanted": 9, "checkpoint": 3}, Reuse(keep=3, restore=True)),
        (RECURRENT, held(10, first=9), {"common": 4, "wanted": 9, "checkpoint": 5}, NOTHING),
        # states that are kept for so many steps back
        (ROLLING, held(10, first=9, newest=8), {"common": 6, "wanted": 20}, Reuse(keep=6)),
        (ROLLING, held(10, first=9, newest=8), {"common": 5, "wanted": 20}, NOTHING),
        (ROLLING, held(10, first=9, newest=3), {"common": 8, "wanted": 20}, Reuse(keep=8)),
        (ROLLING, held(10, first=9, newest=3), {"common": 7, "wanted": 20}, NOTHING),
        (ROLLING, held(10, first=9, newest=1), {"common": 9, "wanted": 20}, NOTHING),
        (ROLLING, held(10, first=9, newest=0), {"common": 9, "wanted": 20}, NOTHING),
        (ROLLING, held(10, first=9, newest=3), {"common": 7, "wanted": 20, "checkpoint": 6}, Reuse(keep=6, restore=True)),
        # a window that is not kept in full
        (WINDOW, held(100, first=0), {"common": 3, "wanted": 20}, Reuse(keep=3)),
        (WINDOW, held(100, first=40), {"common": 72, "wanted": 90}, Reuse(keep=72)),
        (WINDOW, held(100, first=40), {"common": 71, "wanted": 90}, NOTHING),
        (WINDOW, held(100, first=40), {"common": 71, "wanted": 90, "checkpoint": 64}, Reuse(keep=64, restore=True)),
        (WINDOW, held(100, first=-1), {"common": 99, "wanted": 120}, NOTHING),
        (ROOMY, held(100, first=0), {"common": 3, "wanted": 20}, Reuse(keep=3)),
        (ROOMY, held(100, first=10), {"common": 30, "wanted": 60}, NOTHING),
        (BOTH, held(100, first=99), {"common": 99, "wanted": 120}, NOTHING),
        # someone else changed the memory
        (PLAIN, held(10, last=7), {"common": 10, "wanted": 15}, NOTHING),
        (PLAIN, held(10, last=12), {"common": 4, "wanted": 15}, NOTHING),
        (PLAIN, held(10, last=-1), {"common": 4, "wanted": 15}, NOTHING),
        (RECURRENT, held(10, last=7), {"common": 10, "wanted": 15, "checkpoint": 5}, NOTHING),
    ],
)
def test_the_table(kind: MemoryKind, memory: Held, asked: dict[str, int], plan: Reuse) -> None:
    assert plan_reuse(kind, memory, **asked) == plan


KINDS = st.builds(
    MemoryKind, recurrent=st.booleans(), window=st.sampled_from([0, 8]), whole_window=st.booleans(), rollback=st.integers(0, 5)
)


@given(KINDS, st.data())
def test_what_holds_for_every_plan(kind: MemoryKind, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, 40))
    memory = held(length, first=data.draw(st.integers(-1, 40)), newest=data.draw(st.integers(0, length)))
    common, wanted = data.draw(st.integers(0, length)), data.draw(st.integers(1, 50))
    checkpoint = data.draw(st.integers(0, 40))
    plan = plan_reuse(kind, memory, common=min(common, wanted), wanted=wanted, checkpoint=checkpoint)
    assert 0 <= plan.keep <= min(common, wanted - 1), "kept tokens are the prompt's, and one is left to evaluate"
    if plan.restore:
        assert plan.keep == checkpoint
    elif 0 < plan.keep < length:
        assert can_cut(kind, memory, plan.keep)


def test_only_plain_memory_is_cut_anywhere() -> None:
    assert PLAIN.cuttable
    assert not any(kind.cuttable for kind in (RECURRENT, ROLLING, WINDOW, ROOMY, BOTH))
    assert [kind.needs_checkpoints for kind in (PLAIN, ROOMY, RECURRENT, WINDOW, BOTH)] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("kind", "asked", "saved"),
    [
        (PLAIN, {"length": 10, "common": 4, "wanted": 20}, 4),
        (PLAIN, {"length": 10, "common": 10, "wanted": 10}, 9),
        (RECURRENT, {"length": 10, "common": 4, "wanted": 20}, 0),
        (RECURRENT, {"length": 10, "common": 10, "wanted": 20}, 10),
        (RECURRENT, {"length": 10, "common": 10, "wanted": 10}, 0),
        (WINDOW, {"length": 10, "common": 9, "wanted": 20}, 0),
    ],
)
def test_what_a_loaded_state_saves(kind: MemoryKind, asked: dict[str, int], saved: int) -> None:
    assert whole_or_part(kind, **asked) == saved
