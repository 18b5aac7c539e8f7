"""Calls that native code would not survive, one function each; a child process runs them and tells what each one raised.

A function is named for what it does wrong, and has to raise. `main` writes a line before and after each, so that the parent
knows which one ended the process.
"""

from __future__ import annotations

import json

from . import batches, lifetimes, memory, openings, sampling  # noqa: F401 - they register their calls
from .cases import CASES

__all__ = ["CASES", "main"]


def main(names: list[str]) -> None:
    for name in names:
        print(json.dumps({"begins": name}), flush=True)
        try:
            CASES[name]()
        except Exception as error:  # noqa: BLE001 - told to the parent
            outcome = [type(error).__name__, str(error), isinstance(error, (ValueError, RuntimeError, TypeError))]
        else:
            outcome = None
        print(json.dumps({"name": name, "outcome": outcome}), flush=True)
