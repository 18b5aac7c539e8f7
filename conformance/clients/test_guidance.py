"""guidance with llguidance: constrained decoding over the C functions."""

from __future__ import annotations

from typing import Any

from guidance import gen, models, select


def test_a_choice_and_a_pattern(model_path: str) -> None:
    model: Any = models.LlamaCpp(model_path, n_ctx=512, verbose=False)
    answer = model + "Is water wet? " + select(["yes", "no"], name="wet") + " and 2 + 2 = " + gen(name="sum", regex=r"[0-9]", max_tokens=2)
    assert answer["wet"] in ("yes", "no")
    assert answer["sum"].isdigit()
