"""`LlamaLoraAdapter`: a LoRA file, loaded for one model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._engine.adapter import LoraAdapter

if TYPE_CHECKING:
    import os
    from types import TracebackType

    from typing_extensions import Self

    from .model import LlamaModel


class LlamaLoraAdapter:
    """A LoRA adapter of `model`, freed by `close()` or with the model. `LlamaContext.set_adapters_lora` puts it in force."""

    def __init__(self, model: LlamaModel, path: str | os.PathLike[str]) -> None:
        self.model = model
        self.path = str(path)
        self.engine = LoraAdapter(model.engine, path)

    @property
    def adapter(self) -> int:
        """The address of the `llama_adapter_lora`."""
        return self.engine.pointer

    def metadata(self) -> dict[str, str]:
        """The scalar metadata of the file as text."""
        return self.engine.metadata

    def close(self) -> None:
        """Take the adapter out of force wherever it is, and free it."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
