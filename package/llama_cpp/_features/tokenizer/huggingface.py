"""A Hugging Face tokenizer in the place of the model's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import BaseLlamaTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence


class LlamaHFTokenizer(BaseLlamaTokenizer):
    """Wraps a `transformers` tokenizer, which has to have the model's vocabulary."""

    def __init__(self, hf_tokenizer: Any) -> None:
        self.hf_tokenizer = hf_tokenizer

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str) -> LlamaHFTokenizer:
        """Load it by name or path. Raises ImportError without the transformers package."""
        try:
            from transformers import AutoTokenizer  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - an optional package
        except ImportError as error:
            raise ImportError("LlamaHFTokenizer needs the transformers package: pip install transformers") from error
        return cls(AutoTokenizer.from_pretrained(pretrained_model_name_or_path))

    def tokenize(self, text: bytes, add_bos: bool = True, special: bool = True) -> list[int]:  # noqa: ARG002
        """`encode` of the wrapped tokenizer, which decides about BOS itself; `special` adds its special tokens."""
        return list(self.hf_tokenizer.encode(text.decode("utf-8", errors="ignore"), add_special_tokens=special))

    def detokenize(self, tokens: Sequence[int], prev_tokens: Sequence[int] | None = None, special: bool = False) -> bytes:
        """`decode` of the wrapped tokenizer; a character that is not complete yet comes with the token that ends it."""
        decode, skip = self.hf_tokenizer.decode, not special
        if not prev_tokens:
            return str(decode(list(tokens), skip_special_tokens=skip)).encode("utf-8", errors="ignore")
        before = str(decode(list(prev_tokens), skip_special_tokens=skip)).encode("utf-8", errors="ignore")
        whole = str(decode([*prev_tokens, *tokens], skip_special_tokens=skip)).encode("utf-8", errors="ignore")
        return whole[len(before) :]
