from __future__ import annotations

from pathlib import Path

import pytest

from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.schema import json_schema_to_gbnf, support
from llama_cpp._features.grammar.schema.formats import PATTERNS
from llama_cpp._features.grammar.schema.unfolding import ASPECTS

PAGE = Path(__file__).resolve().parents[5] / "docs" / "guide" / "json-schema.md"


def test_the_page_shows_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = text.partition("<!-- keywords -->\n")[2].partition("<!-- end of keywords -->")[0].strip() + "\n"
    assert shown == support.table(), "copy the output of `python -m llama_cpp._features.grammar.schema` into the page"


def test_the_table_has_every_keyword_that_is_worked_on() -> None:
    listed = {keyword for row in support.ROWS for keyword in row.keywords}
    assert {keyword for aspect in ASPECTS for keyword in aspect.keywords} <= listed
    formats = next(row.how for row in support.ROWS if row.keywords == ("format",))
    assert all(name in formats for name in PATTERNS)


@pytest.mark.parametrize("keyword", [keyword for row in support.ROWS if not row.supported for keyword in row.keywords])
def test_what_is_called_refused_is_refused(keyword: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as caught:
        json_schema_to_gbnf({"type": "array", keyword: "#a"})
    assert caught.value.keyword == keyword
