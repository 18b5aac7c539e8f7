"""The tokenizer that a model file brings along."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from llama_cpp._engine.model import Model
from llama_cpp._engine.params import ModelParams

from .base import BaseLlamaTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llama_cpp._engine.vocab import Vocab


class LlamaTokenizer(BaseLlamaTokenizer):
    """Tokenizes with the vocabulary of a `Llama`. Keeps the vocabulary, not the `Llama`."""

    def __init__(self, llama: Any) -> None:
        self._vocab: Vocab = llama._vocab  # noqa: SLF001 - `Llama`, or what stands in for it below
        self._own_model: Model | None = None

    @classmethod
    def from_ggml_file(cls, path: str) -> LlamaTokenizer:
        """A tokenizer from the vocabulary of a GGUF file, without its weights."""
        model = Model.load(path, ModelParams(vocab_only=True))
        tokenizer = cls(SimpleNamespace(_vocab=model.vocab))
        tokenizer._own_model = model
        return tokenizer

    def tokenize(self, text: bytes, add_bos: bool = True, special: bool = True) -> list[int]:
        """`llama_tokenize`: adds BOS (and what else the model asks for) when `add_bos` is set."""
        return self._vocab.tokenize(text, add_special=add_bos, parse_special=special)

    def detokenize(self, tokens: Sequence[int], prev_tokens: Sequence[int] | None = None, special: bool = False) -> bytes:
        """`llama_detokenize`: a space that the vocabulary puts before a text's first word is taken away again."""
        if not prev_tokens:
            return self._vocab.detokenize(list(tokens), unparse_special=special)
        before = self._vocab.detokenize(list(prev_tokens), unparse_special=special)
        whole = self._vocab.detokenize([*prev_tokens, *tokens], unparse_special=special)
        if whole.startswith(before):
            return whole[len(before) :]
        return b"".join(self._vocab.piece(token, special=special) for token in tokens)

    def encode(self, text: str, add_bos: bool = True, special: bool = True) -> list[int]:
        """Token ids of a str."""
        return self.tokenize(text.encode("utf-8", errors="ignore"), add_bos=add_bos, special=special)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of token ids; bytes that are not UTF-8 are left out."""
        return self.detokenize(tokens).decode("utf-8", errors="ignore")

    def __del__(self) -> None:
        model = getattr(self, "_own_model", None)
        if model is not None:
            model.close()
