"""What a context's sequence 0 holds: a ledger of its tokens that is kept equal to native memory.

Owns evaluation, reuse of a common prefix, and the rules for when a memory can be cut. Which tokens, and what
follows from their logits, is decided by the callers, who hold the execution lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._engine.errors import ComputeError, DecodeAllocationError
from llama_cpp._features.errors import ContextWindowError, GenerationUnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from llama_cpp._engine.batch import Outputs
    from llama_cpp._engine.context import Context
    from llama_cpp._engine.memory import Memory

    from .scores import ScoreRows
    from .turns import Turn

    TokenArray = NDArray[np.intc]
    ScoreObserver = Callable[[int, NDArray[np.float32]], None]
    """Called with the position of the first token and the logits of as many tokens as there are rows."""


class LiveSequence:
    """The tokens in memory, in order: `ids[:length]`.

    `holder` is whoever last decided what memory holds: a suspended stream that finds another one there has to
    evaluate its own tokens again. `evaluated` counts all tokens ever evaluated.
    """

    def __init__(self, context: Context, *, swa_full: bool = True, scores: ScoreRows | None = None) -> None:
        self.context = context
        self.capacity = context.n_ctx_seq
        self.ids: TokenArray = np.zeros(self.capacity, np.intc)
        self.length = 0
        self.holder: object | None = None
        self.evaluated = 0
        self.scores = scores
        model = context.model
        self._recurrent = model.is_recurrent or model.is_hybrid
        self._window = 0 if swa_full else model.n_swa
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
        self._memory.clear(data=False)

    def take(self, turn: Turn) -> None:
        """Let `turn` decide what memory holds.

        What was evaluated with other adapters than its own, or for another input of the encoder, is forgotten.
        """
        self.holder = turn
        if turn.adaptation != self.context.adaptation:
            self.clear()
            self.context.adapt(turn.adaptation)
        if turn.encoded is not self._encoded:
            self.clear()
            if turn.encoded is not None:
                self.context.encode(turn.encoded)
            self._encoded = turn.encoded

    def hold(self, tokens: TokenArray, turn: Turn) -> None:
        """Make memory hold exactly `tokens` (at least one), evaluating what it lacks, and always the last one.

        The last one is evaluated alone: kernels for many tokens round differently from those for one, and the same
        prompt, of which memory then holds all but that token, has to give the same logits again. Stops early, with
        fewer tokens, when `turn` is aborted between two batches.
        """
        self._require_room(len(tokens))
        self.take(turn)
        last = len(tokens) - 1
        self.cut(min(self._common_prefix(tokens), last))
        if self.length < last:
            self.extend(tokens[self.length : last], turn, outputs="none")
        if self.length == last:
            self.step(int(tokens[last]))

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
            self.length = self._written = keep
        else:
            self.clear()

    def settle(self, error: BaseException | None = None) -> None:
        """After an interruption: bring the ledger and memory together again, by forgetting if nothing else is sure.

        Native code removes the positions of a micro-batch that it did not finish and leaves those before it
        (`llama_decode`), except in recurrent state, which cannot be trusted then.
        """
        if self.context.closed:
            self.length = self._written = 0
            return
        held = self._memory.pos_max(0) + 1
        failed = isinstance(error, ComputeError | DecodeAllocationError)
        if held == self.length and not failed:
            return
        if failed or self._recurrent or not self.length <= held <= self._written:
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

    def _can_cut(self, keep: int) -> bool:
        """Whether what remains is what evaluating it would give: native code's own answer is not enough.

        Recurrent state cannot go back. A sliding window that is not kept in full has lost the cells that the
        tokens after the cut would look at, unless it still holds a whole window before the cut.
        """
        if self._recurrent:
            return False
        if not self._window:
            return True
        first = self._memory.pos_min(0)
        return first == 0 or 0 <= first <= keep - self._window

    def _require_room(self, count: int) -> None:
        if count > self.capacity:
            raise ContextWindowError(f"Requested tokens ({count}) exceed context window of {self.capacity}; use a larger n_ctx")


def as_tokens(tokens: Any) -> TokenArray:
    """Token ids as the array type that everything here works on; the caller's object is not kept."""
    return np.array(tokens, dtype=np.intc)
