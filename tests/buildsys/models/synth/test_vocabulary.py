from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gguf
import pytest

from buildsys.models.synth import vocabulary
from buildsys.models.synth.gguf_file import GgufFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MARKERS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Callable[[GgufFile], int]], dict[str, Any]]:
    """Writes a file that holds just a vocabulary, and returns its metadata with the count under `count`."""

    def metadata(recipe: Callable[[GgufFile], int]) -> dict[str, Any]:
        file = GgufFile(tmp_path / "v.gguf", "llama", seed=0)
        count = recipe(file)
        file.close()
        fields = gguf.GGUFReader(tmp_path / "v.gguf").fields
        prefix = "tokenizer.ggml."
        return {"count": count, **{key.removeprefix(prefix): field.contents() for key, field in fields.items()}}

    return metadata


def byte_pairs(file: GgufFile) -> int:
    return vocabulary.byte_pairs(file, splitting="qwen2", control=MARKERS, end="<|im_end|>")


@pytest.mark.parametrize("recipe", [vocabulary.sentencepiece, byte_pairs, vocabulary.wordpiece])
def test_tokens_are_unique_and_each_has_a_kind(write: Any, recipe: Callable[[GgufFile], int]) -> None:
    data = write(recipe)
    assert data["count"] == len(data["tokens"]) == len(set(data["tokens"])) == len(data["token_type"])
    assert all(data[key] < data["count"] for key in data if key.endswith("_token_id"))


def test_sentencepiece_covers_every_byte_and_names_its_special_tokens(write: Any) -> None:
    data = write(vocabulary.sentencepiece)
    tokens, kinds = data["tokens"], data["token_type"]
    assert {token for token, kind in zip(tokens, kinds, strict=True) if kind == 6} == {f"<0x{byte:02X}>" for byte in range(256)}
    assert [tokens[data[f"{name}_token_id"]] for name in ("unknown", "bos", "eos")] == ["<unk>", "<s>", "</s>"]
    marks = [index for index, kind in enumerate(kinds) if kind in {2, 3}]
    assert marks == list(range(vocabulary.SENTENCEPIECE_MARKS))
    assert len(data["scores"]) == data["count"]


def test_byte_pairs_cover_every_byte_with_a_printable_character(write: Any) -> None:
    data = write(byte_pairs)
    characters = data["tokens"][:256]
    assert all(len(character) == 1 and character.isprintable() for character in characters)
    assert (characters[0x41], characters[0x20], characters[0x0A], characters[0xAD]) == ("A", "Ġ", "Ċ", "Ń")
    assert data["tokens"][data["eos_token_id"]] == "<|im_end|>"
    assert data["merges"] == ["h e", "l l"]


def test_wordpiece_marks_the_beginnings_of_words(write: Any) -> None:
    data = write(vocabulary.wordpiece)
    assert {"▁a", "a"} <= set(data["tokens"])
    names = ("padding", "unknown", "cls", "seperator", "mask")
    assert [data["tokens"][data[f"{name}_token_id"]] for name in names] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_made_up_words_follow_the_rest(write: Any) -> None:
    plain = write(vocabulary.sentencepiece)
    grown = write(lambda file: vocabulary.sentencepiece(file, size=1500))
    count = plain["count"]
    assert len(grown["tokens"]) == 1500
    assert grown["tokens"][:count] == plain["tokens"]
    assert max(grown["scores"][count:]) < min(plain["scores"]), "they must not change how plain text is split"


def test_a_size_below_the_recipes_own_changes_nothing(write: Any) -> None:
    assert write(lambda file: vocabulary.sentencepiece(file, size=10)) == write(vocabulary.sentencepiece)
