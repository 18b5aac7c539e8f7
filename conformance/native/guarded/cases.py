"""The calls by name, and the small objects that they are made on."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llama_cpp import Llama, _internals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


CASES: dict[str, Callable[[], object]] = {}
SMALL = {"n_ctx": 256, "n_batch": 64, "n_threads": 1, "n_threads_batch": 1, "verbose": False}


def case(function: Callable[[], object]) -> Callable[[], object]:
    CASES[function.__name__] = function
    return function


def path(kind: str = "LLAMA") -> str:
    return os.environ[f"LLAMA_TEST_SYNTH_{kind}"]


@contextmanager
def llama(kind: str = "LLAMA", **options: Any) -> Iterator[Llama]:
    with Llama(path(kind), **{**SMALL, **options}) as made:
        yield made


@contextmanager
def objects(kind: str = "LLAMA", **options: Any) -> Iterator[tuple[_internals.LlamaModel, _internals.LlamaContext]]:
    params = _internals.LlamaContext.default_params()
    for name, value in {"n_ctx": 256, "n_batch": 64, "n_ubatch": 32, "n_threads": 1, "n_threads_batch": 1, **options}.items():
        setattr(params, name, value)
    with _internals.LlamaModel(path(kind)) as model, _internals.LlamaContext(model, params) as context:
        yield model, context


def batch_of(count: int, *, n_seq_max: int = 1, logits_all: bool = False) -> _internals.LlamaBatch:
    batch = _internals.LlamaBatch(count, 0, n_seq_max)
    batch.set_batch([5] * count, 0, logits_all)
    return batch
