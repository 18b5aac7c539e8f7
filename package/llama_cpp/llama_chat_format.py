"""Chat formats: formatters, handlers, their registry, and what programs import beside them."""

from ._features.chat.conversion import convert_completion as _convert_completion_to_chat  # noqa: F401 - programs import these
from ._features.chat.conversion import convert_completion as _convert_text_completion_to_chat  # noqa: F401
from ._features.chat.conversion import convert_completion_chunks as _convert_text_completion_chunks_to_chat  # noqa: F401
from ._features.chat.conversion import convert_completion_to_function as _convert_completion_to_chat_function  # noqa: F401
from ._features.chat.conversion import convert_logprobs as _convert_text_completion_logprobs_to_chat  # noqa: F401
from ._features.chat.conversion import grammar_for_json as _grammar_for_json  # noqa: F401
from ._features.chat.conversion import grammar_for_json_schema as _grammar_for_json_schema  # noqa: F401
from ._features.chat.conversion import grammar_for_response_format as _grammar_for_response_format  # noqa: F401
from ._features.chat.formats import registered as _registered  # noqa: F401
from ._features.chat.formats.constants import (
    CHATML_BOS_TOKEN,
    CHATML_CHAT_TEMPLATE,
    CHATML_EOS_TOKEN,
    GPT_OSS_BOS_TOKEN,
    GPT_OSS_CHAT_TEMPLATE,
    GPT_OSS_EOS_TOKEN,
    LLAMA3_INSTRUCT_BOS_TOKEN,
    LLAMA3_INSTRUCT_CHAT_TEMPLATE,
    LLAMA3_INSTRUCT_EOS_TOKEN,
    LLAMA4_INSTRUCT_BOS_TOKEN,
    LLAMA4_INSTRUCT_CHAT_TEMPLATE,
    LLAMA4_INSTRUCT_EOS_TOKEN,
    MISTRAL_INSTRUCT_BOS_TOKEN,
    MISTRAL_INSTRUCT_CHAT_TEMPLATE,
    MISTRAL_INSTRUCT_EOS_TOKEN,
    MIXTRAL_INSTRUCT_BOS_TOKEN,
    MIXTRAL_INSTRUCT_CHAT_TEMPLATE,
    MIXTRAL_INSTRUCT_EOS_TOKEN,
)
from ._features.chat.formatter import ChatFormatter, ChatFormatterResponse, Jinja2ChatFormatter
from ._features.chat.guess import guess_chat_format_from_gguf_metadata
from ._features.chat.handler import (
    FormattedChatHandler,
    LlamaChatCompletionHandler,
    chat_formatter_to_chat_completion_handler,
)
from ._features.chat.huggingface import (
    hf_autotokenizer_to_chat_completion_handler,
    hf_autotokenizer_to_chat_formatter,
    hf_tokenizer_config_to_chat_completion_handler,
    hf_tokenizer_config_to_chat_formatter,
)
from ._features.chat.media import (
    Gemma4ChatHandler,
    Llama3VisionAlpha,
    Llama3VisionAlphaChatHandler,
    Llava15ChatHandler,
    Llava16ChatHandler,
    MiniCPMv26ChatHandler,
    MoondreamChatHandler,
    MTMDChatHandler,
    NanoLlavaChatHandler,
    ObsidianChatHandler,
    Qwen25VLChatHandler,
)
from ._features.chat.registry import (
    LlamaChatCompletionHandlerNotFoundException,
    LlamaChatCompletionHandlerRegistry,
    get_chat_completion_handler,
    register_chat_completion_handler,
    register_chat_format,
)
from ._features.chat.template_environment import ChatTemplateError
from ._features.chat.tool_choice import tool_parameter_schema as _tool_parameter_schema  # noqa: F401

__all__ = [
    "CHATML_BOS_TOKEN",
    "CHATML_CHAT_TEMPLATE",
    "CHATML_EOS_TOKEN",
    "GPT_OSS_BOS_TOKEN",
    "GPT_OSS_CHAT_TEMPLATE",
    "GPT_OSS_EOS_TOKEN",
    "LLAMA3_INSTRUCT_BOS_TOKEN",
    "LLAMA3_INSTRUCT_CHAT_TEMPLATE",
    "LLAMA3_INSTRUCT_EOS_TOKEN",
    "LLAMA4_INSTRUCT_BOS_TOKEN",
    "LLAMA4_INSTRUCT_CHAT_TEMPLATE",
    "LLAMA4_INSTRUCT_EOS_TOKEN",
    "MISTRAL_INSTRUCT_BOS_TOKEN",
    "MISTRAL_INSTRUCT_CHAT_TEMPLATE",
    "MISTRAL_INSTRUCT_EOS_TOKEN",
    "MIXTRAL_INSTRUCT_BOS_TOKEN",
    "MIXTRAL_INSTRUCT_CHAT_TEMPLATE",
    "MIXTRAL_INSTRUCT_EOS_TOKEN",
    "ChatFormatter",
    "ChatFormatterResponse",
    "ChatTemplateError",
    "FormattedChatHandler",
    "Gemma4ChatHandler",
    "Jinja2ChatFormatter",
    "Llama3VisionAlpha",
    "Llama3VisionAlphaChatHandler",
    "LlamaChatCompletionHandler",
    "LlamaChatCompletionHandlerNotFoundException",
    "LlamaChatCompletionHandlerRegistry",
    "Llava15ChatHandler",
    "Llava16ChatHandler",
    "MTMDChatHandler",
    "MiniCPMv26ChatHandler",
    "MoondreamChatHandler",
    "NanoLlavaChatHandler",
    "ObsidianChatHandler",
    "Qwen25VLChatHandler",
    "chat_formatter_to_chat_completion_handler",
    "get_chat_completion_handler",
    "guess_chat_format_from_gguf_metadata",
    "hf_autotokenizer_to_chat_completion_handler",
    "hf_autotokenizer_to_chat_formatter",
    "hf_tokenizer_config_to_chat_completion_handler",
    "hf_tokenizer_config_to_chat_formatter",
    "register_chat_completion_handler",
    "register_chat_format",
]
