"""The user guide's examples run as they stand against the installed wheel, page by page."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from rig import material

from llama_cpp import Llama

GUIDE = os.environ.get("LLAMA_TEST_GUIDE", "")
MODEL_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    found = sorted(Path(GUIDE).glob("*.md")) if GUIDE else []
    return [page for page in found if _BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.skipif(not GUIDE, reason="LLAMA_TEST_GUIDE names no folder with the user guide")
def test_the_guide_has_examples() -> None:
    assert pages()


@pytest.mark.once_per_wheel
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / MODEL_NAME).symlink_to(material.model(material.TRANSFORMER))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    text = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(page), "exec", dont_inherit=True), names)  # noqa: S102 - the guide is ours
    for value in names.values():
        if isinstance(value, Llama):
            value.close()
