"""What every tokenizer offers to `Llama`."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class BaseLlamaTokenizer(abc.ABC):
    """Text to token ids of the model's vocabulary, and back."""

    @abc.abstractmethod
    def tokenize(self, text: bytes, add_bos: bool = True, special: bool = True) -> list[int]:
        """Token ids of UTF-8 text; `special` reads the names of control tokens in it as those tokens."""

    @abc.abstractmethod
    def detokenize(self, tokens: Sequence[int], prev_tokens: Sequence[int] | None = None, special: bool = False) -> bytes:
        """The text of token ids as bytes, which may begin or end within a character.

        With `prev_tokens`, what the tokens add to the text of those; `special` spells control tokens out.
        """
