"""Checkpoints of recurrent and sliding-window memory: how a sequence that cannot be cut goes back to an earlier place.

Owns which checkpoints there are, and which of them are still true. When one is made or used is decided by
`generation.live`; what happens to the memory it hears from the engine.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from llama_cpp._engine import logbridge
from llama_cpp._engine.changes import open_contexts
from llama_cpp._engine.context import Context
from llama_cpp._engine.errors import ClosedError, StateError
from llama_cpp._engine.state import ON_DEVICE, PARTIAL_ONLY

from .base import BaseLlamaCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Tokens = Sequence[int] | NDArray[np.integer[Any]]

MAX_CHECKPOINTS = 16
_DIGEST_BYTES = 16


@dataclass(frozen=True, eq=False)
class HybridCheckpoint:
    """The part of a sequence's memory that cannot be cut, as it was after `pos` tokens.

    Attributes:
        pos: How many tokens it stands behind.
        data: The native state; with an on-device cache, what says where it is on the device.
        hash_val: A digest of those tokens.
        size: Bytes of `data`.
        seq_id: The sequence.
        pos_min: The first position that memory held completely.
        pos_max: The last one.
    """

    pos: int
    data: bytes
    hash_val: int
    size: int
    seq_id: int
    pos_min: int = -1
    pos_max: int = -1


class HybridCheckpointCache(BaseLlamaCache):
    """Checkpoints of one context, the newest `max_checkpoints`. It is closed before the context is.

    With `on_device` the states stay in the context's buffers, where there is room for one per sequence: a later one,
    also of another cache, makes the former untrue. `context` is a `Llama`, or a context or its address.

    What changes a sequence's first `pos` positions makes its checkpoints untrue: removing, copying to, shifting or
    restoring them, and an evaluation that fails or is aborted. Untrue ones are dropped, and refused when restored.
    """

    def __init__(self, ctx: Any, max_checkpoints: int = MAX_CHECKPOINTS, on_device: bool = False, verbose: bool = False) -> None:
        if max_checkpoints < 0:
            raise ValueError(f"max_checkpoints must be 0 or more, not {max_checkpoints}")
        super().__init__(0)
        self._context: Context | None = _context(ctx)
        self.max_checkpoints = max_checkpoints
        self.on_device = on_device
        self.verbose = verbose
        self._checkpoints: list[HybridCheckpoint] = []
        self._flags = PARTIAL_ONLY | (ON_DEVICE if on_device else 0)
        self._context.changes.register(self)

    @property
    def checkpoints(self) -> list[HybridCheckpoint]:
        """Those that are true now, oldest first; a copy."""
        return list(self._checkpoints)

    @property
    def cache_size(self) -> int:
        """Bytes of the checkpoints in Python's memory; what lies on a device is not counted."""
        return sum(checkpoint.size for checkpoint in self._checkpoints)

    def find_best_checkpoint(self, tokens: Tokens, seq_id: int = 0) -> HybridCheckpoint | None:
        """The one that stands behind the most of the first of `tokens`."""
        mine = [each for each in self._checkpoints if each.seq_id == seq_id and each.pos <= len(tokens)]
        digests = _digests(tokens, {each.pos for each in mine})
        found = [each for each in mine if digests[each.pos] == each.hash_val]
        return max(found, key=lambda each: each.pos, default=None)

    def save_checkpoint(self, current_pos: int, tokens: Tokens, seq_id: int = 0) -> bool:
        """Save the state behind the first `current_pos` of `tokens`, which has to be where the sequence is now.

        False, with nothing changed, when it is not, or there is nothing to save.
        """
        context = self._owner()
        memory = context.memory
        if memory is None or not self.max_checkpoints or not 0 < current_pos <= len(tokens):
            return False
        if memory.pos_max(seq_id) + 1 != current_pos:
            return False
        (digest,) = _digests(tokens, {current_pos}).values()
        if any((each.pos, each.hash_val, each.seq_id) == (current_pos, digest, seq_id) for each in self._checkpoints):
            return True
        try:
            data = context.state.save_sequence(seq_id, self._flags)
        except StateError as error:
            self._say(f"no checkpoint at {current_pos}: {error}")
            return False
        made = HybridCheckpoint(
            pos=current_pos,
            data=data,
            hash_val=digest,
            size=len(data),
            seq_id=seq_id,
            pos_min=memory.pos_min(seq_id),
            pos_max=memory.pos_max(seq_id),
        )
        self._checkpoints.append(made)
        self._say(f"checkpoint at {current_pos} of sequence {seq_id}, {made.size} bytes")
        del self._checkpoints[: -self.max_checkpoints]
        return True

    def restore_checkpoint(self, cp: HybridCheckpoint, seq_id: int = 0) -> bool:
        """Bring the sequence back to the checkpoint: restore its state, and remove what attention holds after it.

        Later checkpoints of the sequence are dropped. False, with nothing changed, for one that is not true any more, or
        of another sequence; False, with the sequence emptied, when native code refuses the state.
        """
        context = self._owner()
        if cp.seq_id != seq_id or not any(each is cp for each in self._checkpoints):
            self._say("a checkpoint was refused: it is not true any more, or of another sequence")
            return False
        try:
            context.state.rewind(seq_id, cp.data, self._flags, cp.pos)
        except StateError as error:
            self._say(f"the checkpoint at {cp.pos} could not be restored: {error}")
            self.lost(0, seq_id)
            return False
        context.rows.none()
        return True

    def clear(self) -> None:
        """Drop all checkpoints."""
        self._checkpoints.clear()

    def close(self) -> None:
        """Drop all checkpoints, and use the context no more. Harmless when repeated."""
        self.clear()
        context, self._context = self._context, None
        if context is not None:
            context.changes.unregister(self)

    # ---- what the engine tells of the memory ------------------------------------------------------------------

    def lost(self, first: int, seq_id: int | None = None, *, spared: int | None = None) -> None:
        """Positions from `first` on are not what they were: checkpoints that stand behind one of them are dropped."""
        self._keep(each for each in self._checkpoints if each.pos <= first or each.seq_id == spared or seq_id not in {None, each.seq_id})

    def device_state_replaced(self, seq_id: int) -> None:
        """The device's place for a sequence holds something else from now on."""
        if self.on_device:
            self._keep(each for each in self._checkpoints if each.seq_id != seq_id)

    def _keep(self, kept: Iterable[HybridCheckpoint]) -> None:
        self._checkpoints = list(kept)

    # ---- a cache only by its base -----------------------------------------------------------------------------

    def __getitem__(self, key: Sequence[int]) -> NoReturn:
        """Not served: a checkpoint is no whole state."""
        raise NotImplementedError("checkpoints belong to a context's memory: use find_best_checkpoint and restore_checkpoint")

    def __contains__(self, key: Sequence[int]) -> NoReturn:
        """Not served: see `find_best_checkpoint`."""
        raise NotImplementedError("checkpoints belong to a context's memory: use find_best_checkpoint")

    def __setitem__(self, key: Sequence[int], value: object) -> NoReturn:
        """Not served: see `save_checkpoint`."""
        raise NotImplementedError("checkpoints belong to a context's memory: use save_checkpoint")

    def _owner(self) -> Context:
        if self._context is None or self._context.closed:
            raise ClosedError("this HybridCheckpointCache is closed, or its context is; create a new one")
        return self._context

    def _say(self, message: str) -> None:
        if self.verbose:
            logbridge.logger.info("HybridCheckpointCache: %s", message)


def _digests(tokens: Tokens, lengths: set[int]) -> dict[int, int]:
    """A digest of the first so many tokens, for each length; one pass over the tokens."""
    data = np.ascontiguousarray(tokens, np.int32)
    running = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    found, done = {}, 0
    for length in sorted(lengths):
        running.update(data[done:length].tobytes())
        done = length
        found[length] = int.from_bytes(running.copy().digest(), "little")
    return found


def _context(value: Any) -> Context:
    """The engine's context behind a `Llama`, a context, or a native address."""
    if isinstance(value, Context):
        return value
    address = getattr(value, "ctx", value)
    found = open_contexts.get(address) if isinstance(address, int) else None
    if found is None:
        raise TypeError(f"a checkpoint cache needs a Llama, or a context that this package made, not {value!r}")
    return found
