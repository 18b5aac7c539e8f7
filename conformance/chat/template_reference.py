"""Writes `template_reference.json`: what transformers makes of each template in llama.cpp's tree, as hashes.

pip install transformers jinja2
PYTHONPATH=conformance python conformance/chat/template_reference.py vendor/llama.cpp/models/templates
"""

from __future__ import annotations

import copy
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import jinja2
import transformers
from rig.conversations import BOS, CALLED, CONVERSATIONS, EOS, NOW
from transformers.utils import chat_template_utils
from transformers.utils.chat_template_utils import render_jinja_template

REFERENCE = Path(__file__).with_name("template_reference.json")


class Clock:
    """In place of `datetime`: it always shows the same."""

    @classmethod
    def now(cls) -> Clock:
        return cls()

    def strftime(self, _: str) -> str:
        return NOW


def rendered(template: str, conversation: dict[str, Any]) -> str | None:
    """The SHA-256 of the rendering; None where transformers raises."""
    given = copy.deepcopy(conversation)
    messages = given.pop("messages")
    try:
        (text,), _ = render_jinja_template([messages], chat_template=template, bos_token=BOS, eos_token=EOS, **given)
    except Exception:  # noqa: BLE001 - a template's own code fails as it likes
        return None
    return hashlib.sha256(text.encode()).hexdigest()


def main(folder: Path) -> None:
    """Render all, and write the file."""
    chat_template_utils.datetime = Clock
    renderings = {
        path.name: {
            "template": hashlib.sha256(path.read_bytes()).hexdigest(),
            **{name: rendered(path.read_text(encoding="utf-8"), each) for name, each in {**CONVERSATIONS, **CALLED}.items()},
        }
        for path in sorted(folder.glob("*.jinja"))
    }
    versions = {"transformers": transformers.__version__, "jinja2": jinja2.__version__}
    REFERENCE.write_text(json.dumps({**versions, "renderings": renderings}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
