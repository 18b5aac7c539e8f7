"""llama-cpp-agent: chat over `create_completion` with every argument of the older lineage."""

from __future__ import annotations

from typing import Any

from llama_cpp_agent import LlamaCppAgent, MessagesFormatterType
from llama_cpp_agent.providers import LlamaCppPythonProvider

from llama_cpp import Llama


def test_an_answer(model_path: str) -> None:
    with Llama(model_path, n_ctx=512, verbose=False) as llm:
        provider: Any = LlamaCppPythonProvider(llm)
        settings = provider.get_provider_default_settings()
        settings.max_tokens = 8
        agent = LlamaCppAgent(provider, system_prompt="Be brief.", predefined_messages_formatter_type=MessagesFormatterType.CHATML)
        assert agent.get_chat_response("Hello", llm_sampling_settings=settings, print_output=False)
