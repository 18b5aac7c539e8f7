"""Which tensors a GGUF file holds: freed whatever happens, and nothing is claimed of parts that were not read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from llama_cpp._engine import model_file
from llama_cpp._engine.errors import ModelLoadError
from llama_cpp._native.bindings import gguf

NAMES = ("cls.weight", "cls.output.weight")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "käse.gguf"
    file.touch()
    return file


class File:
    """Stands in for libggml's reader."""

    def __init__(self, tensors: tuple[bytes, ...] = (), split: tuple[int, int] | None = None, pointer: int | None = 7) -> None:
        self.tensors, self.split, self.pointer = tensors, split, pointer
        self.freed: list[int] = []

    def install(self, monkeypatch: pytest.MonkeyPatch, expected: Path) -> None:
        def opened(path: bytes, params: Any) -> int | None:
            assert path == os.fsencode(expected)
            assert params.no_alloc
            return self.pointer

        monkeypatch.setattr(gguf, "gguf_init_from_file", opened)
        monkeypatch.setattr(gguf, "gguf_find_key", lambda _file, _key: -1 if self.split is None else 3)
        monkeypatch.setattr(gguf, "gguf_get_kv_type", lambda _file, _key: self.split[0] if self.split else None)
        monkeypatch.setattr(gguf, "gguf_get_val_u16", lambda _file, _key: self.split[1] if self.split else None)
        monkeypatch.setattr(gguf, "gguf_find_tensor", lambda _file, name: self.tensors.index(name) if name in self.tensors else -1)
        monkeypatch.setattr(gguf, "gguf_free", self.freed.append)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (File((b"cls.weight", b"output.weight")), {"cls.weight"}),
        (File((b"output.weight",)), set()),
        (File((b"cls.weight",), split=(gguf.GGUF_TYPE_UINT16, 1)), {"cls.weight"}),
        (File(split=(gguf.GGUF_TYPE_UINT16, 2)), None),
        (File(split=(gguf.GGUF_TYPE_UINT32, 1)), None),
    ],
    ids=["one", "none", "one-part", "two-parts", "unreadable"],
)
def test_tensors(monkeypatch: pytest.MonkeyPatch, path: Path, file: File, expected: set[str] | None) -> None:
    file.install(monkeypatch, path)
    assert model_file.tensors_named(path, NAMES) == expected
    assert file.freed == [7]


def test_a_file_that_is_something_else_now_is_an_error(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    file = File(pointer=None)
    file.install(monkeypatch, path)
    with pytest.raises(ModelLoadError, match=r"käse\.gguf"):
        model_file.tensors_named(path, NAMES)
    assert file.freed == []


def test_a_file_that_was_deleted_tells_nothing(path: Path) -> None:
    path.unlink()
    assert model_file.tensors_named(path, NAMES) is None
