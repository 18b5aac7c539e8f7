"""How many examples property tests run: hypothesis profiles, chosen by LLAMA_TEST_PROFILE.

`ci` is the default: few examples, the same in every run, so that a pipeline never fails by chance. `nightly` looks for new ones.
"""

from __future__ import annotations

import os

from hypothesis import settings

VARIABLE = "LLAMA_TEST_PROFILE"
CI, NIGHTLY = "ci", "nightly"
_EXAMPLES = {CI: 100, NIGHTLY: 2000}


def load() -> None:
    """Register the profiles and load the chosen one; once per run, before any test module is imported."""
    # No deadline: a busy machine is no failure. No database: the folder that tests run in may be read-only.
    settings.register_profile(CI, max_examples=_EXAMPLES[CI], deadline=None, derandomize=True, database=None)
    settings.register_profile(NIGHTLY, max_examples=_EXAMPLES[NIGHTLY], deadline=None, database=None, print_blob=True)
    settings.load_profile(_chosen())


def examples(in_ci: int) -> int:
    """`max_examples` of a property whose examples are dear: `in_ci` of them by default, as many times more as others at night."""
    return in_ci * _EXAMPLES[_chosen()] // _EXAMPLES[CI]


def _chosen() -> str:
    name = os.environ.get(VARIABLE) or CI
    if name not in _EXAMPLES:
        raise ValueError(f"{VARIABLE} must be one of {', '.join(_EXAMPLES)}, not {name!r}")
    return name
