"""Where generation begins: with the prompt, or, for encoder-decoder models, with the decoder's first token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._features.errors import ContextWindowError

from .live import as_tokens

if TYPE_CHECKING:
    from llama_cpp._engine.context import Context

    from .live import TokenArray
    from .turns import Turn


def begin(context: Context, turn: Turn, prompt: TokenArray) -> TokenArray:
    """The tokens that `turn` starts to generate from. An encoder's input is noted in the turn, and encoded with it.

    Raises `ContextWindowError` when it does not fit: an encoder takes its input in one piece of at most `n_ubatch`.
    """
    if not context.model.has_encoder:
        return prompt
    if len(prompt) > context.n_ubatch:
        raise ContextWindowError(
            f"Requested tokens ({len(prompt)}) exceed context window of {context.n_ubatch}: the encoder takes n_ubatch tokens at most"
        )
    start = context.model.decoder_start_token
    turn.encoded = prompt
    return as_tokens([start if start >= 0 else context.vocab.bos])
