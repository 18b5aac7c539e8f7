"""What a context's sequence 0 holds: a ledger of its tokens that is kept equal to native memory.

Owns evaluation, and carrying out what `reuse` plans for a common prefix. Which tokens, and what follows from their
logits, is decided by the callers, who hold the execution lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._engine.errors import ComputeError, DecodeAllocationError, StateError
from llama_cpp._features.errors import ContextWindowError, GenerationUnsupportedError

from .reuse import Held, MemoryKind, Reuse, can_cut, plan_reuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from llama_cpp._engine.batch import Outputs
    from llama_cpp._engine.context import Context
    from llama_cpp._engine.memory import Memory
    from llama_cpp._features.cache.checkpoints import HybridCheckpoint, HybridCheckpointCache

    from .scores import ScoreRows
    from .turns import Turn

    TokenArray = NDArray[np.intc]
    ScoreObserver = Callable[[int, NDArray[np.float32]], None]
    """Called with the position of the first token and the logits of as many tokens as there are rows."""


class LiveSequence:
    """The tokens in memory, in order: `ids[:length]`.

    `holder` is whoever last decided what memory holds: a suspended stream that finds another one there has to
    evaluate its own tokens again. `evaluated` counts all tokens ever evaluated. `checkpoints`, where there are any, are made
    while prompts are evaluated: at their ends, every `checkpoint_interval` tokens, and where a prompt parts from the one before.
    """

    def __init__(self, context: Context, *, swa_full: bool = True, scores: ScoreRows | None = None) -> None:
        self.context = context
        self.capacity = context.n_ctx_seq
        self.ids: TokenArray = np.zeros(self.capacity, np.intc)
        self.length = 0
        self.holder: object | None = None
        self.evaluated = 0
        self.scores = scores
        self.checkpoints: HybridCheckpointCache | None = None
        self.checkpoint_interval = 0
        model = context.model
        recurrent = model.is_recurrent or model.is_hybrid
        self.kind = MemoryKind(
            recurrent=recurrent, window=model.n_swa, whole_window=swa_full, rollback=context.n_rs_seq if recurrent else 0
        )
        self._batch = (0, 0)  # the tokens that the last evaluation of several added
        self._encoded: TokenArray | None = None
        self._written = 0  # how far `ids` is filled: memory may hold this much after an interruption

    @property
    def tokens(self) -> TokenArray:
        """A copy of the tokens that memory holds."""
        held: TokenArray = self.ids[: self.length].copy()
        return held

    @property
    def seen(self) -> TokenArray:
        """A read-only view of the tokens that memory holds, valid until the next evaluation."""
        view = self.ids[: self.length]
        view.flags.writeable = False
        return view

    def clear(self) -> None:
        """Forget all tokens."""
        self.length = self._written = 0
        self.context.rows.none()
        self._memory.clear(data=False)

    def take(self, turn: Turn) -> None:
        """Let `turn` decide what memory holds.

        What was evaluated with other adapters than its own, or for another input of the encoder, is forgotten; so is
        everything when memory holds more or less than is known here: programs may reach it by its address.
        """
        self.holder = turn
        if self._memory.pos_max(0) + 1 != self.length:
            self.clear()
        if turn.adaptation != self.context.adaptation:
            self.clear()
            self.context.adapt(turn.adaptation)
        if turn.encoded is not self._encoded:
            self.clear()
            if turn.encoded is not None:
                self.context.encode(turn.encoded)
            self._encoded = turn.encoded

    def distrust(self, keep: int) -> None:
        """Memory was changed by others: at most its first `keep` tokens are what they were. Streams begin anew."""
        self.length = self._written = min(self.length, keep)
        self.holder = None

    def follow(self, tokens: TokenArray) -> None:
        """Others evaluated these tokens right after those that memory held."""
        end = self.length + len(tokens)
        self.ids[self.length : end] = tokens
        self.length = self._written = end
        self.evaluated += len(tokens)
        self.holder = None

    def can_cut(self, keep: int) -> bool:
        """Whether the first `keep` tokens, alone, are what evaluating them would give."""
        return self._can_cut(keep)

    def hold(self, tokens: TokenArray, turn: Turn) -> None:
        """Make memory hold exactly `tokens` (at least one), evaluating what it lacks, and always the last one.

        The last one is evaluated alone: kernels for many tokens round differently from those for one, and the same
        prompt, of which memory then holds all but that token, has to give the same logits again. Stops early, with
        fewer tokens, when `turn` is aborted between two batches.
        """
        self._require_room(len(tokens))
        self.take(turn)
        last = len(tokens) - 1
        for stop in self._stops(self._reuse(tokens), last):
            if self.length < stop:
                self.extend(tokens[self.length : stop], turn, outputs="none")
            if self.length != stop:
                return
            if self.checkpoints is not None and stop:
                self.checkpoints.save_checkpoint(stop, tokens)
        self.step(int(tokens[last]))

    def _stops(self, parted: int, last: int) -> list[int]:
        """Where evaluating a prompt pauses: before its last token and, where checkpoints are made, at their places."""
        if self.checkpoints is None:
            return [last]
        every = self.checkpoint_interval
        regular = range(every, last, every) if every > 0 else ()
        return sorted({last, *(place for place in (parted, *regular) if self.length < place < last)})

    def reusable(self, tokens: TokenArray) -> int:
        """How many of `tokens` would not have to be evaluated if `hold` were asked for them now."""
        return self._plan(tokens, self._common_prefix(tokens))[0].keep

    def _plan(self, tokens: TokenArray, common: int) -> tuple[Reuse, HybridCheckpoint | None]:
        held, wanted = self._held(), len(tokens)
        plan, best = plan_reuse(self.kind, held, common=common, wanted=wanted), None
        if plan.keep < self.length and self.checkpoints is not None:
            best = self.checkpoints.find_best_checkpoint(tokens[: min(common, wanted - 1)])
            plan = plan_reuse(self.kind, held, common=common, wanted=wanted, checkpoint=best.pos if best else 0)
        return plan, best

    def _reuse(self, tokens: TokenArray) -> int:
        """Make memory hold a beginning of `tokens` as long as can be, short of all; returns how many it had in common."""
        common = self._common_prefix(tokens)
        plan, best = self._plan(tokens, common)
        if not plan.restore:
            self.cut(plan.keep)
        elif self.checkpoints is not None and best is not None and self.checkpoints.restore_checkpoint(best):
            self._shorten(best.pos)
        else:
            self.clear()
        return common

    def score(self, tokens: TokenArray, turn: Turn, observe: ScoreObserver) -> None:
        """Evaluate `tokens` from the start, whatever memory holds of them, and show their logits."""
        self._require_room(len(tokens))
        self.take(turn)
        self.cut(0)
        self.extend(tokens, turn, outputs="all", observe=observe)

    def extend(
        self, tokens: TokenArray, turn: Turn | None = None, *, outputs: Outputs = "last", observe: ScoreObserver | None = None
    ) -> None:
        """Evaluate tokens after those that memory holds; `observe` sees each row that `outputs` asks for."""
        start, end = self.length, self.length + len(tokens)
        self._require_room(end)
        self.ids[start:end] = tokens
        self._written = end
        for part in self.context.decode_chunks(tokens, pos=start, outputs="all" if self.scores else outputs):
            self.length = start + part.stop
            self._batch = (start + part.start, self.length)
            self.evaluated += part.stop - part.start
            if self.scores is not None:
                self.scores.record(start + part.start, self.context.logits_rows())
            if observe is not None:
                observe(start + part.start, self.context.logits_rows())
            if turn is not None and turn.aborted:
                return

    def step(self, token: int) -> None:
        """Evaluate one token after those that memory holds: the generation loop's path."""
        length = self.length
        if length >= self.capacity:
            self._require_room(length + 1)
        self.ids[length] = token
        self._written = length + 1
        self.context.decode_one(token, length)
        self.length = length + 1
        self.evaluated += 1
        if self.scores is not None:
            self.scores.record(length, self.context.logits_rows())

    def cut(self, keep: int) -> None:
        """Keep the first `keep` tokens, or none where memory cannot be cut there and stay right."""
        if keep >= self.length:
            return
        if keep > 0 and self._can_cut(keep) and self._memory.remove(0, keep, -1):
            self._shorten(keep)
        else:
            self.clear()

    def _held(self) -> Held:
        begin, end = self._batch
        newest = end - begin if end == self.length else 1
        return Held(length=self.length, first=self._memory.pos_min(0), last=self._memory.pos_max(0), newest=newest)

    def _can_cut(self, keep: int) -> bool:
        held = self._held()
        return held.last + 1 == held.length and can_cut(self.kind, held, keep)

    def _shorten(self, length: int) -> None:
        self.length = self._written = length
        self._batch = (0, 0)
        self.context.rows.none()

    def load(
        self,
        ids: TokenArray,
        native: bytes,
        *,
        logits: NDArray[np.float32] | None = None,
        rows: NDArray[np.float32] | None = None,
    ) -> None:
        """Hold what a native state of the whole context holds: `ids`, the last of which left `logits`.

        Raises `StateError`, with everything forgotten, when native code refuses the state, or it holds other positions.
        """
        try:
            self.context.state.restore(native)
        except BaseException:
            self.clear()
            raise
        held = self._memory.pos_max(0) + 1
        if held != len(ids):
            self.clear()
            raise StateError(f"the state holds {held} positions and not those of {len(ids)} tokens")
        self.ids[: len(ids)] = ids
        self._shorten(len(ids))
        if self.scores is not None and rows is not None:
            self.scores.record(0, rows)
        if logits is not None:
            self.context.rows.give(logits)

    def settle(self, error: BaseException | None = None) -> None:
        """After an interruption: bring the ledger and memory together again, by forgetting if nothing else is sure.

        Native code removes the positions of a micro-batch that it did not finish and leaves those before it
        (`llama_decode`), except in recurrent state, which cannot be trusted then.
        """
        if self.context.closed:
            self.length = self._written = 0
            return
        held = self._memory.pos_max(0) + 1
        failed = isinstance(error, ComputeError | DecodeAllocationError) or (self.kind.recurrent and self._written != self.length)
        if held == self.length and not failed:
            return
        if failed or not self.length <= held <= self._written:
            self.clear()
        else:
            self.length = held

    @property
    def _memory(self) -> Memory:
        memory = self.context.memory
        if memory is None:
            raise GenerationUnsupportedError("this model has no memory for generation; it computes embeddings only")
        return memory

    def _common_prefix(self, tokens: TokenArray) -> int:
        most = min(self.length, len(tokens))
        different = np.flatnonzero(self.ids[:most] != tokens[:most])
        return int(different[0]) if different.size else most

    def _require_room(self, count: int) -> None:
        if count > self.capacity:
            raise ContextWindowError(f"Requested tokens ({count}) exceed context window of {self.capacity}; use a larger n_ctx")


def as_tokens(tokens: Any) -> TokenArray:
    """Token ids as the array type that everything here works on; the caller's object is not kept."""
    return np.array(tokens, dtype=np.intc)
