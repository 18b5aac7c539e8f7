"""The part of `Llama` that completes text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from llama_cpp._features.completion.request import CompletionRequest
from llama_cpp._features.completion.run import CompletionRun
from llama_cpp._features.errors import EmptyPromptError
from llama_cpp._features.generation.live import as_tokens
from llama_cpp._features.sampling.arguments import DRY_SEQUENCE_BREAKERS
from llama_cpp._features.sampling.parameters import DEFAULT_PENALTY_WINDOW

from .core import LlamaCore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from llama_cpp._features.generation.live import TokenArray
    from llama_cpp._features.types.completion import CompletionChunk, CreateCompletionResponse


class CompletionMethods(LlamaCore):
    """`create_completion`, and calling the object, which is the same with a larger default of `max_tokens`."""

    # fmt: off
    def create_completion(  # noqa: PLR0917 - positional in both lineages
        self, prompt: str | Sequence[int], suffix: str | None = None, max_tokens: int | None = 16, temperature: float = 0.8,
        top_p: float = 0.95, min_p: float = 0.05, typical_p: float = 1.0, logprobs: int | None = None, echo: bool = False,
        stop: str | Sequence[str] | None = (), frequency_penalty: float = 0.0, present_penalty: float = 0.0,
        repeat_penalty: float = 1.0, penalty_last_n: int = DEFAULT_PENALTY_WINDOW, top_k: int = 40, top_n_sigma: float = -1.0,
        stream: bool = False, seed: int | None = None, mirostat_mode: int = 0, mirostat_tau: float = 5.0, mirostat_eta: float = 0.1,
        dynatemp_range: float = 0.0, dynatemp_exponent: float = 1.0, min_keep: int = 0, xtc_threshold: float = 0.1,
        xtc_probability: float = 0.0, dry_multiplier: float = 0.0, dry_base: float = 1.75, dry_allowed_length: int = 2,
        dry_penalty_last_n: int = 64, dry_seq_breakers: Sequence[str] = DRY_SEQUENCE_BREAKERS, adaptive_target: float = -1.0,
        adaptive_decay: float = 0.9, use_infill: bool = False, model: str | None = None, stopping_criteria: Any = None,
        logit_bias: Mapping[int, float] | None = None, logits_processor: Any = None, grammar: Any = None, grammar_lazy: bool = False,
        active_loras: Any = None, control_vector: Any = None, reasoning_budget: int = -1, reasoning_start: str = "<think>",
        reasoning_end: str = "</think>", reasoning_budget_message: str | None = None, reasoning_start_in_prompt: bool = False,
        reasoning_start_max_tokens: int = 32, ignore_eos: bool = False, presence_penalty: float = 0.0, tfs_z: float = 1.0,
    ) -> CreateCompletionResponse | Iterator[CompletionChunk]:
        # fmt: on
        """Continue a prompt.

        The arguments that are served:
            prompt: Text, in which names of control tokens count as such and before which BOS is put where the model
                asks for it; or token ids, taken as they are. What the context already holds of it is not evaluated again.
            max_tokens: At most so many tokens; None or a negative number goes on to the end of the context.
            temperature: 0 (or `top_k` 1) always takes the likeliest token.
            top_p: Keeps the likeliest tokens that together reach this probability; 1 keeps all.
            min_p: Drops tokens less likely than this fraction of the likeliest; 0 drops none.
            typical_p: Locally typical sampling; 1 is off.
            echo: Put the prompt before the completion.
            stop: The text ends before the first place where one of these begins.
            frequency_penalty: Per earlier occurrence; `present_penalty` (or `presence_penalty`) once; `repeat_penalty`
                divides. All look at the last `penalty_last_n` tokens, prompt included; at its default the constructor's
                `last_n_tokens_size` takes its place.
            top_k: Keeps the k likeliest tokens; 0 keeps all.
            stream: Return an iterator of chunks; the last one has no text and says why it ended.
            seed: The same seed repeats; None is another one every time.
            model: The name to answer with; the model's path by default.

        Returns:
            A response with usage, or an iterator of chunks. `finish_reason` is "stop" (the model or a stop string ended
            it), "length", or "abort" (`abort()` or Ctrl-C).

        Raises:
            ContextWindowError: The prompt leaves no room in the context (a ValueError).
            FeatureUnavailableError: An argument asks for what this version does not serve (a NotImplementedError).
        """
        return self._complete(CompletionRequest.from_arguments(locals()), stream=stream)

    # fmt: off
    def __call__(  # noqa: PLR0917 - as above
        self, prompt: str | Sequence[int], suffix: str | None = None, max_tokens: int | None = 128, temperature: float = 0.8,
        top_p: float = 0.95, min_p: float = 0.05, typical_p: float = 1.0, logprobs: int | None = None, echo: bool = False,
        stop: str | Sequence[str] | None = (), frequency_penalty: float = 0.0, present_penalty: float = 0.0,
        repeat_penalty: float = 1.0, penalty_last_n: int = DEFAULT_PENALTY_WINDOW, top_k: int = 40, top_n_sigma: float = -1.0,
        stream: bool = False, seed: int | None = None, mirostat_mode: int = 0, mirostat_tau: float = 5.0, mirostat_eta: float = 0.1,
        dynatemp_range: float = 0.0, dynatemp_exponent: float = 1.0, min_keep: int = 0, xtc_threshold: float = 0.1,
        xtc_probability: float = 0.0, dry_multiplier: float = 0.0, dry_base: float = 1.75, dry_allowed_length: int = 2,
        dry_penalty_last_n: int = 64, dry_seq_breakers: Sequence[str] = DRY_SEQUENCE_BREAKERS, adaptive_target: float = -1.0,
        adaptive_decay: float = 0.9, use_infill: bool = False, model: str | None = None, stopping_criteria: Any = None,
        logit_bias: Mapping[int, float] | None = None, logits_processor: Any = None, grammar: Any = None, grammar_lazy: bool = False,
        active_loras: Any = None, control_vector: Any = None, reasoning_budget: int = -1, reasoning_start: str = "<think>",
        reasoning_end: str = "</think>", reasoning_budget_message: str | None = None, reasoning_start_in_prompt: bool = False,
        reasoning_start_max_tokens: int = 32, ignore_eos: bool = False, presence_penalty: float = 0.0, tfs_z: float = 1.0,
    ) -> CreateCompletionResponse | Iterator[CompletionChunk]:
        # fmt: on
        """The same as `create_completion`, which describes the arguments; `max_tokens` is 128 by default."""
        return self._complete(CompletionRequest.from_arguments(locals()), stream=stream)

    def _complete(self, request: CompletionRequest, *, stream: bool) -> CreateCompletionResponse | Iterator[CompletionChunk]:
        sampling = request.sampling
        if sampling.penalty_last_n == DEFAULT_PENALTY_WINDOW:
            request = replace(request, sampling=replace(sampling, penalty_last_n=self.last_n_tokens_size))
        run = CompletionRun(
            self,
            self._runtime,
            request,
            self._prompt_tokens(request.prompt),
            echoed=self._echoed(request) if request.echo else "",
            model=request.model or self.model_path,
        )
        return run.stream() if stream else run.whole()

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

    def _echoed(self, request: CompletionRequest) -> str:
        if isinstance(request.prompt, str):
            return request.prompt
        return self.tokenizer_.detokenize(list(request.prompt)).decode("utf-8", errors="replace")
