"""A model's vocabulary: text to tokens and back, special tokens, attributes.

Streaming text out of single pieces is the business of the completion feature.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from llama_cpp._native.bindings import llama

from .errors import TokenizeError, TokenRangeError

if TYPE_CHECKING:
    from .model import Model

Tokens = Sequence[int] | NDArray[np.integer[Any]]

_INT32_MAX = 2**31 - 1
_KIND_NONE = 0


class Vocab:
    """The vocabulary of a live model, which it keeps alive. Thread-safe.

    Special tokens are ids, -1 where the model has none.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._pieces: tuple[dict[int, bytes], dict[int, bytes]] = ({}, {})
        self._ends: dict[int, bool] = {}
        pointer = self.pointer
        self.n_tokens = int(llama.llama_vocab_n_tokens(pointer))
        self.kind = int(llama.llama_vocab_type(pointer))
        self.bos = int(llama.llama_vocab_bos(pointer))
        self.eos = int(llama.llama_vocab_eos(pointer))
        self.eot = int(llama.llama_vocab_eot(pointer))
        self.sep = int(llama.llama_vocab_sep(pointer))
        self.nl = int(llama.llama_vocab_nl(pointer))
        self.pad = int(llama.llama_vocab_pad(pointer))
        self.mask = int(llama.llama_vocab_mask(pointer))
        self.fim_pre = int(llama.llama_vocab_fim_pre(pointer))
        self.fim_suf = int(llama.llama_vocab_fim_suf(pointer))
        self.fim_mid = int(llama.llama_vocab_fim_mid(pointer))
        self.fim_pad = int(llama.llama_vocab_fim_pad(pointer))
        self.fim_rep = int(llama.llama_vocab_fim_rep(pointer))
        self.fim_sep = int(llama.llama_vocab_fim_sep(pointer))
        self.add_bos = bool(llama.llama_vocab_get_add_bos(pointer))
        self.add_eos = bool(llama.llama_vocab_get_add_eos(pointer))
        self.add_sep = bool(llama.llama_vocab_get_add_sep(pointer))

    @property
    def pointer(self) -> llama.llama_vocab_p:
        """The native address, borrowed from the model."""
        pointer = llama.llama_model_get_vocab(self._model.pointer)
        if pointer is None:
            raise TokenizeError("this model has no vocabulary")
        return pointer

    @property
    def model(self) -> Model:
        """Whose vocabulary this is."""
        return self._model

    @cached_property
    def suppress_tokens(self) -> tuple[int, ...]:
        """Tokens that must never be sampled (`tokenizer.ggml.suppress_tokens`). Nothing else applies this list."""
        count = ctypes.c_int32(0)
        address = llama.llama_vocab_get_suppress_tokens(self.pointer, ctypes.byref(count))
        if not address or count.value <= 0:
            return ()
        return tuple(ctypes.cast(address, ctypes.POINTER(ctypes.c_int32))[: count.value])

    @cached_property
    def eog_tokens(self) -> tuple[int, ...]:
        """All tokens that end a generation. The first call goes through the vocabulary."""
        pointer = self.pointer
        return tuple(token for token in range(self.n_tokens) if llama.llama_vocab_is_eog(pointer, token))

    def check(self, token: int) -> int:
        """The token itself; `TokenRangeError` when the vocabulary has no such id."""
        if not 0 <= token < self.n_tokens:
            raise TokenRangeError(f"token {token} is out of range: this vocabulary has {self.n_tokens} tokens")
        return token

    def check_all(self, tokens: Tokens) -> NDArray[np.int32]:
        """The tokens as an int32 array; `TokenRangeError` naming the first id that does not exist."""
        array = np.asarray(tokens)
        if array.size == 0:
            return np.zeros(0, np.int32)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise TokenRangeError(f"tokens must be a flat sequence of integers, not {array.dtype} of shape {array.shape}")
        if int(array.min()) < 0 or int(array.max()) >= self.n_tokens:
            self.check(int(array[(array < 0) | (array >= self.n_tokens)][0]))
        return np.ascontiguousarray(array, np.int32)

    def tokenize(self, text: bytes | str, *, add_special: bool = True, parse_special: bool = False) -> list[int]:
        """Text (UTF-8 when bytes) to token ids.

        `add_special` adds BOS/EOS where the model asks for it; `parse_special` reads control tokens in the text
        as such, so it is not for untrusted text. NUL bytes are text like any other.
        """
        tokens: list[int] = self.tokenize_array(text, add_special=add_special, parse_special=parse_special).tolist()
        return tokens

    def tokenize_array(self, text: bytes | str, *, add_special: bool = True, parse_special: bool = False) -> NDArray[np.int32]:
        """The same as an int32 array."""
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(memoryview(text))
        self._require_tokenizer(add_special)
        if len(data) > _INT32_MAX:
            raise TokenizeError(f"a text of {len(data)} bytes is too long to tokenize at once")
        capacity = len(data) + 8
        for _ in range(2):  # the second try has the size that the first one asked for
            buffer = (ctypes.c_int32 * capacity)()
            count = int(llama.llama_tokenize(self.pointer, data, len(data), buffer, capacity, add_special, parse_special))
            if count >= 0:
                tokens: NDArray[np.int32] = np.frombuffer(memoryview(buffer), np.int32, count).copy()
                return tokens
            if count < -_INT32_MAX:
                break
            capacity = -count
        raise TokenizeError(f"a text of {len(data)} bytes could not be tokenized", code=count)

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """The bytes of one token, remembered after the first call; control tokens are empty unless `special`."""
        known = self._pieces[special].get(token)
        return self._read_piece(token, special) if known is None else known

    def _read_piece(self, token: int, special: bool) -> bytes:
        self.check(token)
        self._require_tokenizer(False)
        capacity = 64
        for _ in range(2):
            buffer = ctypes.create_string_buffer(capacity)
            size = int(llama.llama_token_to_piece(self.pointer, token, buffer, capacity, 0, special))
            if size >= 0:
                piece = buffer.raw[:size]
                self._pieces[special][token] = piece
                return piece
            capacity = -size
        raise TokenizeError(f"token {token} could not be turned into text", code=size)

    def detokenize(self, tokens: Tokens, *, remove_special: bool = False, unparse_special: bool = False) -> bytes:
        """Token ids to text, as a whole: the inverse of `tokenize`, with its rules on leading spaces."""
        array = self.check_all(tokens)
        self._require_tokenizer(False)
        if not array.size:
            return b""
        ids = (ctypes.c_int32 * array.size).from_buffer_copy(array.data)
        capacity = 8 * array.size + 32
        for _ in range(2):
            buffer = ctypes.create_string_buffer(capacity)
            size = int(llama.llama_detokenize(self.pointer, ids, array.size, buffer, capacity, remove_special, unparse_special))
            if size >= 0:
                return buffer.raw[:size]
            capacity = -size
        raise TokenizeError(f"{array.size} tokens could not be turned into text", code=size)

    def text(self, token: int) -> bytes:
        """The token as the vocabulary spells it, before any decoding."""
        return bytes(llama.llama_vocab_get_text(self.pointer, self.check(token)) or b"")

    def score(self, token: int) -> float:
        """The token's score in the vocabulary."""
        return float(llama.llama_vocab_get_score(self.pointer, self.check(token)))

    def attributes(self, token: int) -> int:
        """Bits of `llama_token_attr`."""
        return int(llama.llama_vocab_get_attr(self.pointer, self.check(token)))

    def is_eog(self, token: int) -> bool:
        """Whether the token ends a generation."""
        known = self._ends.get(token)
        if known is None:
            known = self._ends[token] = bool(llama.llama_vocab_is_eog(self.pointer, self.check(token)))
        return known

    def is_control(self, token: int) -> bool:
        """Whether the token is a control token."""
        return bool(llama.llama_vocab_is_control(self.pointer, self.check(token)))

    def _require_tokenizer(self, add_special: bool) -> None:
        """Native code ends the process when a vocabulary lacks what it is asked for."""
        if self.kind == _KIND_NONE:
            raise TokenizeError("this model has no vocabulary")
        if add_special and ((self.add_bos and self.bos < 0) or (self.add_eos and self.eos < 0)):
            raise TokenizeError("this vocabulary asks for a BOS or EOS token but has none; use add_special=False")
