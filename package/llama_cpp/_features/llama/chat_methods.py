"""The part of `Llama` that chats.

What does it, `chat.dispatch`, is imported when the first `Llama` is made: jinja2, the formats and grammars take longer to import than
all else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_cpp._features.chat import openai_models
from llama_cpp._features.chat.arguments import CHAT_TEMPERATURE
from llama_cpp._features.sampling.defaults import (
    MIN_P,
    MIROSTAT_ETA,
    MIROSTAT_MODE,
    MIROSTAT_TAU,
    PENALTY_LAST_N,
    REPEAT_PENALTY,
    TOP_K,
    TOP_P,
    XTC_PROBABILITY,
    XTC_THRESHOLD,
)  # fmt: skip
from llama_cpp._features.sampling.parameters import DRY_SEQUENCE_BREAKERS

from .completion_methods import CompletionMethods

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from llama_cpp._features.chat.handler import LlamaChatCompletionHandler
    from llama_cpp._features.generation.prefill import PrefillResult
    from llama_cpp._features.sampling.callbacks import LogitsProcessors, StoppingCriterions
    from llama_cpp._features.types.chat_request import ChatCompletionRequestMessage
    from llama_cpp._features.types.chat_response import CreateChatCompletionResponse, CreateChatCompletionStreamResponse
    from llama_cpp._features.types.tools import (
        ChatCompletionFunction,
        ChatCompletionRequestFunctionCall,
        ChatCompletionTool,
        ChatCompletionToolChoiceOption,
    )


class ChatMethods(CompletionMethods):
    """`create_chat_completion` and what belongs to it."""

    metadata: dict[str, str]
    chat_format: str
    chat_handler: LlamaChatCompletionHandler | None
    chat_template_kwargs: dict[str, Any]
    _chat_handlers: dict[str, LlamaChatCompletionHandler]

    def _prepare_chat(self, given: Mapping[str, Any]) -> None:
        """Set the attributes that say how this model chats. Raises ValueError for the name of a template that is not there."""
        from llama_cpp._features.chat import dispatch  # noqa: PLC0415 - late, as the first lines say

        self.chat_handler = given["chat_handler"]
        self.chat_template_kwargs = {**(given["chat_handler_kwargs"] or {}), **(given["chat_template_kwargs"] or {})}
        self._chat_handlers = dispatch.own_handlers(self.metadata, self._vocab)
        self.chat_format = dispatch.chosen_format(
            self.metadata, self._chat_handlers, name=given["chat_format"], template=given["chat_template_name"]
        )

    # fmt: off
    def create_chat_completion(  # noqa: PLR0917, D417 - positional in both lineages; related arguments are described together
        self, messages: list[ChatCompletionRequestMessage], functions: list[ChatCompletionFunction] | None = None,
        function_call: ChatCompletionRequestFunctionCall | None = None, tools: list[ChatCompletionTool] | None = None,
        tool_choice: ChatCompletionToolChoiceOption | None = None, temperature: float = CHAT_TEMPERATURE, top_p: float = TOP_P,
        top_k: int = TOP_K, top_n_sigma: float = -1.0, min_p: float = MIN_P, typical_p: float = 1.0, stream: bool = False,
        stop: str | Sequence[str] | None = (), seed: int | None = None, response_format: Any = None, max_tokens: int | None = None,
        present_penalty: float = 0.0, frequency_penalty: float = 0.0, repeat_penalty: float = REPEAT_PENALTY,
        penalty_last_n: int = PENALTY_LAST_N, mirostat_mode: int = MIROSTAT_MODE, mirostat_tau: float = MIROSTAT_TAU,
        mirostat_eta: float = MIROSTAT_ETA, dynatemp_range: float = 0.0, dynatemp_exponent: float = 1.0, min_keep: int = 0,
        xtc_threshold: float = XTC_THRESHOLD, xtc_probability: float = XTC_PROBABILITY, dry_multiplier: float = 0.0,
        dry_base: float = 1.75, dry_allowed_length: int = 2, dry_penalty_last_n: int = 64,
        dry_seq_breakers: Sequence[str] = DRY_SEQUENCE_BREAKERS, adaptive_target: float = -1.0, adaptive_decay: float = 0.9,
        use_infill: bool = False, model: str | None = None, logit_bias: Mapping[int, float] | None = None,
        logits_processor: LogitsProcessors = None, grammar: Any = None, grammar_lazy: bool = False, active_loras: Any = None,
        control_vector: Any = None, logprobs: bool | None = None, top_logprobs: int | None = None,
        assistant_prefill: bool = False, add_generation_prompt: bool = True, reasoning_budget: int = -1,
        reasoning_start: str = "<think>", reasoning_end: str = "</think>", reasoning_budget_message: str | None = None,
        reasoning_start_in_prompt: bool = False, reasoning_start_max_tokens: int = 32, presence_penalty: float = 0.0,
        tfs_z: float = 1.0, *, chat_template_kwargs: Mapping[str, Any] | None = None, documents: Sequence[Any] | None = None,
        enable_thinking: bool | None = None, parallel_tool_calls: bool = True, n: int = 1, min_tokens: int = 0,
        max_completion_tokens: int | None = None, stream_options: Mapping[str, Any] | None = None,
        stopping_criteria: StoppingCriterions = None, ignore_eos: bool = False,
    ) -> CreateChatCompletionResponse | Iterator[CreateChatCompletionStreamResponse]:
        # fmt: on
        """Answer a conversation. What is not described here is as for `create_completion`.

        Args:
            messages: Dicts with `role` and `content`: text, a list of text parts, or None beside `tool_calls`.
            tools: Functions that the model may call, with JSON Schemas of their arguments.
            tool_choice: "auto", "none", "required", or a tool by name; a call that is required follows its schema.
            functions: The older form of tools, as `function_call` is of `tool_choice`.
            response_format: "text", "json_object" or "json_schema" as `type`, or a pydantic model: the answer follows it.
            max_tokens: At most so many tokens; None, 0 and negative numbers go on to the end of the context.
            logprobs: Answer with log-probabilities; `top_logprobs` of the likeliest tokens beside each.
            assistant_prefill: The last message is the beginning of the answer, which continues it.
            add_generation_prompt: Begin the assistant's turn.
            chat_template_kwargs: Variables for the chat template; `documents` and `enable_thinking` are two of them.
            n: So many answers, one after the other. With a seed, each further one has the next seed.
            min_tokens: The answer has at least so many.
            stream_options: With `include_usage` a stream ends with a chunk that counts tokens.

        Returns:
            A response, or with `stream` an iterator of chunks. `finish_reason` is "stop", "length", "tool_calls",
            "function_call" or "abort".

        Raises:
            ChatTemplateError: The model's template fails, or refuses the conversation (a ValueError).
            ContextWindowError: The conversation leaves no room in the context (a ValueError).
            LlamaChatCompletionHandlerNotFoundException: No chat format has the name that was given.
        """
        given = locals()
        from llama_cpp._features.chat import dispatch  # noqa: PLC0415 - as above

        return dispatch.answer(self, given)

    def create_chat_completion_openai_v1(self, *args: Any, **kwargs: Any) -> Any:
        """The same, with objects of the `openai` package: a `ChatCompletion`, or a generator of its chunks.

        Raises ImportError without that package.
        """
        return openai_models.converted(lambda: self.create_chat_completion(*args, **kwargs))

    def create_chat_prefill(  # noqa: PLR0917 - positional in the published API
        self,
        messages: list[ChatCompletionRequestMessage],
        functions: list[ChatCompletionFunction] | None = None,
        function_call: ChatCompletionRequestFunctionCall | None = None,
        tools: list[ChatCompletionTool] | None = None,
        tool_choice: ChatCompletionToolChoiceOption | None = None,
        add_generation_prompt: bool = True,
        assistant_prefill: bool = False,
        chat_template_kwargs: Mapping[str, Any] | None = None,
    ) -> PrefillResult:
        """Evaluate a conversation and generate nothing: an answer to it then costs its own tokens alone.

        Raises as `create_chat_completion` and `prefill` do, and NotImplementedError for chat handlers that are no formats.
        """
        given = {
            "tool_choice": tool_choice, "functions": functions, "function_call": function_call, "tools": tools,
            "add_generation_prompt": add_generation_prompt, "assistant_prefill": assistant_prefill,
            "chat_template_kwargs": chat_template_kwargs,
        }  # fmt: skip
        from llama_cpp._features.chat import dispatch  # noqa: PLC0415 - as above

        return self.prefill(dispatch.prompt_tokens(self, messages, given))
