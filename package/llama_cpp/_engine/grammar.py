"""Native grammar samplers: creating them from GBNF text, and asking whether a token is allowed.

Native code ends the process when a grammar is offered a token that it does not allow, so that is asked first.
JSON Schema conversion and the choice of triggers belong to the grammar feature.
"""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING

from llama_cpp._native.bindings import llama
from llama_cpp._native.bindings.llama import llama_sampler_p, llama_vocab_p

from .candidates import Candidates
from .errors import GrammarError
from .handle import Handle
from .returns import log_mark, require_pointer
from .trigger_pattern import check_trigger_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .vocab import Vocab

GRAMMAR_ROOT = "root"


def init_grammar(vocab: llama_vocab_p, text: str, root: str = GRAMMAR_ROOT) -> llama_sampler_p:
    """A new native sampler that belongs to the caller. `GrammarError` quotes the parser's log lines."""
    mark = log_mark()
    sampler = llama.llama_sampler_init_grammar(vocab, _text(text, "grammar"), _text(root, "root rule"))
    return require_pointer(sampler, GrammarError, f"the grammar could not be parsed, or has no rule {root!r}", mark)


def init_lazy_grammar(vocab: llama_vocab_p, text: str, root: str, patterns: Sequence[str], tokens: Sequence[int]) -> llama_sampler_p:
    """The same, asleep until a trigger token or pattern is met. `tokens` must be valid ids."""
    if not patterns and not tokens:
        raise GrammarError("a lazy grammar needs trigger patterns or trigger tokens")
    regexes = [check_trigger_pattern(pattern).encode() for pattern in patterns]
    pattern_array = (ctypes.c_char_p * len(regexes))(*regexes)
    token_array = (ctypes.c_int32 * len(tokens))(*tokens)
    mark = log_mark()
    sampler = llama.llama_sampler_init_grammar_lazy_patterns(
        vocab, _text(text, "grammar"), _text(root, "root rule"), pattern_array, len(regexes), token_array, len(tokens)
    )
    return require_pointer(sampler, GrammarError, f"the grammar could not be parsed, or has no rule {root!r}", mark)


def allows(grammar: llama_sampler_p | None, token: int) -> bool:
    """Whether a native grammar sampler lets `token` pass in its present state."""
    if grammar is None:
        return True
    candidates = Candidates(1)
    candidates.fill_tokens([token], 0.0)
    llama.llama_sampler_apply(grammar, ctypes.byref(candidates.struct))
    return bool(candidates.data["logit"][0] != -math.inf)


class GrammarSampler(Handle[llama_sampler_p]):
    """An owned grammar outside any chain: sample first, ask whether the token is allowed, and only then mask."""

    def __init__(
        self,
        vocab: Vocab,
        text: str,
        *,
        root: str = GRAMMAR_ROOT,
        patterns: Sequence[str] = (),
        tokens: Sequence[int] = (),
    ) -> None:
        """With `patterns` or `tokens` the grammar is lazy."""
        self._vocab = vocab
        if patterns or tokens:
            checked = [vocab.check(token) for token in tokens]
            pointer = init_lazy_grammar(vocab.pointer, text, root, patterns, checked)
        else:
            pointer = init_grammar(vocab.pointer, text, root)
        self._own(pointer, llama.llama_sampler_free, parent=vocab.model)

    def allows(self, token: int) -> bool:
        """Whether the grammar lets the token pass now."""
        return allows(self.pointer, self._vocab.check(token))

    def accept(self, token: int) -> None:
        """Advance over a token; `GrammarError` when it is not allowed here."""
        if not self.allows(token):
            raise GrammarError(f"the grammar does not allow token {token} here")
        llama.llama_sampler_accept(self.pointer, token)

    def apply(self, candidates: Candidates) -> None:
        """Set the logits of all candidates that are not allowed to -inf."""
        if candidates.size:
            llama.llama_sampler_apply(self.pointer, ctypes.byref(candidates.struct))

    def reset(self) -> None:
        """Back to the start of the grammar."""
        llama.llama_sampler_reset(self.pointer)

    def clone(self) -> GrammarSampler:
        """An independent copy in the same state."""
        copy = GrammarSampler.__new__(GrammarSampler)
        copy._vocab = self._vocab  # noqa: SLF001 - its own class
        pointer = llama.llama_sampler_clone(self.pointer)
        pointer = require_pointer(pointer, GrammarError, "the grammar could not be copied", log_mark())
        copy._own(pointer, llama.llama_sampler_free, parent=self._vocab.model)  # noqa: SLF001
        return copy


def _text(text: str, what: str) -> bytes:
    data = text.encode()
    if not data.strip() or b"\0" in data:
        raise GrammarError(f"the {what} must be text without NUL characters")
    return data
