"""kani: a chat over `create_completion` with token ids."""

from __future__ import annotations

import asyncio
from typing import Any

from kani import ChatMessage, Kani
from kani.engines.llamacpp import LlamaCppEngine


def test_a_round(model_path: str) -> None:
    from kani.prompts.impl import CHATML_PIPELINE  # noqa: PLC0415 - beside its use, as kani's own examples have it

    engine: Any = LlamaCppEngine(
        repo_id=None, model_path=model_path, prompt_pipeline=CHATML_PIPELINE, max_context_size=512, model_load_kwargs={"verbose": False}, max_tokens=8
    )
    answer = asyncio.run(Kani(engine, chat_history=[ChatMessage.system("Be brief.")]).chat_round_str("Hello"))
    assert isinstance(answer, str)
    assert answer
