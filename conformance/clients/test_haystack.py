"""llama-cpp-haystack: the generator and the chat generator, with tools."""

from __future__ import annotations

from typing import Any

from haystack.dataclasses import ChatMessage
from haystack.tools import Tool
from haystack_integrations.components.generators.llama_cpp import LlamaCppChatGenerator

WEATHER = Tool(
    name="weather",
    description="The weather",
    parameters={"type": "object", "properties": {"city": {"type": "string", "maxLength": 12}}, "required": ["city"]},
    function=lambda city: city,
)


def test_chat(model_path: str) -> None:
    generator: Any = LlamaCppChatGenerator(
        model=model_path, n_ctx=1024, n_batch=256, model_kwargs={"verbose": False}, generation_kwargs={"max_tokens": 48, "temperature": 0.0}
    )
    generator.warm_up()
    (reply,) = generator.run([ChatMessage.from_user("What is the capital of France?")])["replies"]
    assert reply.text
    arguments = {"tool_choice": {"type": "function", "function": {"name": "weather"}}}
    question = [ChatMessage.from_user("The weather in Paris?")]
    (called,) = generator.run(question, tools=[WEATHER], generation_kwargs=arguments)["replies"]
    assert called.tool_calls[0].tool_name == "weather"
    assert isinstance(called.tool_calls[0].arguments["city"], str)
