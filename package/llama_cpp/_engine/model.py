"""A loaded model: its weights' lifetime and what it says about itself.

Evaluation needs a `Context`; text needs the `Vocab`.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from llama_cpp._native.bindings import llama

from . import runtime
from .errors import InvalidArgumentError, ModelFileNotFoundError, ModelLoadError
from .handle import Handle
from .params import ModelParams, NativeModelParams, native_model_params
from .returns import log_mark, require_pointer
from .vocab import Vocab

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

StrPath = str | os.PathLike[str]


class Model(Handle[llama.llama_model_p]):
    """An owned `llama_model`. Contexts, adapters and samplers made from it are closed before it."""

    def __init__(self, pointer: llama.llama_model_p, *, path: Path, params: ModelParams, keep: tuple[object, ...] = ()) -> None:
        """Take ownership of a native model. Use `load`."""
        self.path = path
        self.params = params
        self._own(pointer, llama.llama_model_free, keep=keep)
        self._vocab: weakref.ref[Vocab] | None = None

    @classmethod
    def load(cls, path: StrPath, params: ModelParams | None = None) -> Model:
        """Load a GGUF file (the first part of a split one).

        Raises `ModelFileNotFoundError`, `ModelLoadError` with the native log lines, or what `params.progress` raised.
        """
        file = _existing_file(path)
        return cls._load(file, params, lambda native: llama.llama_model_load_from_file(os.fsencode(file), native))

    @classmethod
    def load_splits(cls, paths: Sequence[StrPath], params: ModelParams | None = None) -> Model:
        """Load a model from parts with names of any form, given in order."""
        if not paths:
            raise InvalidArgumentError("no model parts were given")
        files = [_existing_file(path) for path in paths]
        names = (ctypes.c_char_p * len(files))(*(os.fsencode(file) for file in files))
        return cls._load(files[0], params, lambda native: llama.llama_model_load_from_splits(names, len(files), native))

    @classmethod
    def _load(cls, file: Path, params: ModelParams | None, call: Callable[[llama.llama_model_params], llama.llama_model_p | None]) -> Model:
        runtime.start()
        params = params or ModelParams()
        native = native_model_params(params)
        mark = log_mark()
        pointer = call(native.struct)
        _raise_progress(native, pointer, file)
        pointer = require_pointer(pointer, ModelLoadError, f"the model could not be loaded: {file}", mark)
        return cls(pointer, path=file, params=params, keep=native.keep)

    @property
    def vocab(self) -> Vocab:
        """The vocabulary, which keeps this model alive. Hold on to it: it remembers what it has looked up."""
        known = self._vocab() if self._vocab is not None else None
        if known is None:
            known = Vocab(self)
            self._vocab = weakref.ref(known)  # no cycle: a dropped model frees its memory at once
        return known

    @cached_property
    def n_ctx_train(self) -> int:
        """The context size that the model was trained with."""
        return int(llama.llama_model_n_ctx_train(self.pointer))

    @cached_property
    def n_embd(self) -> int:
        """Width of the hidden state."""
        return int(llama.llama_model_n_embd(self.pointer))

    @cached_property
    def n_embd_inp(self) -> int:
        """Width of an embedding row given as input."""
        return int(llama.llama_model_n_embd_inp(self.pointer))

    @cached_property
    def n_embd_out(self) -> int:
        """Width of an embedding row that comes out."""
        return int(llama.llama_model_n_embd_out(self.pointer))

    @cached_property
    def n_layer(self) -> int:
        """Number of layers."""
        return int(llama.llama_model_n_layer(self.pointer))

    @cached_property
    def n_layer_nextn(self) -> int:
        """Number of next-token-prediction layers."""
        return int(llama.llama_model_n_layer_nextn(self.pointer))

    @cached_property
    def n_head(self) -> int:
        """Number of attention heads."""
        return int(llama.llama_model_n_head(self.pointer))

    @cached_property
    def n_head_kv(self) -> int:
        """Number of key/value heads."""
        return int(llama.llama_model_n_head_kv(self.pointer))

    @cached_property
    def n_swa(self) -> int:
        """Size of the sliding window; 0 without one."""
        return int(llama.llama_model_n_swa(self.pointer))

    @cached_property
    def n_cls_out(self) -> int:
        """Number of outputs of a classifier (rerank) head."""
        return int(llama.llama_model_n_cls_out(self.pointer))

    @cached_property
    def n_params(self) -> int:
        """Number of parameters."""
        return int(llama.llama_model_n_params(self.pointer))

    @cached_property
    def size(self) -> int:
        """Size of all tensors in bytes."""
        return int(llama.llama_model_size(self.pointer))

    @cached_property
    def ftype(self) -> int:
        """The quantisation of the file: `llama_ftype`."""
        return int(llama.llama_model_ftype(self.pointer))

    @cached_property
    def rope_type(self) -> int:
        """`llama_rope_type`."""
        return int(llama.llama_model_rope_type(self.pointer))

    @cached_property
    def desc(self) -> str:
        """A short description, such as `llama 135M Q4_1`."""
        return _growing_text(lambda buffer, size: llama.llama_model_desc(self.pointer, buffer, size)) or ""

    @cached_property
    def has_encoder(self) -> bool:
        """Whether prompts go through `Context.encode` first."""
        return bool(llama.llama_model_has_encoder(self.pointer))

    @cached_property
    def has_decoder(self) -> bool:
        """Whether the model decodes."""
        return bool(llama.llama_model_has_decoder(self.pointer))

    @cached_property
    def is_recurrent(self) -> bool:
        """Whether all state is recurrent (Mamba, RWKV)."""
        return bool(llama.llama_model_is_recurrent(self.pointer))

    @cached_property
    def is_hybrid(self) -> bool:
        """Whether attention and recurrent layers are mixed."""
        return bool(llama.llama_model_is_hybrid(self.pointer))

    @cached_property
    def is_diffusion(self) -> bool:
        """Whether the model is a diffusion model."""
        return bool(llama.llama_model_is_diffusion(self.pointer))

    @cached_property
    def decoder_start_token(self) -> int:
        """The first token for the decoder of an encoder-decoder model; -1 otherwise."""
        return int(llama.llama_model_decoder_start_token(self.pointer))

    @cached_property
    def _metadata(self) -> dict[str, str]:
        pointer = self.pointer
        found = {}
        for index in range(int(llama.llama_model_meta_count(pointer))):
            key = _growing_text(
                lambda buffer, size, i=index: llama.llama_model_meta_key_by_index(pointer, i, buffer, size)  # type: ignore[misc]
            )
            value = _growing_text(
                lambda buffer, size, i=index: llama.llama_model_meta_val_str_by_index(pointer, i, buffer, size)  # type: ignore[misc]
            )
            if key is not None and value is not None:
                found[key] = value
        return found

    @property
    def metadata(self) -> dict[str, str]:
        """The scalar values of the file's metadata as text; a copy."""
        return dict(self._metadata)

    def chat_template(self, name: str | None = None) -> str | None:
        """The Jinja text of a chat template in the file, the default one without a name; None if there is none."""
        found = llama.llama_model_chat_template(self.pointer, None if name is None else name.encode())
        return None if found is None else bytes(found).decode("utf-8", "replace")


def _existing_file(path: StrPath) -> Path:
    text = os.fspath(path)
    if "\0" in text:
        raise ModelFileNotFoundError(f"the model path contains a NUL character: {text!r}")
    file = Path(text)
    if not file.exists():
        raise ModelFileNotFoundError(f"Model path does not exist: {file}. Check the path, or fetch the model first.")
    if not file.is_file():
        raise ModelFileNotFoundError(f"Model path is not a file: {file}. Give the path of a .gguf file.")
    return file


def _raise_progress(native: NativeModelParams, pointer: int | None, file: Path) -> None:
    relay = native.progress
    if relay is not None and relay.stopped and not pointer:
        if relay.error is not None:
            raise relay.error
        raise ModelLoadError(f"loading was stopped by the progress callback: {file}")


def _growing_text(read: Callable[[ctypes.Array[ctypes.c_char], int], int]) -> str | None:
    """Text from a function that returns the length it needs, snprintf-like; None when it reports failure."""
    capacity = 256
    for _ in range(2):
        buffer = ctypes.create_string_buffer(capacity)
        size = int(read(buffer, capacity))
        if size < 0:
            return None
        if size < capacity:
            return buffer.raw[:size].decode("utf-8", "replace")
        capacity = size + 1
    return None
