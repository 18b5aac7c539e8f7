"""The matrix as GitHub Actions takes it: one `include` list per kind of job. Workflows hold no rows of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from buildsys.matrix import BuildRow

View: TypeAlias = Literal["builds", "tests", "gpus"]
Entry: TypeAlias = dict[str, str]


def include(chosen: Sequence[BuildRow], view: View) -> dict[str, list[Entry]]:
    """What a job's `strategy.matrix` is to be, made of the `chosen` rows.

    `builds` has one entry per row, `tests` one per row and machine that proves its wheel, `gpus` one per Linux CUDA row.
    """
    return {"include": [entry for row in chosen for entry in VIEWS[view](row)]}


def _builds(row: BuildRow) -> Iterator[Entry]:
    yield {"identifier": row.identifier, "runner": row.runner}


def _tests(row: BuildRow) -> Iterator[Entry]:
    for test in row.tests:
        yield {"identifier": row.identifier, "runner": test.runner, "python": test.python}


def _gpus(row: BuildRow) -> Iterator[Entry]:
    # The machine with the GPU is the project's own, of one kind; hosted runners have none.
    if row.cuda is not None and row.system == "linux" and row.tests:
        yield {"identifier": row.identifier, "python": row.tests[-1].python}


VIEWS: dict[View, Callable[[BuildRow], Iterator[Entry]]] = {"builds": _builds, "tests": _tests, "gpus": _gpus}
