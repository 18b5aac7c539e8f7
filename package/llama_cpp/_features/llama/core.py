"""What every part of `Llama` builds on: the runtime behind it, and the error once it is closed."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from llama_cpp._engine.errors import ClosedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from llama_cpp._engine.vocab import Vocab
    from llama_cpp._features.tokenizer.base import BaseLlamaTokenizer

    from .runtime import Runtime


class LlamaCore:
    """Holds the runtime. The methods of `Llama` come from subclasses, one per concern."""

    model_path: str
    tokenizer_: BaseLlamaTokenizer
    last_n_tokens_size: int
    spm_infill: bool
    _recommended: Mapping[str, Any] = MappingProxyType({})
    """Sampling parameters that take the place of defaults which a caller leaves alone."""
    _opened: Runtime | None = None

    @property
    def _runtime(self) -> Runtime:
        opened = self._opened
        if opened is None:
            raise ClosedError("this Llama is closed; create a new one")
        return opened

    @property
    def _vocab(self) -> Vocab:
        return self._runtime.vocab
