"""One completion from prompt to response: sampling, text assembly and limits, joined.

Each part is owned elsewhere: tokens by `generation.loop`, text by `text_assembly`, dicts by `responses`.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from llama_cpp._engine import logbridge
from llama_cpp._features.cache.requests import recall, remember
from llama_cpp._features.errors import ContextWindowError
from llama_cpp._features.generation.decoder_start import begin
from llama_cpp._features.generation.loop import generate
from llama_cpp._features.sampling.chain import build_chain
from llama_cpp._features.sampling.logprobs import LogprobRecorder, TokenLogprobs
from llama_cpp._features.sampling.steps import Steps

from .logprob_text import LogprobText, joined
from .responses import ResponseShaper
from .text_assembly import TextAssembly

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from llama_cpp._engine.sampler import SamplerChain
    from llama_cpp._features.generation.live import TokenArray
    from llama_cpp._features.generation.turns import Turn
    from llama_cpp._features.llama.runtime import Runtime
    from llama_cpp._features.tokenizer.pieces import TokenPieces
    from llama_cpp._features.types.completion import CompletionChunk, CompletionLogprobs, CreateCompletionResponse, FinishReason

    from .request import CompletionRequest


class Prompt(NamedTuple):
    """What is evaluated, and what stands around the completion's own text in the answer."""

    tokens: TokenArray
    echoed: str = ""
    length: int = 0
    """Characters of the prompt, echoed or not: where the completion's text begins."""
    appended: str = ""


class Delta(NamedTuple):
    """A piece of the answer that is final; its log-probabilities as the run's `LogprobText` shapes them."""

    text: str
    logprobs: Any = None


class CompletionRun:
    """A request that is ready to run, once: `whole()` or `stream()`.

    `owner` is whatever has to stay alive until the last chunk. `pieces` gives the bytes of tokens, by default those of
    ordinary ones only. Raises `ContextWindowError` for a prompt that leaves no room.
    """

    def __init__(
        self,
        owner: object,
        runtime: Runtime,
        request: CompletionRequest,
        prompt: Prompt,
        *,
        model: str,
        pieces: TokenPieces | None = None,
        logprob_text: type[LogprobText] = LogprobText,
    ) -> None:
        self._owner = owner
        self._runtime = runtime
        self._request = request
        self._prompt = prompt
        self._shaper = ResponseShaper(model)
        self._pieces = runtime.pieces if pieces is None else pieces
        self._logprob_text = logprob_text
        held = 1 if runtime.model.has_encoder else len(prompt.tokens)
        self._limit = _token_limit(request.max_tokens, held, runtime.live.capacity)
        self._adaptation = runtime.adapters.select(request.active_loras, request.control_vector)
        self._recorder = None if request.logprobs is None else LogprobRecorder(request.logprobs, runtime.vocab.n_tokens)
        self.finish_reason: FinishReason = "length"
        self.completion_tokens = 0

    def whole(self) -> CreateCompletionResponse:
        """Run to the end."""
        deltas = self.answer()
        return self._shaper.whole(
            "".join(delta.text for delta in deltas),
            self.finish_reason,
            joined([delta.logprobs for delta in deltas if delta.logprobs]),
            prompt_tokens=len(self._prompt.tokens),
            completion_tokens=self.completion_tokens,
        )

    def stream(self) -> Iterator[CompletionChunk]:
        """Run while the caller iterates. The turn is taken with the first chunk and ends with the iterator."""
        shape = self._shaper.chunk
        with closing(self.deltas()) as deltas:
            for text, logprobs in deltas:
                yield shape(text, None, logprobs)
            yield shape("", self.finish_reason)

    def answer(self) -> list[Delta]:
        """Run to the end, without the shape of a response."""
        with self._runtime.turns.blocking() as turn:
            return list(self._deltas(turn))

    def deltas(self) -> Generator[Delta, None, None]:
        """Run while the caller iterates, without the shape of a response. The turn is as for `stream`."""
        turn = self._runtime.turns.take()
        try:
            with closing(self._deltas(turn)) as deltas:
                yield from deltas
        finally:
            turn.end()

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompt."""
        return len(self._prompt.tokens)

    def _deltas(self, turn: Turn) -> Generator[Delta, None, None]:
        """The answer's text as it becomes final. Cancellation ends it; other exceptions pass."""
        prompt, turn.adaptation = self._prompt, self._adaptation
        if prompt.echoed:
            yield Delta(prompt.echoed, self._score_prompt(turn, self._recorder) if self._recorder is not None else None)
        if self._limit:
            yield from self._completion(turn)
        if prompt.appended:
            yield Delta(prompt.appended)

    def _completion(self, turn: Turn) -> Generator[Delta, None, None]:
        assembly = TextAssembly(self._request.stops)
        start = 0 if self._recorder is None else len(self._prompt.echoed) or self._prompt.length
        tokens = self._logprob_text(self._pieces.__getitem__, start=start)
        shown = start
        try:
            for text in self._generated(turn, assembly, tokens.add):
                shown += len(text)
                yield Delta(text, tokens.take(shown) if self._recorder is not None else None)
        except KeyboardInterrupt:
            turn.aborted = True
            if logbridge.get_verbosity() >= logbridge.INFO:
                logbridge.logger.info("generation cancelled by KeyboardInterrupt")
        if self._runtime.cache is not None:
            with self._runtime.turns.executing:
                remember(self._runtime.cache, self._runtime.live, turn, seed=self._runtime.seeds.current)
        rest = assembly.finish()
        if assembly.stopped:
            self.finish_reason = "stop"
        elif turn.aborted:
            self.finish_reason = "abort"
        logprobs = tokens.take(shown + len(rest) if assembly.stopped else None)
        if rest or logprobs:
            yield Delta(rest, logprobs)

    def _generated(self, turn: Turn, assembly: TextAssembly, record: Callable[[TokenLogprobs], None]) -> Generator[str, None, None]:
        runtime, params, recorder = self._runtime, self._request.sampling, self._recorder
        pieces, feed, limit = self._pieces, assembly.feed, self._limit
        seed, prompt = runtime.seeds.resolve(params.seed), self._prompt.tokens
        count = 0
        with build_chain(params, runtime.vocab, n_ctx=runtime.live.capacity, seed=seed, history=prompt) as chain:
            if self._request.grammar is not None:
                self._request.grammar.constrain(chain, runtime.vocab, lazy=self._request.grammar_lazy)
            sample, start = self._sampler(chain), begin(runtime.context, turn, prompt)
            if runtime.cache is not None:
                with runtime.turns.executing:
                    recall(runtime.cache, runtime.live, turn, start)
            with closing(generate(runtime.live, runtime.turns, turn, sample, start)) as tokens:
                for token in tokens:
                    piece = pieces[token]
                    if piece is None:
                        self.finish_reason = "stop"
                        return
                    count += 1
                    self.completion_tokens = count
                    if recorder is not None and recorder.latest is not None:
                        record(recorder.latest)
                    text = feed(piece)
                    if text:
                        yield text
                    if count == limit or assembly.stopped:
                        return
            if isinstance(sample, Steps) and sample.ended:
                self.finish_reason = "stop"

    def _sampler(self, chain: SamplerChain) -> Callable[[], int]:
        """The chain alone, or with what Python has to say in each step."""
        request, runtime = self._request, self._runtime
        if not (request.participants.present or self._recorder):
            return chain.bind(runtime.context)
        live = runtime.live
        return Steps(runtime.context, chain, lambda: live.seen, request.participants, recorder=self._recorder)

    def _score_prompt(self, turn: Turn, recorder: LogprobRecorder) -> CompletionLogprobs | None:
        """The log-probabilities of the prompt's own tokens; an encoder gives its input none."""
        if self._runtime.model.has_encoder:
            return None
        runtime, prompt = self._runtime, self._prompt.tokens
        skipped = int(prompt[0] == runtime.vocab.bos)
        scored: list[TokenLogprobs] = []

        def observe(first: int, rows: NDArray[np.float32]) -> None:
            scored.extend(recorder.read(row, int(prompt[first + index + 1])) for index, row in enumerate(rows))

        with runtime.turns.executing:
            if len(prompt) > 1:
                runtime.live.score(prompt[:-1], turn, observe)
        text = LogprobText(lambda token: runtime.vocab.piece(token, special=True), start=0)
        first = TokenLogprobs(token=int(prompt[skipped]), logprob=None, top=()) if len(prompt) > skipped else None
        for entry in ([first] if first else []) + scored[skipped:]:
            text.add(entry)
        logprobs: CompletionLogprobs | None = text.take()
        return logprobs


def _token_limit(max_tokens: int | None, prompt_tokens: int, capacity: int) -> int:
    """How many tokens may be generated: what is asked for, or what still fits in the context."""
    room = capacity - prompt_tokens
    if room <= 0:
        raise ContextWindowError(
            f"Requested tokens ({prompt_tokens}) exceed context window of {capacity}; shorten the prompt or use a larger n_ctx"
        )
    return room if max_tokens is None else min(max_tokens, room)
