"""`GrammarSampler`: a grammar by itself, for programs that choose tokens in their own way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._engine.errors import ClosedError
from llama_cpp._engine.grammar import GRAMMAR_ROOT, TokenFilter
from llama_cpp._engine.grammar import GrammarSampler as EngineGrammar
from llama_cpp._engine.lazy_grammar import LazyGrammar
from llama_cpp._features.grammar.definition import LlamaGrammar

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from typing_extensions import Self

    from .candidates import LlamaTokenDataArray
    from .model import LlamaModel


class GrammarSampler:
    """Which tokens a GBNF text allows now. Freed by `close()`, by leaving a `with` block, or with the model.

    A `lazy` one allows everything until one of `triggers` (regular expressions and token ids) is met. Raises ValueError for a
    text that is no grammar, and for a lazy one without triggers.
    """

    def __init__(
        self,
        model: LlamaModel,
        grammar_str: str,
        lazy: bool = False,
        triggers: Iterable[str | int] | None = None,
        root: str = GRAMMAR_ROOT,
    ) -> None:
        self._grammar: TokenFilter | None = None
        definition = LlamaGrammar(grammar_str, root=root, triggers=triggers)
        if lazy and not definition.triggers:
            raise ValueError("a lazy grammar needs triggers: regular expressions or token ids")
        vocab = model.engine.vocab
        witness = definition.witness(vocab)
        if not lazy:
            self._grammar = EngineGrammar(vocab, definition.grammar, root=root, witness=witness)
            return
        patterns = [each for each in definition.triggers if isinstance(each, str)]
        tokens = [each for each in definition.triggers if not isinstance(each, str)]
        self._grammar = LazyGrammar(vocab, definition.grammar, root=root, patterns=patterns, tokens=tokens, witness=witness)

    @property
    def engine(self) -> TokenFilter:
        """The grammar behind it."""
        if self._grammar is None or self._grammar.handle.closed:
            raise ClosedError("this GrammarSampler is closed; create a new one")
        return self._grammar

    @property
    def sampler(self) -> int:
        """The address of the native sampler, of a lazy one too."""
        return self.engine.handle.pointer

    def allows(self, token: int) -> bool:
        """Whether `accept` would take a token now."""
        return self.engine.allows(token)

    def apply(self, candidates: LlamaTokenDataArray) -> None:
        """Set the logits of candidates that are not allowed to -inf."""
        self.engine.apply(candidates.engine)

    def accept(self, token: int) -> None:
        """Advance over a token. Raises `GrammarError`, a ValueError, when it is not allowed here."""
        self.engine.accept(token)

    def reset(self) -> None:
        """Back to the start."""
        self.engine.reset()

    def clone(self) -> GrammarSampler:
        """An independent copy in the same state."""
        made = GrammarSampler.__new__(GrammarSampler)
        made._grammar = self.engine.clone()  # noqa: SLF001 - its own class
        return made

    def close(self) -> None:
        """Free it. Repeating that does nothing; everything else raises `ClosedError` then, a RuntimeError."""
        if self._grammar is not None:
            self._grammar.handle.close()
            self._grammar = None

    def __enter__(self) -> Self:
        _ = self.engine
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
