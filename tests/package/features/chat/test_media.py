"""Handlers for media: their names are there, and say that they aren't served."""

from __future__ import annotations

import pytest

from llama_cpp import llama_chat_format
from llama_cpp.errors import FeatureUnavailableError


@pytest.mark.parametrize(
    "name", [name for name in llama_chat_format.__all__ if name.endswith("ChatHandler") and name != "FormattedChatHandler"]
)
def test_constructing_one_says_so(name: str) -> None:
    handler = getattr(llama_chat_format, name)
    assert issubclass(handler, llama_chat_format.MTMDChatHandler)
    with pytest.raises(FeatureUnavailableError, match=f"{name} is not available"):
        handler(clip_model_path="mmproj.gguf", verbose=False)
