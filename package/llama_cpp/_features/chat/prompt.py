"""From the text of a prompt to tokens with exactly one BOS, and which control tokens an answer shows."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from llama_cpp._features.tokenizer.pieces import TokenPieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._features.llama.core import LlamaCore
    from llama_cpp._features.llama.runtime import Runtime

    from .output.description import OutputFormat


def one_bos(llama: LlamaCore, prompt: str) -> tuple[int, ...]:
    """The tokens of a prompt, names of control tokens counting as such.

    However many BOS the template wrote, there is one; where it wrote none, one is put before if the model asks for it.
    """
    vocab = llama._vocab  # noqa: SLF001 - the part of `Llama` that chats
    tokens = llama.tokenizer_.tokenize(prompt.encode("utf-8", "surrogatepass"), add_bos=False, special=True)
    if vocab.bos < 0:
        return tuple(tokens)
    written = next((index for index, token in enumerate(tokens) if token != vocab.bos), len(tokens))
    if written:
        return tuple(tokens[written - 1 :])
    return (vocab.bos, *tokens) if vocab.add_bos else tuple(tokens)


def shown_pieces(runtime: Runtime, output: OutputFormat) -> TokenPieces | None:
    """The bytes of tokens, control tokens among them that are marks of the format; None where it has no marks."""
    marks = _marks(output)
    if not marks:
        return None
    known: TokenPieces | None = runtime.marked_pieces.get(marks)
    if known is None:
        vocab = runtime.vocab

        def piece(token: int) -> bytes:
            shown = vocab.piece(token)
            if shown or not vocab.is_control(token):
                return shown
            spelled = vocab.piece(token, special=True)
            return spelled if spelled and spelled in marks else shown

        known = runtime.marked_pieces[marks] = TokenPieces(piece, vocab.is_eog)
    return known


@lru_cache(maxsize=64)
def _marks(output: OutputFormat) -> bytes:
    texts = dict.fromkeys(text for text in _texts((output.calls, output.channels, output.reasoning, output.ignored)) if text)
    return "\n\n".join(texts).encode()


def _texts(value: Any) -> Iterator[str]:
    """All texts in a description."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _texts(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _texts(getattr(value, field.name))
