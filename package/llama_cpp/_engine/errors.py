"""The exception tree of the engine: one class per failure, native ones with return code and log lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._native.errors import BackendLoadError, LlamaError, NativeLibraryError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AdapterError",
    "AdapterLoadError",
    "BackendLoadError",
    "BatchSizeError",
    "CacheFullError",
    "ClosedError",
    "ComputeError",
    "ContextCreateError",
    "DecodeAborted",
    "DecodeAllocationError",
    "DecodeError",
    "GrammarError",
    "InvalidArgumentError",
    "InvalidBatchError",
    "LlamaError",
    "MemoryOperationError",
    "ModelFileNotFoundError",
    "ModelLoadError",
    "NativeCallError",
    "NativeLibraryError",
    "OutputIndexError",
    "RemoteServerError",
    "SamplerChainError",
    "SamplerError",
    "SequenceIdError",
    "StateError",
    "ThreadPoolError",
    "TokenRangeError",
    "TokenizeError",
]


class ClosedError(LlamaError):
    """An object was used after it, or the object that it belongs to, was closed."""


class InvalidArgumentError(LlamaError, ValueError):
    """An argument that native code would not survive, refused before it gets there."""


class TokenRangeError(InvalidArgumentError):
    """A token id outside the vocabulary."""


class SequenceIdError(InvalidArgumentError):
    """A sequence id that the context does not have."""


class OutputIndexError(InvalidArgumentError):
    """An output was asked for that the last decode did not produce."""


class BatchSizeError(InvalidArgumentError):
    """A batch that is empty, or larger than the context or the batch object allows."""


class SamplerChainError(InvalidArgumentError):
    """A sampler chain that cannot select a token, or a sampler placed where it cannot work."""


class NativeCallError(LlamaError):
    """A native call reported failure.

    `code` is its return code (None when it returned a null pointer); `log_lines` are the last lines that
    native code logged before.
    """

    def __init__(self, message: str, *, code: int | None = None, log_lines: Sequence[str] = ()) -> None:
        self.code = code
        self.log_lines = tuple(log_lines)
        details = "".join(f"\n  log: {line}" for line in self.log_lines)
        super().__init__(f"{message}{details}")


class ModelLoadError(NativeCallError, ValueError):
    """A model file could not be loaded."""


class ModelFileNotFoundError(ModelLoadError):
    """The model file does not exist or is no file."""


class AdapterError(NativeCallError):
    """LoRA adapters or a control vector could not be put in force."""


class AdapterLoadError(AdapterError, ValueError):
    """A LoRA adapter could not be loaded."""


class ContextCreateError(NativeCallError, ValueError):
    """A context with these parameters could not be created."""


class TokenizeError(NativeCallError, ValueError):
    """Text could not be turned into tokens, or tokens into text."""


class SamplerError(NativeCallError, ValueError):
    """A sampler could not be created, or could not take a token."""


class GrammarError(SamplerError):
    """A grammar could not be parsed, or was offered a token that it does not allow."""


class MemoryOperationError(NativeCallError):
    """The context's memory cannot do what was asked."""


class StateError(NativeCallError):
    """A state could not be saved or restored."""


class RemoteServerError(LlamaError, ConnectionError):
    """An RPC server cannot be reached or used."""


class ThreadPoolError(NativeCallError):
    """A thread pool could not be created."""


class DecodeError(NativeCallError):
    """Evaluating a batch failed; the subclass says how."""


class CacheFullError(DecodeError):
    """The context has no room for the batch (return code 1). Its memory is as it was before."""


class DecodeAborted(DecodeError):  # noqa: N818 - not a failure: someone asked for it
    """The evaluation was stopped by `Context.abort` (return code 2). Completed micro-batches stay in memory."""


class InvalidBatchError(DecodeError):
    """Native code refused the batch (return code -1). The context's memory is as it was before."""


class DecodeAllocationError(DecodeError):
    """Memory for the evaluation could not be allocated or prepared (return code -2)."""


class ComputeError(DecodeError):
    """The computation failed (return code -3 or lower). Completed micro-batches stay in memory."""
