"""kani: a chat over `create_completion` with token ids."""

from __future__ import annotations

import asyncio
from typing import Any

from kani import ChatMessage, ChatRole, Kani, PromptPipeline
from kani.engines.llamacpp import LlamaCppEngine

PIPELINE: Any = (
    PromptPipeline()
    .wrap(role=ChatRole.USER, prefix="<|im_start|>user\n", suffix="<|im_end|>\n")
    .conversation_fmt(generation_suffix="<|im_start|>assistant\n", assistant_suffix="<|im_end|>\n")
)


def test_a_round(model_path: str) -> None:
    options: dict[str, Any] = {"max_context_size": 512, "model_load_kwargs": {"verbose": False}, "max_tokens": 8}
    engine: Any = LlamaCppEngine(model_path=model_path, prompt_pipeline=PIPELINE, **options)
    answer = asyncio.run(Kani(engine, chat_history=[ChatMessage.user("Hello"), ChatMessage.assistant("Hi!")]).chat_round_str("Hello"))
    assert isinstance(answer, str)
    assert answer
    engine.model.close()
