"""lm-format-enforcer: a logits processor that follows a schema."""

from __future__ import annotations

from typing import Any

from lmformatenforcer import JsonSchemaParser
from lmformatenforcer.integrations.llamacpp import build_llamacpp_logits_processor, build_token_enforcer_tokenizer_data
from pydantic import BaseModel, Field

from llama_cpp import Llama, LogitsProcessorList


class City(BaseModel):
    """A city."""

    name: str = Field(max_length=10)


def test_a_schema(model_path: str) -> None:
    with Llama(model_path, n_ctx=512, verbose=False) as llm:
        data: Any = build_token_enforcer_tokenizer_data(llm)
        processor = build_llamacpp_logits_processor(data, JsonSchemaParser(City.model_json_schema()))
        answer: Any = llm("A city as JSON:", logits_processor=LogitsProcessorList([processor]), max_tokens=64, temperature=0.0)
        assert City.model_validate_json(answer["choices"][0]["text"])
