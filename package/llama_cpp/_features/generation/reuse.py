"""What of a memory a new prompt can keep: one policy, for plain calls and for whatever comes out of a cache.

Pure: it knows the rules of each kind of memory and asks no native code, whose answers are not enough. llama.cpp removes
positions and reports success where the rest is no longer what evaluating it would give.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class MemoryKind:
    """How a context remembers.

    Attributes:
        recurrent: There is a state that each token changes and none can be taken out of, alone or beside attention.
        window: How many tokens back a sliding window sees; 0 without one.
        whole_window: Memory has room for all that has left the window too (`swa_full`). It loses some all the same: after a
            state was restored, native code writes new tokens over the first ones that no window sees.
        rollback: How many steps back the recurrent state is kept (`llama_n_rs_seq`); 0 for none.
    """

    recurrent: bool = False
    window: int = 0
    whole_window: bool = False
    rollback: int = 0

    @property
    def cuttable(self) -> bool:
        """Whether every tail can be cut off, whatever happened before."""
        return not self.recurrent and not self.window

    @property
    def needs_checkpoints(self) -> bool:
        """Whether going back is more often impossible than not."""
        return self.recurrent or (self.window > 0 and not self.whole_window)


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a sequence holds now.

    Attributes:
        length: Tokens, by the ledger of who evaluated them.
        first: The first position that memory has completely (`llama_memory_seq_pos_min`); -1 when it is empty.
        last: The last position; -1 when it is empty.
        newest: How many tokens the last evaluation added, all of them still there; 0 when that is not known.
    """

    length: int
    first: int = 0
    last: int
    newest: int = 0


@dataclass(frozen=True, kw_only=True)
class Reuse:
    """What to do before the rest of the prompt is evaluated.

    Attributes:
        keep: How many tokens of the prompt memory holds afterwards.
        restore: The state after them has to come from a checkpoint first.
    """

    keep: int
    restore: bool = False


NOTHING = Reuse(keep=0)


def can_cut(kind: MemoryKind, held: Held, keep: int) -> bool:
    """Whether memory, cut after `keep` tokens, is what evaluating those would give.

    A recurrent state goes back as many steps as are kept, and never before the tokens that were evaluated last, of
    which one has to remain. A sliding window that has lost its first tokens has lost what those after the cut would look
    at, unless it still holds a whole window before the cut.
    """
    if held.length - keep > (min(kind.rollback, held.newest - 1) if kind.recurrent else held.length):
        return False
    return not kind.window or held.first == 0 or 0 <= held.first <= keep - kind.window


def plan_reuse(kind: MemoryKind, held: Held, *, common: int, wanted: int, checkpoint: int = 0) -> Reuse:
    """What of memory serves a prompt of `wanted` tokens, the first `common` of which are those that memory holds.

    At least one token is left to evaluate: logits are no part of a memory. `checkpoint` is the longest part of the
    common tokens, short of the whole prompt, after which a state was saved. A memory that holds other positions than
    the ledger says was changed by someone else, and serves nothing.
    """
    usable = min(common, wanted - 1)
    if usable <= 0 or held.last + 1 != held.length:
        return NOTHING
    if usable >= held.length:
        return Reuse(keep=held.length)
    if can_cut(kind, held, usable):
        return Reuse(keep=usable)
    if 0 < checkpoint <= usable:
        return Reuse(keep=checkpoint, restore=True)
    return NOTHING


def whole_or_part(kind: MemoryKind, *, length: int, common: int, wanted: int) -> int:
    """How many tokens of a prompt are saved by loading a state of `length` tokens, the first `common` of which it begins with."""
    usable = min(common, wanted - 1)
    return usable if kind.cuttable or usable == length else 0
