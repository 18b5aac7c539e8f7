"""A Hugging Face tokenizer in the place of the model's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import BaseLlamaTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence


_INCOMPLETE = "\N{REPLACEMENT CHARACTER}"  # what stands for a character of which bytes are missing


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
        """`decode` of the wrapped tokenizer; with `prev_tokens` a character comes with the token that completes it."""
        if not prev_tokens:
            return self._text(tokens, special).encode("utf-8", errors="ignore")
        before = self._text(prev_tokens, special).rstrip(_INCOMPLETE)
        whole = self._text([*prev_tokens, *tokens], special).rstrip(_INCOMPLETE)
        return whole[len(before) :].encode("utf-8", errors="ignore")

    def _text(self, tokens: Sequence[int], special: bool) -> str:
        return str(self.hf_tokenizer.decode(list(tokens), skip_special_tokens=not special))
