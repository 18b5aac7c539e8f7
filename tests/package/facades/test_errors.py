"""The exceptions' facade holds all of them: one that a layer adds must be public too."""

from __future__ import annotations

import llama_cpp.errors
from llama_cpp.errors import LlamaError


def descendants(kind: type[BaseException]) -> set[type[BaseException]]:
    direct = set(kind.__subclasses__())
    return direct.union(*(descendants(each) for each in direct))


def test_every_exception_of_the_package_is_public() -> None:
    own = {kind.__name__ for kind in descendants(LlamaError) if kind.__module__.startswith("llama_cpp.")}
    assert own | {"LlamaError"} == set(llama_cpp.errors.__all__)
