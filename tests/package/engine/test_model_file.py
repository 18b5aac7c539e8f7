"""Which tensors a GGUF file holds: freed whatever happens, and nothing is claimed of parts that were not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llama_cpp._engine import model_file
from llama_cpp._engine.errors import ModelLoadError
from llama_cpp._native.bindings import gguf

PATH = Path("/models/käse.gguf")
NAMES = ("cls.weight", "cls.output.weight")


class File:
    """Stands in for libggml's reader."""

    def __init__(self, tensors: tuple[bytes, ...] = (), split: tuple[int, int] | None = None, pointer: int | None = 7) -> None:
        self.tensors, self.split, self.pointer = tensors, split, pointer
        self.freed: list[int] = []

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def opened(path: bytes, params: Any) -> int | None:
            assert path == str(PATH).encode()
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
def test_tensors(monkeypatch: pytest.MonkeyPatch, file: File, expected: set[str] | None) -> None:
    file.install(monkeypatch)
    assert model_file.tensors_named(PATH, NAMES) == expected
    assert file.freed == [7]


def test_a_file_that_is_gone_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    file = File(pointer=None)
    file.install(monkeypatch)
    with pytest.raises(ModelLoadError, match=r"käse\.gguf"):
        model_file.tensors_named(PATH, NAMES)
    assert file.freed == []
