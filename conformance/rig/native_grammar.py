"""llama.cpp's own grammar sampler, asked before it is told, so that it never ends the process."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING

import llama_cpp

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from llama_cpp import Llama


def parses(model: Llama, grammar: str, root: str = "root") -> bool:
    """Whether llama.cpp's parser takes the text."""
    made = llama_cpp.llama_sampler_init_grammar(llama_cpp.llama_model_get_vocab(model.model), grammar.encode(), root.encode())
    if made:
        llama_cpp.llama_sampler_free(made)
    return bool(made)


class NativeGrammar:
    """One text after the other, byte by byte. For models whose vocabulary has a token for each byte."""

    def __init__(self, model: Llama, grammar: str, root: str = "root") -> None:
        vocab = llama_cpp.llama_model_get_vocab(model.model)
        self._sampler = llama_cpp.llama_sampler_init_grammar(vocab, grammar.encode(), root.encode())
        assert self._sampler, "llama.cpp does not take the grammar"
        self._bytes = byte_tokens(model)
        self._end = model.token_eos()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        llama_cpp.llama_sampler_free(self._sampler)

    def accepts(self, text: str) -> bool:
        """Whether the whole text follows the grammar."""
        return self.begins(text) and self.allows(self._end)

    def begins(self, text: str) -> bool:
        """Whether a text that follows the grammar can begin so; then the grammar is behind it."""
        llama_cpp.llama_sampler_reset(self._sampler)
        return all(self.accept(self._bytes[byte]) for byte in text.encode())

    def accept(self, token: int) -> bool:
        """Advance over a token; False where it is not allowed, and nothing is changed."""
        if not self.allows(token):
            return False
        llama_cpp.llama_sampler_accept(self._sampler, token)
        return True

    def allows(self, token: int) -> bool:
        """Whether the token may come next."""
        entry = llama_cpp.llama_token_data(id=token, logit=1.0, p=0.0)
        array = llama_cpp.llama_token_data_array(data=ctypes.pointer(entry), size=1, selected=-1, sorted=False)
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return entry.logit != -math.inf


def byte_tokens(model: Llama) -> dict[int, int]:
    """The token of each byte."""
    vocab, buffer = llama_cpp.llama_model_get_vocab(model.model), ctypes.create_string_buffer(8)
    found: dict[int, int] = {}
    for token in range(model.n_vocab()):
        if llama_cpp.llama_token_to_piece(vocab, token, buffer, len(buffer), 0, False) == 1:
            found[buffer.raw[0]] = token
    return found
