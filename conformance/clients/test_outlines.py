"""outlines: types as constraints, streamed and not."""

from __future__ import annotations

from typing import Any, Literal

import outlines

from llama_cpp import Llama


def test_a_choice(model_path: str) -> None:
    with Llama(model_path, n_ctx=512, verbose=False) as llm:
        model: Any = outlines.from_llamacpp(llm)
        assert model("Is water wet?", Literal["yes", "no"], max_tokens=4) in ("yes", "no")
        assert "".join(model.stream("1, 2, 3,", max_tokens=4))
