"""Grammars that sleep until a trigger is met.

llama.cpp's own lazy samplers are not used: they end the process at a pattern that their regex library refuses, and at a trigger
whose text the grammar does not allow. Triggers are watched for here, and the grammar is an ordinary one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .errors import GrammarError
from .grammar import GRAMMAR_ROOT, GrammarSampler, TokenWitness, incomplete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llama_cpp._native.bindings import llama

    from .candidates import Candidates
    from .handle import Handle
    from .vocab import Vocab


class LazyGrammar:
    """A grammar that allows everything until a trigger is met, and from then on what its GBNF text allows.

    A trigger token wakes it and is its first token. A pattern (Python `re` syntax) is searched in the text so far, control
    tokens and the complete characters of the newest token included; `^…$` has to match it all. The grammar then begins with the
    text of the first group that matched something, or else of the whole match.
    """

    def __init__(
        self,
        vocab: Vocab,
        text: str,
        *,
        root: str = GRAMMAR_ROOT,
        patterns: Sequence[str] = (),
        tokens: Sequence[int] = (),
        witness: TokenWitness | None = None,
    ) -> None:
        if not patterns and not tokens:
            raise GrammarError("a lazy grammar needs trigger patterns or trigger tokens")
        self._tokens = frozenset(vocab.check(token) for token in tokens)
        self._patterns = [_Pattern(pattern) for pattern in patterns]
        self._grammar = GrammarSampler(vocab, text, root=root, witness=witness)
        self._vocab = vocab
        self._sleep()

    def _sleep(self) -> None:
        self._past: list[int] = []
        self._text, self._character = "", b""
        self._looked: tuple[int, list[int] | None] = (-1, None)  # a token, and what the grammar begins with if it comes next
        self._awake = False

    @property
    def handle(self) -> Handle[llama.llama_sampler_p]:
        """The grammar that is waiting."""
        return self._grammar

    @property
    def awake(self) -> bool:
        """Whether a trigger was met."""
        return self._awake

    @property
    def prefixes_decide(self) -> bool:
        """As the grammar has it, once it is awake."""
        return self._awake and self._grammar.prefixes_decide

    def allows(self, token: int) -> bool:
        """Whether `accept` would take the token; asleep, only a trigger whose text does not fit is refused."""
        if self._awake:
            return self._grammar.allows(token)
        begun = self._triggered(token)
        if begun is None:
            return True
        with self._grammar.clone() as trial:
            return _follow(trial, begun)

    def accept(self, token: int) -> None:
        """Advance over a token; `GrammarError` when it is not allowed."""
        if self._awake:
            self._grammar.accept(token)
            return
        begun = self._triggered(token)
        if begun is None:
            self._past.append(token)
            self._text, self._character = self._with(token)
            self._looked = (-1, None)
            return
        if not self.allows(token):
            raise GrammarError(f"token {token} completes a trigger, but the grammar does not allow the text that it begins with")
        _follow(self._grammar, begun)
        self._sleep()
        self._awake = True

    def _with(self, token: int) -> tuple[str, bytes]:
        """The text with the token's complete characters, and the bytes of one that is not complete."""
        data = self._character + self._piece(token)
        rest = incomplete(data)
        return self._text + data[: len(data) - len(rest)].decode("utf-8", "surrogateescape"), rest

    def _triggered(self, token: int) -> list[int] | None:
        """The tokens that the grammar begins with if `token` comes next; None when that wakes nothing."""
        if self._looked[0] != token:
            self._looked = (token, self._look(token))
        return self._looked[1]

    def _look(self, token: int) -> list[int] | None:
        if token in self._tokens:
            return [token]
        text, rest = self._with(token)
        for pattern in self._patterns:
            start = pattern.find(text)
            if start is not None:
                return self._latest(text[start:].encode("utf-8", "surrogateescape") + rest, token)
        return None

    def _latest(self, text: bytes, token: int) -> list[int]:
        """The latest tokens that spell `text`, the first of them cut where the match begins inside it."""
        begun: list[int] = []
        missing = len(text)
        for each in (token, *reversed(self._past)):
            if missing <= 0:
                break
            missing -= len(self._piece(each))
            begun.insert(0, each)
        if missing < 0:
            begun[:1] = spell(self._vocab, self._piece(begun[0])[-missing:])
        return begun

    def _piece(self, token: int) -> bytes:
        return self._vocab.piece(token, special=True)

    def apply(self, candidates: Candidates) -> None:
        """Set the logits of candidates that are not allowed to -inf; asleep, do nothing."""
        if self._awake:
            self._grammar.apply(candidates)

    def reset(self) -> None:
        """Asleep again, at the start."""
        self._grammar.reset()
        self._sleep()

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
            compiled = re.compile(pattern)
        except re.error as error:
            raise GrammarError(f"trigger pattern {pattern!r} is no valid regular expression: {error}") from error
        self._match = compiled.fullmatch if pattern.startswith("^") and pattern.endswith("$") else compiled.search

    def find(self, text: str) -> int | None:
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
