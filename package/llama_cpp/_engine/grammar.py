"""Grammars beside a sampler chain: which tokens a GBNF text allows now, and when a lazy grammar wakes up.

Native code ends the process when a grammar is offered a token that it does not allow, or a trigger pattern that its
regex library refuses. So every token is asked about first, and triggers are watched for here: llama.cpp's own lazy
samplers are not used. Converting JSON Schema and choosing triggers belong to the grammar feature.
"""

from __future__ import annotations

import ctypes
import math
import re
from typing import TYPE_CHECKING, Protocol

from llama_cpp._native.bindings import llama

from .candidates import Candidates
from .errors import GrammarError
from .handle import Handle
from .returns import log_mark, require_pointer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .vocab import Vocab

GRAMMAR_ROOT = "root"


class TokenFilter(Protocol):
    """What decides, token by token, what may come next."""

    def allows(self, token: int) -> bool:
        """Whether `accept` would take the token now."""

    def accept(self, token: int) -> None:
        """Advance over a token; `GrammarError`, and nothing changed, when it is not allowed."""

    def apply(self, candidates: Candidates) -> None:
        """Set the logits of candidates that are not allowed to -inf."""

    def reset(self) -> None:
        """Back to the start."""

    def clone(self) -> TokenFilter:
        """An independent copy in the same state."""

    @property
    def handle(self) -> Handle[llama.llama_sampler_p]:
        """The native object behind it."""


class GrammarSampler(Handle[llama.llama_sampler_p]):
    """An owned native grammar. `text` is GBNF; `GrammarError` quotes the parser's log lines."""

    def __init__(self, vocab: Vocab, text: str, *, root: str = GRAMMAR_ROOT) -> None:
        mark = log_mark()
        pointer = llama.llama_sampler_init_grammar(vocab.pointer, _text(text, "grammar"), _text(root, "root rule"))
        message = f"the grammar could not be parsed, or has no rule {root!r}"
        self._take(vocab, require_pointer(pointer, GrammarError, message, mark))

    def _take(self, vocab: Vocab, pointer: llama.llama_sampler_p) -> None:
        self.vocab = vocab
        self._one = Candidates(1)
        self._own(pointer, llama.llama_sampler_free, parent=vocab.model)

    @property
    def handle(self) -> Handle[llama.llama_sampler_p]:
        """Itself."""
        return self

    def allows(self, token: int) -> bool:
        """Whether the grammar lets the token pass now."""
        self._one.fill_tokens([self.vocab.check(token)], 0.0)
        llama.llama_sampler_apply(self.pointer, ctypes.byref(self._one.struct))
        return bool(self._one.data["logit"][0] != -math.inf)

    def accept(self, token: int) -> None:
        """Advance over a token; `GrammarError` when it is not allowed here."""
        if not self.allows(token):
            raise GrammarError(f"the grammar does not allow token {token} here")
        llama.llama_sampler_accept(self.pointer, token)

    def apply(self, candidates: Candidates) -> None:
        """Set the logits of candidates that are not allowed to -inf."""
        if candidates.size:
            llama.llama_sampler_apply(self.pointer, ctypes.byref(candidates.struct))

    def reset(self) -> None:
        """Back to the start of the grammar."""
        llama.llama_sampler_reset(self.pointer)

    def clone(self) -> GrammarSampler:
        """An independent copy in the same state."""
        copy = GrammarSampler.__new__(GrammarSampler)
        pointer = llama.llama_sampler_clone(self.pointer)
        pointer = require_pointer(pointer, GrammarError, "the grammar could not be copied", log_mark())
        copy._take(self.vocab, pointer)  # noqa: SLF001 - its own class
        return copy


class LazyGrammar:
    """A grammar that allows everything until a trigger is met, and from then on what its GBNF text allows.

    A trigger token wakes it and is its first token. A pattern (Python `re` syntax) is searched in the text so far,
    control tokens included; `^…$` has to match it all. The grammar then begins with the text of the first group
    that matched something, or else of the whole match.
    """

    def __init__(
        self,
        vocab: Vocab,
        text: str,
        *,
        root: str = GRAMMAR_ROOT,
        patterns: Sequence[str] = (),
        tokens: Sequence[int] = (),
    ) -> None:
        if not patterns and not tokens:
            raise GrammarError("a lazy grammar needs trigger patterns or trigger tokens")
        self._tokens = frozenset(vocab.check(token) for token in tokens)
        self._patterns = [_Pattern(pattern) for pattern in patterns]
        self._grammar = GrammarSampler(vocab, text, root=root)
        self._past: list[int] = []
        self._text = b""
        self.awake = False

    @property
    def handle(self) -> Handle[llama.llama_sampler_p]:
        """The grammar that is waiting."""
        return self._grammar

    def allows(self, token: int) -> bool:
        """Whether `accept` would take the token; asleep, only a trigger whose text does not fit is refused."""
        if self.awake:
            return self._grammar.allows(token)
        begun = self._triggered(token)
        if begun is None:
            return True
        with self._grammar.clone() as trial:
            return _follow(trial, begun)

    def accept(self, token: int) -> None:
        """Advance over a token; `GrammarError` when it is not allowed."""
        if self.awake:
            self._grammar.accept(token)
            return
        begun = self._triggered(token)
        if begun is None:
            self._past.append(token)
            self._text += self._piece(token)
            return
        if not self.allows(token):
            raise GrammarError(f"token {token} completes a trigger, but the grammar does not allow the text that it begins with")
        _follow(self._grammar, begun)
        self._past, self._text, self.awake = [], b"", True

    def _triggered(self, token: int) -> list[int] | None:
        """The tokens that the grammar begins with if `token` comes next; None when that wakes nothing."""
        if token in self._tokens:
            return [token]
        text = self._text + self._piece(token)
        for pattern in self._patterns:
            start = pattern.find(text)
            if start is not None:
                return self._tokens_from(text, start, token)
        return None

    def _tokens_from(self, text: bytes, start: int, token: int) -> list[int]:
        """The latest tokens that spell `text[start:]`, the first of them cut where the match begins inside it."""
        begun: list[int] = []
        at = len(text)
        for each in (token, *reversed(self._past)):
            if at <= start:
                break
            at -= len(self._piece(each))
            begun.insert(0, each)
        if at < start:
            cut = self._piece(begun[0])[start - at :]
            begun[:1] = spell(self._grammar.vocab, cut)
        return begun

    def _piece(self, token: int) -> bytes:
        return self._grammar.vocab.piece(token, special=True)

    def apply(self, candidates: Candidates) -> None:
        """Set the logits of candidates that are not allowed to -inf; asleep, do nothing."""
        if self.awake:
            self._grammar.apply(candidates)

    def reset(self) -> None:
        """Asleep again, at the start."""
        self._grammar.reset()
        self._past, self._text, self.awake = [], b"", False

    def clone(self) -> LazyGrammar:
        """An independent copy in the same state."""
        copy = LazyGrammar.__new__(LazyGrammar)
        copy.__dict__.update(self.__dict__)
        copy._grammar = self._grammar.clone()  # noqa: SLF001 - its own class
        copy._past = list(self._past)  # noqa: SLF001
        return copy


class _Pattern:
    """A trigger pattern and where in a text it makes a grammar begin."""

    def __init__(self, pattern: str) -> None:
        try:
            compiled = re.compile(pattern.encode())
        except re.error as error:
            raise GrammarError(f"trigger pattern {pattern!r} is no valid regular expression: {error}") from error
        self._match = compiled.fullmatch if pattern.startswith("^") and pattern.endswith("$") else compiled.search

    def find(self, text: bytes) -> int | None:
        found = self._match(text)
        if found is None:
            return None
        filled = (number for number in range(1, found.re.groups + 1) if found[number])
        return found.start(next(filled, 0))


def spell(vocab: Vocab, text: bytes) -> list[int]:
    """Tokens whose pieces are exactly `text`. `GrammarError` when the vocabulary has none."""
    for lead in (b"", b"\n"):  # behind a line feed no vocabulary adds a space of its own
        tokens = vocab.tokenize(lead + text, add_special=False)
        pieces = [vocab.piece(token, special=True) for token in tokens]
        for begin in range(len(tokens) + 1):
            if b"".join(pieces[begin:]) == text:
                return tokens[begin:]
    raise GrammarError(f"a trigger begins inside a token, at {text!r}, which this vocabulary cannot spell")


def _follow(grammar: GrammarSampler, tokens: Sequence[int]) -> bool:
    """Advance over tokens as far as they are allowed; whether all of them were."""
    for token in tokens:
        if not grammar.allows(token):
            return False
        grammar.accept(token)
    return True


def _text(text: str, what: str) -> bytes:
    data = text.encode()
    if not data.strip() or b"\0" in data:
        raise GrammarError(f"the {what} must be text without NUL characters")
    return data
