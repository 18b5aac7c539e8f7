from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.errors import ModelFileNotFoundError, ModelLoadError
from llama_cpp._engine.model import Model
from llama_cpp._engine.params import ModelParams

if TYPE_CHECKING:
    from pathlib import Path

    from tests.package.engine.fakes import FakeLlama


@pytest.fixture
def file(tmp_path: Path) -> Any:
    path = tmp_path / "käse.gguf"
    path.touch()
    return path


@pytest.mark.parametrize("path", ["/no/such.gguf", "/", "a\0b"])
def test_a_path_that_is_no_file_never_reaches_c(path: Any) -> None:
    with pytest.raises(ModelFileNotFoundError):
        Model.load(path)
    with pytest.raises(ValueError, match="odel path"):
        Model.load(path)


def test_a_model_loads_and_frees(native: FakeLlama, file: Any) -> None:
    seen = []
    native.replace("llama_model_load_from_file", lambda path, params: seen.append((path, params.n_gpu_layers)) or 5)
    with Model.load(str(file), ModelParams(n_gpu_layers=2)) as model:
        assert model.path == file
        assert model.vocab.bos == 256
    assert seen == [(str(file).encode(), 2)]
    assert native.calls == [("free model", 5)]


def test_parts_load_in_order(native: FakeLlama, tmp_path: Path) -> None:
    parts = [tmp_path / name for name in ("b.gguf", "a.gguf")]
    for part in parts:
        part.touch()
    seen = []
    native.replace("llama_model_load_from_splits", lambda names, count, _params: seen.append(list(names[:count])) or 5)
    Model.load_splits(parts).close()
    assert seen == [[str(part).encode() for part in parts]]
    with pytest.raises(ValueError, match="no model parts"):
        Model.load_splits([])


def test_a_file_that_does_not_load(native: FakeLlama, file: Any) -> None:
    native.replace("llama_model_load_from_file", lambda *_: None)
    with pytest.raises(ModelLoadError, match=r"could not be loaded: .*käse\.gguf"):
        Model.load(file)


@pytest.mark.parametrize(("answer", "kind"), [(KeyError("mine"), KeyError), (False, ModelLoadError)])
def test_progress_can_stop_a_load(native: FakeLlama, file: Any, answer: Any, kind: type[Exception]) -> None:
    def progress(_value: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    def load(_path: Any, params: Any) -> Any:
        return 5 if params.progress_callback(0.5, None) else None

    native.replace("llama_model_load_from_file", load)
    with pytest.raises(kind, match=r"mine|stopped by the progress callback"):
        Model.load(file, ModelParams(progress=progress))


def test_metadata_of_any_length(native: FakeLlama) -> None:
    pairs = {"general.name": "toy", "tokenizer.chat_template": "x" * 10_000, "k" * 300: "long key"}

    def text(items: Any) -> Any:
        def read(_model: Any, index: Any, buffer: Any, size: Any) -> Any:
            data = list(items)[index].encode()
            buffer.raw = data[: size - 1] + b"\0"
            return len(data)

        return read

    native.replace("llama_model_meta_count", lambda _model: len(pairs))
    native.replace("llama_model_meta_key_by_index", text(pairs))
    native.replace("llama_model_meta_val_str_by_index", text(pairs.values()))
    with native.model() as model:
        assert model.metadata == pairs
        model.metadata.clear()
        assert model.metadata == pairs


def test_chat_templates_are_text_or_none(native: FakeLlama) -> None:
    native.replace("llama_model_chat_template", lambda _model, name: {None: b"default", b"tool": b"\xff"}.get(name))
    with native.model() as model:
        assert (model.chat_template(), model.chat_template("tool"), model.chat_template("x")) == ("default", "\ufffd", None)
