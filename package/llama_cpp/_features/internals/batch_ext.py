"""`LlamaBatchExt`: a batch that entries are added to one by one, for `LlamaContext.process`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._engine.batch_ext import BatchExt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from .context import LlamaContext


class LlamaBatchExt:
    """A native `llama_batch_ext` of one context, freed by `close()` or with the context."""

    def __init__(self, context: LlamaContext) -> None:
        self.engine = BatchExt(context.engine)

    @property
    def batch(self) -> int:
        """The address of the native batch."""
        return self.engine.pointer

    def n_tokens(self) -> int:
        """How many entries there are."""
        return len(self.engine)

    def capacity(self) -> int:
        """How many entries fit."""
        return self.engine.capacity

    def clear(self) -> None:
        """Forget the entries."""
        self.engine.clear()

    def add_token(self, token: int, seq_ids: Sequence[int] = (0,), pos: Sequence[int] | int | None = None, logits: bool = False) -> int:
        """Append a token; returns its index. Without `pos` it follows on what the sequence holds and what was added."""
        return self.engine.add_token(token, seq_ids, pos=pos, output=logits)

    def add_embedding(
        self, embedding: ArrayLike, seq_ids: Sequence[int] = (0,), pos: Sequence[int] | int | None = None, logits: bool = False
    ) -> int:
        """Append an embedding; returns its index. `pos` may have the four numbers of M-RoPE."""
        return self.engine.add_embedding(embedding, seq_ids, pos=pos, output=logits)

    def set_output(self, index: int, value: bool = True) -> None:
        """Whether an entry leaves logits or an embedding."""
        self.engine.set_output(index, value)

    def close(self) -> None:
        """Free the batch."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
