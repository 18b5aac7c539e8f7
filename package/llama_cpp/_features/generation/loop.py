"""The generation loop: hold the prompt, then sample and evaluate, one token after the other.

Text, stop strings and limits are the callers' business; so is taking the turn and ending it.
"""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._engine.errors import DecodeAborted

from .live import as_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from .live import LiveSequence, TokenArray
    from .turns import Turn, Turns


def generate(
    live: LiveSequence, turns: Turns, turn: Turn, sample: Callable[[], int], prompt: TokenArray
) -> Generator[int, Sequence[int] | None, None]:
    """Yield sampled tokens until the context is full, `turn` is aborted or `sample` answers with a negative number.

    It never ends at a token's meaning. `prompt` is not empty, and is all that memory shall hold before the first token.
    A token is evaluated when the next one is asked for, so the last one never is. Tokens sent in are appended after the
    one just yielded. While suspended no lock is held; if another request used the context meanwhile, the tokens so far
    are evaluated again.
    """
    executing = turns.executing
    produced: list[int] = []
    try:
        with executing:
            live.hold(prompt, turn)
            if turn.aborted:
                return
            token = sample()
        while token >= 0:
            sent = yield token
            produced.append(token)
            if sent is not None:
                produced.extend(sent)
            with executing:
                turn.thread = get_ident()
                if turn.aborted or len(prompt) + len(produced) > live.capacity:
                    return
                if live.holder is not turn:
                    live.hold(np.concatenate((prompt, as_tokens(produced))), turn)
                elif sent:
                    live.extend(as_tokens([token, *sent]), turn)
                else:
                    live.step(token)
                if turn.aborted:
                    return
                token = sample()
    except DecodeAborted as error:
        turn.aborted = True
        live.settle(error)
    except GeneratorExit:
        raise
    except BaseException as error:
        live.settle(error)
        raise
