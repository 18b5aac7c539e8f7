"""A grammar as a value: its text, where it begins, and what wakes it. Native state belongs to each use of it."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_cpp._engine.errors import GrammarError
from llama_cpp._engine.grammar import GRAMMAR_ROOT

from . import gbnf_lexis
from .gbnf import ParsedGrammar, parse_gbnf
from .witness import TreeWitness

if TYPE_CHECKING:
    from collections.abc import Iterable

    from llama_cpp._engine.grammar import TokenWitness
    from llama_cpp._engine.sampler import SamplerChain
    from llama_cpp._engine.vocab import Vocab

    from .schema.conversion import PropertyOrder

LLAMA_GRAMMAR_DEFAULT_ROOT = GRAMMAR_ROOT

Trigger = str | int


class LlamaGrammar:
    """An immutable grammar in GBNF, for any number of requests and models.

    `root` names the rule that a text begins with. `triggers` are regular expressions (Python's `re`) and token ids:
    with `grammar_lazy=True` in a request the grammar sleeps until one of them is met. The text is parsed here: a mistake raises
    `GrammarSyntaxError`, a ValueError with `line` and `column`. Other ValueErrors: a text that is empty or holds NUL, a trigger
    that cannot be used. Whether a model has the tokens that a grammar names by their text is seen when it is used.
    """

    __slots__ = ("_grammar", "_parsed", "_root", "_triggers")

    def __init__(self, grammar: str, *, root: str = LLAMA_GRAMMAR_DEFAULT_ROOT, triggers: Iterable[Trigger] | None = None) -> None:
        if not isinstance(grammar, str):
            raise TypeError(f"a grammar is a str, not {type(grammar).__name__}")
        if not grammar.strip():
            raise ValueError("the grammar is empty")
        if "\0" in grammar:
            raise ValueError("the grammar holds a NUL character")
        if not grammar.isascii():
            _require_unicode(grammar)
        if not isinstance(root, str) or not gbnf_lexis.RULE_NAME.fullmatch(root):
            raise ValueError(f"root must be the name of a rule (letters, digits and -), not {root!r}")
        self._grammar = grammar
        self._root = root
        self._triggers = _checked(triggers)
        self._parsed = _parsed(grammar, root)

    @classmethod
    def from_string(
        cls,
        grammar: str,
        verbose: bool = True,  # noqa: ARG003 - accepted for the older lineage: nothing is printed
        *,
        root: str = LLAMA_GRAMMAR_DEFAULT_ROOT,
        triggers: Iterable[Trigger] | None = None,
    ) -> LlamaGrammar:
        """A grammar from its text. Raises ValueError as the constructor does."""
        return cls(grammar, root=root, triggers=triggers)

    @classmethod
    def from_file(
        cls,
        file: str | os.PathLike[str],
        verbose: bool = True,  # noqa: ARG003 - as above
        *,
        root: str = LLAMA_GRAMMAR_DEFAULT_ROOT,
        triggers: Iterable[Trigger] | None = None,
    ) -> LlamaGrammar:
        """A grammar from a UTF-8 file. FileNotFoundError when there is none, OSError when it cannot be read."""
        return cls(Path(file).read_text(encoding="utf-8"), root=root, triggers=triggers)

    @classmethod
    def from_json_schema(  # noqa: PLR0917 - the published order
        cls,
        json_schema: Any,
        prop_order: PropertyOrder | None = None,
        allow_fetch: bool = False,
        dotall: bool = False,
        raw_pattern: bool = False,
        verbose: bool = True,  # noqa: ARG003 - as above
        *,
        triggers: Iterable[Trigger] | None = None,
        compact: bool = False,
        open_objects: bool = False,
    ) -> LlamaGrammar:
        """A grammar for the JSON texts that a schema accepts: a dict, its JSON text, a pydantic model or a dataclass.

        `json_schema_to_gbnf` describes the other arguments. ValueError for a schema that is none, or cannot be expressed.
        """
        # Converting is a package of its own, and most programs with a grammar never do it.
        from .schema import json_schema_to_gbnf  # noqa: PLC0415

        try:
            text = json_schema_to_gbnf(
                json_schema, prop_order, allow_fetch, dotall, raw_pattern, compact=compact, open_objects=open_objects
            )
        except ValueError:
            raise
        except Exception as error:
            raise ValueError(f"the JSON Schema could not be converted to a grammar: {error}") from error
        return cls(text, triggers=triggers)

    @property
    def grammar(self) -> str:
        """The text."""
        return self._grammar

    @property
    def root(self) -> str:
        """The name of the rule that a text begins with."""
        return self._root

    @property
    def triggers(self) -> tuple[Trigger, ...]:
        """What wakes a lazy use of it."""
        return self._triggers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LlamaGrammar):
            return NotImplemented
        return (self._grammar, self._root, self._triggers) == (other._grammar, other._root, other._triggers)

    def __hash__(self) -> int:
        return hash((self._grammar, self._root, self._triggers))

    def __repr__(self) -> str:
        return f"<LlamaGrammar of {len(self._grammar)} characters, root {self._root!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._grammar, self._root, self._triggers)

    def constrain(self, chain: SamplerChain, vocab: Vocab, *, lazy: bool = False) -> None:
        """Let `chain` choose only what this grammar allows. `GrammarError` (a ValueError) for a token that the vocabulary lacks."""
        witness = self.witness(vocab)
        if not lazy:
            chain.add_grammar(vocab, self._grammar, root=self._root, witness=witness)
            return
        patterns = [trigger for trigger in self._triggers if isinstance(trigger, str)]
        tokens = [trigger for trigger in self._triggers if not isinstance(trigger, str)]
        chain.add_grammar_lazy(vocab, self._grammar, root=self._root, patterns=patterns, tokens=tokens, witness=witness)

    def witness(self, vocab: Vocab) -> TokenWitness | None:
        """What follows the tokens that the grammar names; None when it names none."""
        if self._parsed is None:
            return None
        ids: dict[str, int] = {}
        for text, place in self._parsed.named_tokens:
            found = vocab.tokenize(text, add_special=False, parse_special=True)
            if len(found) != 1:
                error = gbnf_lexis.failure(self._grammar, place, f"{text!r} is {len(found)} tokens in this vocabulary, not one")
                raise GrammarError(str(error))
            ids[text] = found[0]
        return TreeWitness(self._parsed.tree, ids)


def _require_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"the grammar is no valid Unicode text: {error.reason} at character {error.start}") from error


def _again(grammar: str, root: str, triggers: tuple[Trigger, ...]) -> LlamaGrammar:
    return LlamaGrammar(grammar, root=root, triggers=triggers)


@lru_cache(maxsize=32)
def _parsed(text: str, root: str) -> ParsedGrammar | None:
    """Checks the text. Only of a grammar that names tokens the tree is needed later, and kept."""
    parsed = parse_gbnf(text, root)
    return parsed if parsed.names_tokens else None


def grammar_from(value: object, *, lazy: bool = False) -> LlamaGrammar | None:
    """The `grammar` argument of a public method: None, a `LlamaGrammar`, or the text of one."""
    if value is None:
        if lazy:
            raise ValueError("grammar_lazy needs a grammar with triggers")
        return None
    made = LlamaGrammar(value) if isinstance(value, str) else value
    if not isinstance(made, LlamaGrammar):
        raise TypeError(f"grammar must be a LlamaGrammar or a str of GBNF, not {type(value).__name__}")
    if lazy and not made.triggers:
        raise ValueError("grammar_lazy needs a grammar with triggers: LlamaGrammar.from_string(text, triggers=[...])")
    return made


def _checked(triggers: Iterable[Any] | None) -> tuple[Trigger, ...]:
    if triggers is None:
        return ()
    if isinstance(triggers, str | int):
        raise TypeError("triggers must be a list of regular expressions and token ids")
    checked: list[Trigger] = []
    for trigger in triggers:
        if isinstance(trigger, str) and trigger:
            try:
                re.compile(trigger)
            except re.error as error:
                raise ValueError(f"trigger {trigger!r} is no valid regular expression: {error}") from error
            checked.append(trigger)
        elif not isinstance(trigger, bool) and hasattr(trigger, "__index__") and trigger.__index__() >= 0:
            checked.append(int(trigger.__index__()))
        else:
            raise ValueError(f"a trigger is a regular expression or a token id, not {trigger!r}")
    return tuple(checked)
