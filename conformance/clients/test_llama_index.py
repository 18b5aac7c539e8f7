"""llama-index-llms-llama-cpp: completion, streaming and chat."""

from __future__ import annotations

from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.llms.llama_cpp import LlamaCPP


def test_completions(model_path: str) -> None:
    llm: Any = LlamaCPP(model_path=model_path, temperature=0.0, max_new_tokens=8, context_window=512, verbose=False)
    text = llm.complete("1, 2, 3, 4, 5, 6, 7,").text
    assert text.strip().startswith("8")
    assert [part.text for part in llm.stream_complete("1, 2, 3, 4, 5, 6, 7,")][-1] == text
    assert llm.chat([ChatMessage(role="user", content="Hello")]).message.content is not None
    llm._model.close()
