"""A context without native code: its "logits" name one next token, a function of the tokens that memory holds."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import Self

from llama_cpp._engine.adapter import PLAIN
from llama_cpp._engine.errors import DecodeAborted
from llama_cpp._engine.outputs import OutputRows
from llama_cpp._features.generation.live import LiveSequence
from llama_cpp._features.generation.turns import Turns
from llama_cpp._features.sampling.seeds import SeedSource
from llama_cpp._features.tokenizer.pieces import TokenPieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

N_VOCAB = 97
END = 96


def next_token(tokens: Sequence[int]) -> int:
    value = 7
    for token in tokens:
        value = (value * 31 + int(token) + 1) % 1009
    return value % END


class FakeMemory:
    def __init__(self, context: FakeContext) -> None:
        self.context = context
        self.refuses_cuts = False
        self.first = 0

    def clear(self, *, data: bool = True) -> None:  # noqa: ARG002
        self.context.cells.clear()

    def remove(self, seq_id: int, p0: int = -1, p1: int = -1) -> bool:
        assert (seq_id, p1) == (0, -1)
        if self.refuses_cuts:
            return False
        del self.context.cells[p0:]
        return True

    def pos_min(self, seq_id: int = 0) -> int:  # noqa: ARG002
        return self.first if self.context.cells else -1

    def pos_max(self, seq_id: int = 0) -> int:  # noqa: ARG002
        return len(self.context.cells) - 1


class FakeContext:
    closed = False

    def __init__(self, *, n_ctx: int = 64, n_batch: int = 16, is_recurrent: bool = False, n_swa: int = 0) -> None:
        self.n_ctx_seq = n_ctx
        self.n_batch = n_batch
        self.n_vocab = N_VOCAB
        self.n_rs_seq = 0
        self.rows = OutputRows()
        self.model = SimpleNamespace(is_recurrent=is_recurrent, is_hybrid=False, n_swa=n_swa, has_encoder=False)
        self.adaptation: object = PLAIN
        self.cells: list[int] = []
        self.calls: list[list[int]] = []
        self.memory = FakeMemory(self)
        self.before_decode: Callable[[list[int]], None] = lambda _: None

    def adapt(self, adaptation: object) -> None:
        assert not self.cells, "what other adapters computed must be forgotten"
        self.adaptation = adaptation

    def _decode(self, tokens: list[int], pos: int) -> None:
        assert pos == len(self.cells), "positions must follow on"
        self.before_decode(tokens)
        self.cells += tokens
        self.calls.append(tokens)

    def decode_one(self, token: int, pos: int) -> None:
        self._decode([token], pos)

    def decode_chunks(self, tokens: Any, *, pos: int, outputs: str) -> Iterator[slice]:  # noqa: ARG002
        for begin in range(0, len(tokens), self.n_batch):
            end = min(begin + self.n_batch, len(tokens))
            self._decode([int(token) for token in tokens[begin:end]], pos + begin)
            yield slice(begin, end)

    def logits_rows(self) -> Any:
        return np.full((len(self.calls[-1]), N_VOCAB), len(self.cells), np.float32)

    def sample(self) -> int:
        return next_token(self.cells)


class FakeChain:
    """Samples what the context's tokens lead to, or from a script."""

    def __init__(self, context: FakeContext, script: Sequence[int] | None = None) -> None:
        self.context = context
        self.script = None if script is None else list(script)
        self.closed = False

    def bind(self, context: object) -> Callable[[], int]:
        return partial(self.sample, context)

    def sample(self, context: object) -> int:
        assert context is self.context
        if self.script is None:
            return self.context.sample()
        return self.script.pop(0) if self.script else END

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True


def fake_runtime(pieces: dict[int, bytes] | None = None, **options: Any) -> Any:
    context = FakeContext(**options)
    spelled = pieces or {}
    return SimpleNamespace(
        context=context,
        cache=None,
        model=context.model,
        live=LiveSequence(context),  # type: ignore[arg-type]
        turns=Turns(),
        pieces=TokenPieces(lambda token: spelled.get(token, b"<%d>" % token), lambda token: token == END),
        seeds=SeedSource(1),
        vocab=SimpleNamespace(n_tokens=N_VOCAB),
        adapters=SimpleNamespace(select=lambda *_: PLAIN),
    )


def abort_at(context: FakeContext, *, call: int, keep: int = 0) -> None:
    """Make the given call (counted from 0) fail as an aborted evaluation does, after `keep` of its tokens."""
    count = iter(range(1000))

    def before(tokens: list[int]) -> None:
        if next(count) == call:
            context.cells += tokens[:keep]
            raise DecodeAborted("evaluation was aborted (code 2)", code=2)

    context.before_decode = before
