"""Vocabularies that synthetic models share: SentencePiece, byte-level BPE and WordPiece, each small but complete."""

from __future__ import annotations

import itertools
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from buildsys.models.synth.gguf_file import GgufFile

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # stands for a space in SentencePiece and for a word's start in WordPiece

CHAT_MARKERS = ("<|im_start|>", "<|im_end|>")
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)

SENTENCEPIECE_MARKS = 3 + len(CHAT_MARKERS)  # tokens at the vocabulary's start that stand for no text

_CHARACTERS = SPACE + string.ascii_letters + string.digits + string.punctuation + "\n"
_JOINED = ("he", "ll", "th", "in", f"{SPACE}t", f"{SPACE}a")


def sentencepiece(file: GgufFile, *, size: int = 0) -> int:
    """Unknown, BOS, EOS, chat markers, all bytes, ASCII, a few joined pieces, then made-up words up to `size`.

    Returns the number of tokens.
    """
    rows: list[tuple[str, float, int]] = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
    rows += [(marker, 0.0, CONTROL) for marker in CHAT_MARKERS]
    rows += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    rows += [(piece, -0.5, NORMAL) for piece in _JOINED]
    rows += [(character, -float(rank), NORMAL) for rank, character in enumerate(_CHARACTERS, start=1)]
    rows += _padding(size - len(rows))
    file.set("tokenizer.ggml.model", "llama")
    file.set("tokenizer.ggml.pre", "default")
    file.set("tokenizer.ggml.tokens", [piece for piece, _, _ in rows])
    file.set("tokenizer.ggml.scores", [score for _, score, _ in rows])
    file.set("tokenizer.ggml.token_type", [kind for _, _, kind in rows])
    _special(file, unknown=0, bos=1, eos=2)
    file.set("tokenizer.ggml.add_bos_token", True)
    file.set("tokenizer.chat_template", CHAT_TEMPLATE)
    return len(rows)


def byte_pairs(file: GgufFile, *, splitting: str, control: Sequence[str], end: str, chat: bool = True) -> int:
    """All bytes, two merges, then `control`; `end` is the one of these that ends a text. `splitting` names the pre-tokenizer.

    Returns the number of tokens.
    """
    tokens = [*_byte_characters(), "he", "ll"]
    kinds = [NORMAL] * len(tokens) + [CONTROL] * len(control)
    tokens += control
    file.set("tokenizer.ggml.model", "gpt2")
    file.set("tokenizer.ggml.pre", splitting)
    file.set("tokenizer.ggml.tokens", tokens)
    file.set("tokenizer.ggml.token_type", kinds)
    file.set("tokenizer.ggml.merges", ["h e", "l l"])
    _special(file, eos=tokens.index(end), bos=tokens.index(end))
    file.set("tokenizer.ggml.add_bos_token", False)
    if chat:
        file.set("tokenizer.chat_template", CHAT_TEMPLATE)
    return len(tokens)


def wordpiece(file: GgufFile, *, token_types: int = 2) -> int:
    """BERT's special tokens, then letters, digits and a few signs as word starts and as continuations.

    Returns the number of tokens.
    """
    letters = string.ascii_lowercase + string.digits
    tokens = ["[PAD]", "[unused0]", "[unused1]", "[unused2]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    kinds = [CONTROL] * len(tokens)
    tokens += [SPACE + sign for sign in letters + ".,!?"] + list(letters)
    kinds += [NORMAL] * (len(tokens) - len(kinds))
    file.set("tokenizer.ggml.model", "bert")
    file.set("tokenizer.ggml.tokens", tokens)
    file.set("tokenizer.ggml.token_type", kinds)
    file.set("tokenizer.ggml.token_type_count", token_types)
    _special(file, padding=0, unknown=4, bos=5, cls=5, seperator=6, mask=7)  # the format's own spelling
    return len(tokens)


def _special(file: GgufFile, **ids: int) -> None:
    for name, token in ids.items():
        file.set(f"tokenizer.ggml.{name}_token_id", token)


def _padding(count: int) -> Iterator[tuple[str, float, int]]:
    """Words that begin with a space, as most of a real vocabulary does, rarer the later they come."""
    words = (SPACE + "".join(letters) for length in itertools.count(2) for letters in _words(length))
    for rank, word in enumerate(itertools.islice(words, max(count, 0)), start=1):
        yield word, -100.0 - rank, NORMAL


def _words(length: int) -> Iterator[tuple[str, ...]]:
    return itertools.product(string.ascii_lowercase, repeat=length)


def _byte_characters() -> list[str]:
    """The printable character that byte-level BPE writes for each byte, in byte order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = itertools.count(0x100)
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
