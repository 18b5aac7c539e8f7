"""The part of `Llama` that completes text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._engine.errors import DecodeAborted
from llama_cpp._features.cache.requests import recall
from llama_cpp._features.completion.request import CompletionRequest
from llama_cpp._features.completion.run import CompletionRun, Prompt
from llama_cpp._features.errors import EmptyPromptError
from llama_cpp._features.generation.decoder_start import begin
from llama_cpp._features.generation.live import as_tokens
from llama_cpp._features.generation.prefill import PrefillResult
from llama_cpp._features.sampling.defaults import (
    MIN_P,
    MIROSTAT_ETA,
    MIROSTAT_MODE,
    MIROSTAT_TAU,
    PENALTY_LAST_N,
    REPEAT_PENALTY,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    XTC_PROBABILITY,
    XTC_THRESHOLD,
)  # fmt: skip
from llama_cpp._features.sampling.parameters import DRY_SEQUENCE_BREAKERS

from .core import LlamaCore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from llama_cpp._features.generation.live import TokenArray
    from llama_cpp._features.sampling.callbacks import LogitsProcessors, StoppingCriterions
    from llama_cpp._features.types.completion import CompletionChunk, CreateCompletionResponse


class CompletionMethods(LlamaCore):
    """`create_completion`, and calling the object, which is the same with a larger default of `max_tokens`."""

    # fmt: off
    def create_completion(  # noqa: PLR0917, D417 - positional in both lineages; related arguments are described together
        self, prompt: str | Sequence[int], suffix: str | None = None, max_tokens: int | None = 16, temperature: float = TEMPERATURE,
        top_p: float = TOP_P, min_p: float = MIN_P, typical_p: float = 1.0, logprobs: int | None = None, echo: bool = False,
        stop: str | Sequence[str] | None = (), frequency_penalty: float = 0.0, present_penalty: float = 0.0,
        repeat_penalty: float = REPEAT_PENALTY, penalty_last_n: int = PENALTY_LAST_N, top_k: int = TOP_K, top_n_sigma: float = -1.0,
        stream: bool = False, seed: int | None = None, mirostat_mode: int = MIROSTAT_MODE, mirostat_tau: float = MIROSTAT_TAU,
        mirostat_eta: float = MIROSTAT_ETA, dynatemp_range: float = 0.0, dynatemp_exponent: float = 1.0, min_keep: int = 0,
        xtc_threshold: float = XTC_THRESHOLD, xtc_probability: float = XTC_PROBABILITY, dry_multiplier: float = 0.0,
        dry_base: float = 1.75, dry_allowed_length: int = 2, dry_penalty_last_n: int = 64,
        dry_seq_breakers: Sequence[str] = DRY_SEQUENCE_BREAKERS, adaptive_target: float = -1.0,
        adaptive_decay: float = 0.9, use_infill: bool = False, model: str | None = None,
        stopping_criteria: StoppingCriterions = None,
        logit_bias: Mapping[int, float] | None = None,
        logits_processor: LogitsProcessors = None, grammar: Any = None, grammar_lazy: bool = False,
        active_loras: Any = None, control_vector: Any = None, reasoning_budget: int = -1, reasoning_start: str = "<think>",
        reasoning_end: str = "</think>", reasoning_budget_message: str | None = None, reasoning_start_in_prompt: bool = False,
        reasoning_start_max_tokens: int = 32, ignore_eos: bool = False, presence_penalty: float = 0.0, tfs_z: float = 1.0,
    ) -> CreateCompletionResponse | Iterator[CompletionChunk]:
        # fmt: on
        """Continue a prompt.

        Args:
            prompt: Text, in which names of control tokens count as such and before which BOS is put where the model
                asks for it; or token ids, taken as they are. What the context already holds of it is not evaluated again.
            suffix: What follows the gap to be filled, for models that know fill-in-the-middle (`use_infill` adds llama.cpp's
                sampler for it); for others it is put after the text.
            max_tokens: At most so many tokens; None or a negative number goes on to the end of the context.
            temperature: 0 (or `top_k` 1) always takes the likeliest token. With `dynatemp_range` > 0 it follows the entropy,
                in temperature - range to temperature + range, curved by `dynatemp_exponent`.
            top_k: Keeps the k likeliest tokens; 0 keeps all.
            top_p: Keeps the likeliest tokens that together reach this probability; 1 keeps all.
            min_p: Drops tokens less likely than this fraction of the likeliest; 0 drops none.
            typical_p: Locally typical sampling; 1 is off.
            top_n_sigma: Keeps logits within so many standard deviations of the highest; 0 or less is off.
            min_keep: The filters by probability leave at least so many tokens.
            xtc_probability: How often all but the least likely of the tokens above `xtc_threshold` are excluded.
            logprobs: Answer with the log-probability of each token, and of so many of the likeliest beside it, as the
                model has them before any sampler. With `echo` the prompt's tokens have theirs too.
            echo: Put the prompt before the completion.
            stop: The text ends before the first place where one of these begins.
            frequency_penalty: Per earlier occurrence; `present_penalty` (or `presence_penalty`) once; `repeat_penalty`
                divides. All look at the last `penalty_last_n` tokens, prompt included (-1: the whole context); left alone,
                the constructor's `last_n_tokens_size` is the window.
            dry_multiplier: Penalizes what would repeat a sequence longer than `dry_allowed_length`, by the multiplier times
                `dry_base` to the power of the excess; sequences end at `dry_seq_breakers`.
            mirostat_mode: 1 or 2 aims at the surprise `mirostat_tau` with the learning rate `mirostat_eta`, in place of the filters.
            adaptive_target: 0 to 1 aims at this probability of the chosen tokens over time, averaged with `adaptive_decay`.
            stream: Return an iterator of chunks; the last one has no text and says why it ended.
            seed: The same seed repeats; None is another one every time.
            model: The name to answer with; the model's path by default.
            stopping_criteria: Called with the token ids so far and the next token's logits; True ends the completion.
            logit_bias: Added to the logits of single tokens; -inf forbids one. `ignore_eos` forbids all that end a text.
            logits_processor: Called in turn with the token ids so far (read-only) and the logits, float32 of shape
                (n_vocab,), which it changes in place or returns anew. Its exceptions end the completion.

        What is left alone takes the values that the model's file recommends (`general.sampling.*`), where it has any.

        Returns:
            A response with usage, or an iterator of chunks. `finish_reason` is "stop" (the model or a stop string ended
            it), "length", or "abort" (`abort()` or Ctrl-C).

        Raises:
            ContextWindowError: The prompt leaves no room in the context (a ValueError).
            FeatureUnavailableError: An argument asks for what this version does not serve (a NotImplementedError).
        """
        return self._complete(locals())

    # fmt: off
    def __call__(  # noqa: PLR0917 - as above
        self, prompt: str | Sequence[int], suffix: str | None = None, max_tokens: int | None = 128, temperature: float = TEMPERATURE,
        top_p: float = TOP_P, min_p: float = MIN_P, typical_p: float = 1.0, logprobs: int | None = None, echo: bool = False,
        stop: str | Sequence[str] | None = (), frequency_penalty: float = 0.0, present_penalty: float = 0.0,
        repeat_penalty: float = REPEAT_PENALTY, penalty_last_n: int = PENALTY_LAST_N, top_k: int = TOP_K, top_n_sigma: float = -1.0,
        stream: bool = False, seed: int | None = None, mirostat_mode: int = MIROSTAT_MODE, mirostat_tau: float = MIROSTAT_TAU,
        mirostat_eta: float = MIROSTAT_ETA, dynatemp_range: float = 0.0, dynatemp_exponent: float = 1.0, min_keep: int = 0,
        xtc_threshold: float = XTC_THRESHOLD, xtc_probability: float = XTC_PROBABILITY, dry_multiplier: float = 0.0,
        dry_base: float = 1.75, dry_allowed_length: int = 2, dry_penalty_last_n: int = 64,
        dry_seq_breakers: Sequence[str] = DRY_SEQUENCE_BREAKERS, adaptive_target: float = -1.0,
        adaptive_decay: float = 0.9, use_infill: bool = False, model: str | None = None,
        stopping_criteria: StoppingCriterions = None,
        logit_bias: Mapping[int, float] | None = None,
        logits_processor: LogitsProcessors = None, grammar: Any = None, grammar_lazy: bool = False,
        active_loras: Any = None, control_vector: Any = None, reasoning_budget: int = -1, reasoning_start: str = "<think>",
        reasoning_end: str = "</think>", reasoning_budget_message: str | None = None, reasoning_start_in_prompt: bool = False,
        reasoning_start_max_tokens: int = 32, ignore_eos: bool = False, presence_penalty: float = 0.0, tfs_z: float = 1.0,
    ) -> CreateCompletionResponse | Iterator[CompletionChunk]:
        # fmt: on
        """The same as `create_completion`, which describes the arguments; `max_tokens` is 128 by default."""
        return self._complete(locals())

    def prefill(
        self,
        prompt: str | Sequence[int],
        *,
        add_bos: bool = True,
        reset: bool = True,
        special: bool = True,
        active_loras: Any = None,
        control_vector: Any = None,
    ) -> PrefillResult:
        """Evaluate a prompt and generate nothing: a request that begins with it then evaluates only what it adds.

        Args:
            prompt: Text or token ids.
            add_bos: Put BOS before a text where the model asks for it.
            reset: The prompt is all that the context shall hold, of which it may hold a beginning already; without it the
                prompt follows what the context holds.
            special: Names of control tokens in a text count as such.
            active_loras: As for `create_completion`.
            control_vector: As for `create_completion`.

        Raises `ContextWindowError` when it does not fit, `EmptyPromptError` when there is no token, `DecodeAborted` after
        `abort()`.
        """
        runtime = self._runtime
        live, vocab = runtime.live, runtime.vocab
        tokens = self.tokenizer_.tokenize(prompt.encode(), add_bos=add_bos, special=special) if isinstance(prompt, str) else list(prompt)
        with runtime.turns.blocking() as turn:
            turn.adaptation = runtime.adapters.select(active_loras, control_vector)
            wanted = as_tokens(vocab.check_all(tokens))
            if not reset:
                wanted = np.concatenate((live.tokens, wanted))
            if not len(wanted):
                raise EmptyPromptError("there is nothing to evaluate; give at least one token")
            before = live.evaluated
            try:
                start = begin(runtime.context, turn, wanted)
                if runtime.cache is not None:
                    recall(runtime.cache, live, turn, start)
                live.hold(start, turn)
            except BaseException as error:
                live.settle(error)
                raise
            if turn.aborted:
                raise DecodeAborted("the evaluation of the prompt was aborted")
            logits = runtime.context.logits(-1).copy()
            logits.flags.writeable = False
            return PrefillResult(logits=logits, n_tokens=live.length, n_evaluated=live.evaluated - before)

    def _complete(self, arguments: Mapping[str, Any]) -> CreateCompletionResponse | Iterator[CompletionChunk]:
        request = CompletionRequest.from_arguments(arguments, recommended=self._recommended)
        run = CompletionRun(self, self._runtime, request, self._prompt(request), model=request.model or self.model_path)
        return run.stream() if arguments["stream"] else run.whole()

    def _prompt(self, request: CompletionRequest) -> Prompt:
        """The tokens to evaluate. A suffix makes it a gap to fill where the model knows that; else it is put after the text."""
        text = request.prompt if isinstance(request.prompt, str) else None
        fills = request.suffix is not None and self._fills_gaps
        tokens = self._gap(request.prompt, request.suffix or "") if fills else self._prompt_tokens(request.prompt)
        if text is None and (request.echo or request.logprobs is not None):
            text = self.tokenizer_.detokenize(list(request.prompt)).decode("utf-8", errors="replace")  # type: ignore[arg-type]
        return Prompt(
            tokens=tokens,
            echoed=(text or "") if request.echo else "",
            length=len(text or ""),
            appended=(request.suffix or "") if not fills else "",
        )

    @property
    def _fills_gaps(self) -> bool:
        vocab = self._runtime.vocab
        return min(vocab.fim_pre, vocab.fim_suf, vocab.fim_mid) >= 0

    def _gap(self, prompt: str | tuple[int, ...], suffix: str) -> TokenArray:
        """The prompt, the suffix and a place for what comes between them, marked by the model's own tokens."""
        vocab = self._runtime.vocab
        before = vocab.tokenize(prompt, add_special=False) if isinstance(prompt, str) else list(prompt)
        after = vocab.tokenize(suffix, add_special=False)
        start = [vocab.bos] if vocab.add_bos and vocab.bos >= 0 and before[:1] != [vocab.bos] else []
        prefix_part, suffix_part = [vocab.fim_pre, *before], [vocab.fim_suf, *after]
        parts = [*suffix_part, *prefix_part] if self.spm_infill else [*prefix_part, *suffix_part]
        return as_tokens(vocab.check_all([*start, *parts, vocab.fim_mid]))

    def _prompt_tokens(self, prompt: str | tuple[int, ...]) -> TokenArray:
        vocab = self._runtime.vocab
        if isinstance(prompt, str):
            tokens = self.tokenizer_.tokenize(prompt.encode("utf-8", "surrogatepass"), add_bos=True, special=True)
            if vocab.add_eos and tokens[-1:] == [vocab.eos]:
                tokens.pop()  # the model asks for an end of its inputs; here it has to go on
            tokens = tokens or ([vocab.bos] if vocab.bos >= 0 else [])
        else:
            tokens = list(prompt)
        if not tokens:
            raise EmptyPromptError("the prompt is empty, and the model has no token to begin a text with; give at least one token")
        return as_tokens(vocab.check_all(tokens))
