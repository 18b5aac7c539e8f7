"""Chat templates of real models, rendered: the same text that transformers makes of them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from rig import material
from rig.conversations import BOS, CALLED, CONVERSATIONS, EOS, NOW

from llama_cpp.llama_chat_format import ChatTemplateError, Jinja2ChatFormatter

REFERENCE = json.loads(Path(__file__).with_name("template_reference.json").read_text(encoding="utf-8"))
RENDERINGS: dict[str, dict[str, str | None]] = REFERENCE["renderings"]


def formatter(name: str) -> Jinja2ChatFormatter:
    data = material.vendor_file(f"models/templates/{name}").read_bytes()
    assert hashlib.sha256(data).hexdigest() == RENDERINGS[name]["template"], "record the reference anew: template_reference.py"
    return Jinja2ChatFormatter(data.decode(), EOS, BOS)


def rendered(made: Jinja2ChatFormatter, conversation: dict[str, Any]) -> str:
    return made(**conversation, strftime_now=lambda _: NOW).prompt


def outcome(made: Jinja2ChatFormatter, conversation: dict[str, Any]) -> str:
    """The text, or how the template refused."""
    try:
        return rendered(made, conversation)
    except ChatTemplateError as error:
        return f"refused: {error}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_reference_covers_the_tree() -> None:
    folder = material.vendor_file("models/templates/README.md").parent
    assert sorted(RENDERINGS) == sorted(path.name for path in folder.glob("*.jinja"))
    assert len(RENDERINGS) >= 70
    compared = sum(each[kind] is not None for each in RENDERINGS.values() for kind in CONVERSATIONS)
    assert compared > 0.9 * len(RENDERINGS) * len(CONVERSATIONS)


@pytest.fixture(scope="module")
def formatters() -> dict[str, Jinja2ChatFormatter]:
    return {name: formatter(name) for name in RENDERINGS}


@pytest.mark.once_per_wheel
def test_conversations_render_as_transformers_renders_them(formatters: dict[str, Jinja2ChatFormatter]) -> None:
    different = [
        (name, kind)
        for name, made in formatters.items()
        for kind, conversation in CONVERSATIONS.items()
        if RENDERINGS[name][kind] not in (None, digest(outcome(made, conversation)))
    ]
    assert different == []


@pytest.mark.once_per_wheel
def test_a_call_renders_the_same_in_all_its_shapes(formatters: dict[str, Jinja2ChatFormatter]) -> None:
    """Arguments as an object or as text, content null or empty: one text, one of those that transformers makes of them."""
    for name, made in formatters.items():
        outcomes = {outcome(made, conversation) for conversation in CALLED.values()}
        assert len(outcomes) == 1, name
        expected = {RENDERINGS[name][kind] for kind in CALLED} - {None}
        assert not expected or {digest(text) for text in outcomes} <= expected, name


@pytest.mark.once_per_wheel
def test_parts_render_as_their_text(formatters: dict[str, Jinja2ChatFormatter]) -> None:
    compared = 0
    for name, made in formatters.items():
        conversation = CONVERSATIONS["user" if RENDERINGS[name]["user"] else "tools"]
        text = conversation["messages"][0]["content"]
        parts = [{"type": "text", "text": text[:5]}, {"type": "text", "text": text[5:]}]
        listed = {**conversation, "messages": [{"role": "user", "content": parts}]}
        assert outcome(made, listed) == outcome(made, conversation), name
        compared += text in outcome(made, listed)
    assert compared > 0.9 * len(formatters)
