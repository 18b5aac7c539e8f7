"""What a state came from, told in plain values: two contexts that tell the same can exchange states."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from llama_cpp._native.bindings import llama
from llama_cpp._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from llama_cpp._engine.adapter import Adaptation
    from llama_cpp._engine.context import Context
    from llama_cpp._features.generation.reuse import MemoryKind

_SAMPLES = 64
_SAMPLE_BYTES = 4096
_DIGEST_BYTES = 16
ADAPTERS, CUTTABLE = "adapters", "cuttable"

_DECIDES_NOTHING = frozenset({
    "n_ctx", "n_batch", "n_ubatch", "n_threads", "n_threads_batch", "n_rs_seq", "n_outputs_max", "n_outputs_max_per_seq", "no_perf",
    "op_offload", "offload_kqv", "embeddings", "pooling_type", "swa_full", "kv_unified", "n_seq_max",
})  # fmt: skip
"""Fields of the context's parameters that change no byte of a state, or are told as native code made them."""


def describe(context: Context, kind: MemoryKind, adaptation: Adaptation) -> dict[str, Any]:
    """What states of a context depend on, as strings, numbers and booleans."""
    model, params = context.model, context.params
    chosen = {field.name: getattr(params, field.name) for field in fields(params) if field.name not in _DECIDES_NOTHING}
    native = llama.llama_version()
    return {
        "version": __version__,
        "llama.cpp": native.decode() if native else "",
        "model": file_digest(model),
        "architecture": model.desc,
        "n_vocab": context.n_vocab,
        "n_ctx": context.n_ctx,
        "n_seq_max": context.n_seq_max,
        "kv_unified": context.kv_unified,
        "n_swa": kind.window,
        "swa_full": kind.whole_window,
        "n_ubatch": 0 if kind.whole_window else context.n_ubatch,  # a window's room follows from it
        CUTTABLE: kind.cuttable,
        ADAPTERS: adapters_digest(adaptation),
        **{name: value for name, value in chosen.items() if isinstance(value, bool | int | float | str)},
    }


def differences(found: Mapping[str, Any], due: Mapping[str, Any]) -> list[str]:
    """What does not agree, in words."""
    return [
        f"{name} is {found.get(name, 'not told')} in the state and {due.get(name, 'not told')} here"
        for name in sorted({*found, *due})
        if found.get(name) != due.get(name)
    ]


def fingerprint(compatibility: Mapping[str, Any] | None) -> str:
    """A short name for all of it; empty for a state that tells nothing."""
    if compatibility is None:
        return ""
    told = json.dumps(dict(compatibility), sort_keys=True, default=str)
    return hashlib.blake2b(told.encode(), digest_size=_DIGEST_BYTES).hexdigest()


class _FromFile(Protocol):
    @property
    def path(self) -> Path:
        """Where it was loaded from."""


_digests: WeakKeyDictionary[_FromFile, str] = WeakKeyDictionary()


def file_digest(loaded: _FromFile) -> str:
    """A digest over the size of the file of a model or an adapter, and pieces from all of it.

    Two trainings of one model differ everywhere; reading all would take minutes. It is made once for each loaded object, and
    stays when the file is replaced. A file that is gone by now is told by its name.
    """
    found = _digests.get(loaded)
    if found is None:
        found = _digests[loaded] = _sampled(str(loaded.path))
    return found


def _sampled(path: str) -> str:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)
            digest.update(str(size).encode())
            for index in range(_SAMPLES):
                file.seek(max(size - _SAMPLE_BYTES, 0) * index // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE_BYTES))
    except OSError:
        digest.update(path.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def adapters_digest(adaptation: Adaptation) -> str:
    """A digest of adapters, their scales and the control vector; empty for the model as it is."""
    control = adaptation.control
    if not adaptation.loras and control is None:
        return ""
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for lora, scale in adaptation.loras:
        digest.update(f"{file_digest(lora)} {scale!r};".encode())
    if control is not None:
        digest.update(f"{control.first} {control.last};".encode() + control.directions.tobytes())
    return digest.hexdigest()
