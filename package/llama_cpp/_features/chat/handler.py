"""Chat handlers: what answers a chat completion. The usual one makes a prompt with a formatter and completes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from llama_cpp._features.completion.run import CompletionRun, Prompt
from llama_cpp._features.generation.live import as_tokens
from llama_cpp._features.sampling.seeds import seed_value

from .answer import Answer, respond, stream
from .arguments import answers, complete_arguments, completion_request
from .messages import checked_messages, content_text
from .output.formats import detect_format
from .output.parser import OutputParser
from .prompt import one_bos, shown_pieces
from .reasoning import reasoning_arguments, reasoning_started, with_reasoning
from .response_format import response_constraint
from .responses import ChatLogprobText, ChatShaper
from .spelled_tools import spelled_out, uses_tools
from .tool_choice import ToolRequest, tool_request
from .tool_grammar import ToolConstraint, constraint_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from llama_cpp._features.llama.core import LlamaCore
    from llama_cpp._features.types.chat_response import CreateChatCompletionResponse, CreateChatCompletionStreamResponse

    from .formatter import ChatFormatter
    from .output.description import OutputFormat

_SEEDS = 1 << 32


class LlamaChatCompletionHandler(Protocol):
    """Whatever answers a chat completion: called with the `Llama` and the arguments of `create_chat_completion` by keyword."""

    def __call__(
        self, *, llama: Any, messages: list[Any], **kwargs: Any
    ) -> CreateChatCompletionResponse | Iterator[CreateChatCompletionStreamResponse]:
        """The response, or with `stream` an iterator of chunks."""


class ChatPrompt(NamedTuple):
    """A conversation as it is evaluated, and what the formatter says about its end."""

    text: str
    tokens: tuple[int, ...]
    stops: tuple[str, ...] = ()
    criteria: tuple[Any, ...] = ()


class FormattedChatHandler:
    """Answers with the prompts of a formatter.

    `output` describes what the model writes; left out, it is told by the formatter's template, where it has one.
    """

    def __init__(self, formatter: ChatFormatter, *, output: OutputFormat | None = None) -> None:
        self.formatter = formatter
        self.output = output if output is not None else detect_format(getattr(formatter, "template", None))

    def __call__(
        self, *, llama: LlamaCore, messages: Sequence[Any], **arguments: Any
    ) -> CreateChatCompletionResponse | Iterator[CreateChatCompletionStreamResponse]:
        """The answer to a conversation; `Llama.create_chat_completion` describes the arguments."""
        given = complete_arguments(arguments)
        request = tool_request(given["tools"], given["tool_choice"], given["functions"], given["function_call"])
        prompt = self.prompt(llama, messages, request, given)
        shaper = ChatShaper(given["model"] or llama.model_path, legacy=request.legacy)
        conversation = _Conversation(llama, prompt, request, given, with_reasoning(self.output, given))
        made = [conversation.answer(shaper, index) for index in range(answers(given["n"]))]
        if not given["stream"]:
            return respond(made, shaper)
        options = given["stream_options"] or {}
        return stream(made, shaper, tools=bool(request.callable_tools), with_usage=bool(options.get("include_usage")))

    def prompt(self, llama: LlamaCore, messages: Sequence[Any], request: ToolRequest, given: Mapping[str, Any]) -> ChatPrompt:
        """The prompt of a conversation. With `assistant_prefill` its last message is the beginning of the answer."""
        turns: list[Any] = checked_messages(messages)
        begun = ""
        if given["assistant_prefill"] and turns and turns[-1]["role"] == "assistant":
            begun = content_text(turns.pop().get("content")) or ""
        offered = list(request.tools) if request.demand != "none" else []
        if not getattr(self.formatter, "shows_tools", True) and (offered or uses_tools(turns)):
            turns, offered = spelled_out(turns, offered, self.output), []
        choices: dict[str, Any] = {
            "tools": offered or None,
            "tool_choice": given["tool_choice"] if offered and not request.legacy else None,
            "functions": given["functions"] if offered and request.legacy else None,
            "function_call": given["function_call"] if offered and request.legacy else None,
        }
        made = self.formatter(**{"messages": turns, **choices, **_variables(llama, given)})
        text = made.prompt + begun
        stop = made.stop or ()
        criteria = made.stopping_criteria or ()
        return ChatPrompt(
            text=text,
            tokens=one_bos(llama, text),
            stops=(stop,) if isinstance(stop, str) else tuple(stop),
            criteria=(criteria,) if callable(criteria) else tuple(criteria),
        )


class _Conversation(NamedTuple):
    """A conversation whose answers can be made."""

    llama: LlamaCore
    prompt: ChatPrompt
    request: ToolRequest
    given: Mapping[str, Any]
    output: OutputFormat

    def answer(self, shaper: ChatShaper, index: int) -> Answer:
        """The answer at `index`, not run yet."""
        llama, prompt, request, given, output = self
        runtime = llama._runtime  # noqa: SLF001 - a handler drives the Llama that it is given
        thinking = reasoning_started(prompt.text, output) or bool(given["reasoning_start_in_prompt"])
        limits = constraint(output, request, given, thinking=thinking)
        tokens = one_bos(llama, prompt.text + limits.prompt_suffix) if limits.prompt_suffix else prompt.tokens
        own = (given["stop"],) if isinstance(given["stop"], str) else tuple(given["stop"] or ())
        completion = completion_request(
            {
                **given,
                **reasoning_arguments(output, given, started=thinking, constrained=limits.grammar is not None and not limits.lazy),
                "grammar": limits.grammar,
                "grammar_lazy": limits.lazy,
                "seed": _seed(given["seed"], index),
            },
            tokens,
            stops=(*own, *prompt.stops),
            criteria=prompt.criteria,
            end_tokens=runtime.vocab.eog_tokens if given["min_tokens"] else (),
            recommended=llama._recommended,  # noqa: SLF001 - as above
        )
        run = CompletionRun(
            llama,
            runtime,
            completion,
            Prompt(as_tokens(runtime.vocab.check_all(tokens)), length=len(prompt.text)),
            model=shaper.model,
            pieces=shown_pieces(runtime, output),
            logprob_text=ChatLogprobText,
        )
        tools, parallel = request.callable_tools, bool(given["parallel_tool_calls"])
        parser = OutputParser(output, tools=tools, parallel=parallel, reasoning_started=thinking)
        return Answer(run, parser, shaper, index=index, begun=limits.prompt_suffix)


def constraint(output: OutputFormat, request: ToolRequest, given: Mapping[str, Any], *, thinking: bool) -> ToolConstraint:
    """What the answer has to follow: the request's own grammar, a call that is required, its response format, or offered tools."""
    if given["grammar"] is not None:
        return ToolConstraint(given["grammar"], lazy=bool(given["grammar_lazy"]))
    answer = response_constraint(given["response_format"], format=output, reasoning_started=thinking)
    if answer is not None and request.demand != "required":
        return ToolConstraint(answer)
    parallel = bool(given["parallel_tool_calls"])
    return constraint_for(request, parallel=parallel, format=output, reasoning_started=thinking) or ToolConstraint(None)


def chat_formatter_to_chat_completion_handler(chat_formatter: ChatFormatter) -> FormattedChatHandler:
    """A chat handler that answers with this formatter's prompts."""
    return FormattedChatHandler(chat_formatter)


def _variables(llama: LlamaCore, given: Mapping[str, Any]) -> dict[str, Any]:
    """Variables for a template: of the `Llama`, then of the request."""
    variables = {"add_generation_prompt": given["add_generation_prompt"], **getattr(llama, "chat_template_kwargs", {})}
    if given["documents"] is not None:
        variables["documents"] = given["documents"]
    if given["enable_thinking"] is not None:
        variables["enable_thinking"] = bool(given["enable_thinking"])
    return {**variables, **(given["chat_template_kwargs"] or {})}


def _seed(seed: Any, index: int) -> Any:
    """Further answers to a request with a seed have the seeds that follow it."""
    value = seed_value(seed)
    return seed if value is None or not index else (value + index) % _SEEDS
