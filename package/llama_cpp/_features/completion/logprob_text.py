"""Log-probabilities in the shape of a completion's answer: parallel lists, each token with its place in the text."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from llama_cpp._features.sampling.logprobs import TokenLogprobs
    from llama_cpp._features.types.completion import CompletionLogprobs

_Decoder = getincrementaldecoder("utf-8")


class LogprobText:
    """Collects the tokens of a text that begins at character `start`, and hands them out as the text is shown.

    `piece` gives a token's bytes. Tokens that hold parts of one character share its place.
    """

    def __init__(self, piece: Callable[[int], bytes | None], *, start: int) -> None:
        self._piece = piece
        self._decoder = _Decoder("replace")
        self._offset = start
        self._waiting: list[tuple[int, TokenLogprobs]] = []

    def add(self, entry: TokenLogprobs) -> None:
        """The next token of the text."""
        self._waiting.append((self._offset, entry))
        self._offset += len(self._decoder.decode(self._piece(entry.token) or b""))

    def take(self, shown: int | None = None) -> Any:
        """The tokens that begin before character `shown` (None: all) and were not taken yet; None when there are none."""
        count = len(self._waiting)
        if shown is not None:
            count = next((index for index, (offset, _) in enumerate(self._waiting) if offset >= shown), count)
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return self._shaped(taken) if taken else None

    def _shaped(self, taken: list[tuple[int, TokenLogprobs]]) -> Any:
        shaped: CompletionLogprobs = {
            "tokens": [self._text(entry.token) for _, entry in taken],
            "text_offset": [offset for offset, _ in taken],
            "token_logprobs": [entry.logprob for _, entry in taken],
            "top_logprobs": [self._top(entry) for _, entry in taken],
        }
        return shaped

    def _text(self, token: int) -> str:
        return (self._piece(token) or b"").decode("utf-8", "replace")

    def _top(self, entry: TokenLogprobs) -> dict[str, float] | None:
        """By text: of several tokens that look alike the likeliest is shown. The chosen token is always among them."""
        if entry.logprob is None:
            return None
        found: dict[str, float] = {}
        for token, logprob in (*entry.top, (entry.token, entry.logprob)):
            found.setdefault(self._text(token), logprob)
        return found


def joined(parts: list[CompletionLogprobs]) -> CompletionLogprobs | None:
    """Parts in a row as one; None when there are none."""
    if not parts:
        return None
    return {
        "tokens": [item for part in parts for item in part["tokens"]],
        "text_offset": [item for part in parts for item in part["text_offset"]],
        "token_logprobs": [item for part in parts for item in part["token_logprobs"]],
        "top_logprobs": [item for part in parts for item in part["top_logprobs"]],
    }
