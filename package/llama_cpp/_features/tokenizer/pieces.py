"""The bytes of each token of a vocabulary, asked for once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class TokenPieces(dict[int, bytes | None]):
    """Token id → its bytes in the middle of a text; None for a token that ends a generation.

    Filled as tokens are met, so a lookup in the generation loop costs no native call; never larger than the
    vocabulary.
    """

    def __init__(self, piece: Callable[[int], bytes], is_end: Callable[[int], bool]) -> None:
        super().__init__()
        self._piece = piece
        self._is_end = is_end

    def __missing__(self, token: int) -> bytes | None:
        piece = None if self._is_end(token) else self._piece(token)
        self[token] = piece
        return piece
