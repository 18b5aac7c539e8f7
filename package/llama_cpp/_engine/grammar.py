"""Grammars beside a sampler chain: which tokens a GBNF text allows now.

Native code ends the process when a grammar is offered a token that it does not allow, so every token is asked about first. Its
parser does not survive every text either: checking texts, converting JSON Schema and choosing triggers belong to the grammar
feature. Grammars that sleep until a trigger are in `lazy_grammar`, the choice among what is allowed in `constraint`.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Protocol

from llama_cpp._native.bindings import llama

from .errors import GrammarError
from .handle import Handle
from .returns import log_mark, require_pointer

if TYPE_CHECKING:
    from .candidates import Candidates
    from .vocab import Vocab

GRAMMAR_ROOT = "root"


class TokenFilter(Protocol):
    """What decides, token by token, what may come next."""

    def allows(self, token: int) -> bool:
        """Whether `accept` would take the token now."""

    def accept(self, token: int) -> None:
        """Advance over a token; `GrammarError`, and nothing changed, when it is not allowed."""

    def apply(self, candidates: Candidates) -> None:
        """Set the logits of candidates that are not allowed to -inf; some that `allows` refuses may be left."""

    def reset(self) -> None:
        """Back to the start."""

    def clone(self) -> TokenFilter:
        """An independent copy in the same state."""

    @property
    def awake(self) -> bool:
        """Whether it refuses anything but triggers."""

    @property
    def prefixes_decide(self) -> bool:
        """Whether a token that begins with the whole text of a refused one is refused too."""

    @property
    def handle(self) -> Handle[llama.llama_sampler_p]:
        """The native object behind it."""


class TokenWitness(Protocol):
    """Follows a grammar that names tokens: native code passes tokens there that it then fails at."""

    def takes(self, token: int, piece: bytes) -> bool:
        """Whether native code survives accepting the token, whose bytes are `piece`."""

    def accept(self, token: int, piece: bytes) -> None:
        """Advance over a token that it takes."""

    def reset(self) -> None:
        """Back to the start."""

    def clone(self) -> TokenWitness:
        """An independent copy in the same state."""


class GrammarSampler(Handle[llama.llama_sampler_p]):
    """An owned native grammar. `text` is GBNF that was checked; `GrammarError` quotes the native parser's log lines.

    A grammar that names tokens needs a `witness`.
    """

    def __init__(self, vocab: Vocab, text: str, *, root: str = GRAMMAR_ROOT, witness: TokenWitness | None = None) -> None:
        mark = log_mark()
        pointer = llama.llama_sampler_init_grammar(vocab.pointer, _text(text, "grammar"), _text(root, "root rule"))
        message = f"the grammar could not be parsed, or has no rule {root!r}"
        self._take(vocab, require_pointer(pointer, GrammarError, message, mark), witness)

    def _take(self, vocab: Vocab, pointer: llama.llama_sampler_p, witness: TokenWitness | None) -> None:
        self.vocab = vocab
        self._witness = witness
        self._one = llama.llama_token_data()
        array = llama.llama_token_data_array(data=ctypes.pointer(self._one), size=1, selected=-1, sorted=False)
        self._array = ctypes.byref(array)
        self._allowed = -1  # the token that was found to be allowed last, where nothing changed since
        self._character = b""  # the bytes of one that is not complete
        self._own(pointer, llama.llama_sampler_free, parent=vocab.model)

    @property
    def handle(self) -> Handle[llama.llama_sampler_p]:
        """Itself."""
        return self

    @property
    def awake(self) -> bool:
        """Always."""
        return True

    @property
    def prefixes_decide(self) -> bool:
        """Within a character, and where tokens are named, text alone does not."""
        return self._witness is None and not self._character

    def allows(self, token: int) -> bool:
        """Whether the grammar lets the token pass now."""
        one = self._one
        one.id, one.logit = self.vocab.check(token), 0.0
        llama.llama_sampler_apply(self.pointer, self._array)
        if one.logit != 0.0 or not self._survives(token):
            return False
        self._allowed = token
        return True

    def _survives(self, token: int) -> bool:
        return self._witness is None or self.vocab.is_eog(token) or self._witness.takes(token, self.vocab.piece(token, special=True))

    def accept(self, token: int) -> None:
        """Advance over a token; `GrammarError` when it is not allowed here."""
        if token != self._allowed and not self.allows(token):
            raise GrammarError(f"the grammar does not allow token {token} here")
        self._allowed = -1
        llama.llama_sampler_accept(self.pointer, token)
        piece = self.vocab.piece(token, special=True)
        self._character = b"" if piece[-1:] < b"\x80" else incomplete(self._character + piece)
        if self._witness is not None and not self.vocab.is_eog(token):
            self._witness.accept(token, piece)

    def apply(self, candidates: Candidates) -> None:
        """Set the logits of candidates that are not allowed to -inf."""
        if candidates.size:
            llama.llama_sampler_apply(self.pointer, ctypes.byref(candidates.struct))

    def reset(self) -> None:
        """Back to the start of the grammar."""
        llama.llama_sampler_reset(self.pointer)
        self._allowed, self._character = -1, b""
        if self._witness is not None:
            self._witness.reset()

    def clone(self) -> GrammarSampler:
        """An independent copy in the same state."""
        copy = GrammarSampler.__new__(GrammarSampler)
        pointer = llama.llama_sampler_clone(self.pointer)
        pointer = require_pointer(pointer, GrammarError, "the grammar could not be copied", log_mark())
        copy._take(self.vocab, pointer, self._witness and self._witness.clone())  # noqa: SLF001 - its own class
        copy._character = self._character  # noqa: SLF001
        return copy


def incomplete(text: bytes) -> bytes:
    """The bytes at the end of UTF-8 text that are the beginning of a character."""
    for back in range(1, min(4, len(text) + 1)):
        lead = text[-back]
        if lead >= 0xC0:  # noqa: PLR2004 - the first byte of several
            return text[-back:] if back < (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4) else b""  # noqa: PLR2004
        if lead < 0x80:  # noqa: PLR2004 - a whole character
            break
    return b""


def _text(text: str, what: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise GrammarError(f"the {what} is no valid Unicode text: {error}") from error
    if not data.strip() or b"\0" in data:
        raise GrammarError(f"the {what} must be text without NUL characters")
    return data
