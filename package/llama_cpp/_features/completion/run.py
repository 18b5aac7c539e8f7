"""One completion from prompt to response: sampling, text assembly and limits, joined.

Each part is owned elsewhere: tokens by `generation.loop`, text by `text_assembly`, dicts by `responses`.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from llama_cpp._engine import logbridge
from llama_cpp._features.errors import ContextWindowError
from llama_cpp._features.generation.loop import generate
from llama_cpp._features.sampling.chain import build_chain, penalty_window

from .responses import ResponseShaper
from .text_assembly import TextAssembly

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from llama_cpp._features.generation.live import TokenArray
    from llama_cpp._features.generation.turns import Turn
    from llama_cpp._features.llama.runtime import Runtime
    from llama_cpp._features.types.completion import CompletionChunk, CreateCompletionResponse, FinishReason

    from .request import CompletionRequest


class CompletionRun:
    """A request that is ready to run, once: `whole()` or `stream()`.

    `owner` is whatever has to stay alive until the last chunk. Raises `ContextWindowError` for a prompt that
    leaves no room.
    """

    def __init__(self, owner: object, runtime: Runtime, request: CompletionRequest, prompt: TokenArray, *, echoed: str, model: str) -> None:
        self._owner = owner
        self._runtime = runtime
        self._request = request
        self._prompt = prompt
        self._echoed = echoed
        self._shaper = ResponseShaper(model)
        self._limit = _token_limit(request.max_tokens, len(prompt), runtime.live.capacity)
        self.finish_reason: FinishReason = "length"
        self.completion_tokens = 0

    def whole(self) -> CreateCompletionResponse:
        """Run to the end."""
        with self._runtime.turns.blocking() as turn:
            text = self._echoed + "".join(self._deltas(turn))
        return self._shaper.whole(text, self.finish_reason, prompt_tokens=len(self._prompt), completion_tokens=self.completion_tokens)

    def stream(self) -> Iterator[CompletionChunk]:
        """Run while the caller iterates. The turn is taken with the first chunk and ends with the iterator."""
        shape = self._shaper.chunk
        turn = self._runtime.turns.take()
        try:
            if self._echoed:
                yield shape(self._echoed)
            with closing(self._deltas(turn)) as deltas:
                for text in deltas:
                    yield shape(text)
            yield shape("", self.finish_reason)
        finally:
            turn.end()

    def _deltas(self, turn: Turn) -> Generator[str, None, None]:
        """The text of the completion as it becomes final. Cancellation ends it; other exceptions pass."""
        if not self._limit:
            return
        assembly = TextAssembly(self._request.stops)
        try:
            yield from self._generated(turn, assembly)
        except KeyboardInterrupt:
            turn.aborted = True
            if logbridge.get_verbosity() >= logbridge.INFO:
                logbridge.logger.info("generation cancelled by KeyboardInterrupt")
        rest = assembly.finish()
        if assembly.stopped:
            self.finish_reason = "stop"
        elif turn.aborted:
            self.finish_reason = "abort"
        if rest:
            yield rest

    def _generated(self, turn: Turn, assembly: TextAssembly) -> Generator[str, None, None]:
        runtime, params = self._runtime, self._request.sampling
        context, pieces, feed, limit = runtime.context, runtime.pieces, assembly.feed, self._limit
        seen = self._prompt[-(penalty_window(params, runtime.live.capacity) or 1) :]
        seed = runtime.seeds.resolve(params.seed)
        count = 0
        with build_chain(params, runtime.vocab, n_ctx=runtime.live.capacity, seed=seed, history=seen) as chain:
            tokens = generate(runtime.live, runtime.turns, turn, chain.bind(context), self._prompt)
            with closing(tokens):
                for token in tokens:
                    piece = pieces[token]
                    if piece is None:
                        self.finish_reason = "stop"
                        return
                    count += 1
                    self.completion_tokens = count
                    text = feed(piece)
                    if text:
                        yield text
                    if count == limit or assembly.stopped:
                        return


def _token_limit(max_tokens: int | None, prompt_tokens: int, capacity: int) -> int:
    """How many tokens may be generated: what is asked for, or what still fits in the context."""
    room = capacity - prompt_tokens
    if room <= 0:
        raise ContextWindowError(
            f"Requested tokens ({prompt_tokens}) exceed context window of {capacity}; shorten the prompt or use a larger n_ctx"
        )
    return room if max_tokens is None else min(max_tokens, room)
