"""The part of `Llama` that keeps LoRA adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .core import LlamaCore

if TYPE_CHECKING:
    import os


class AdapterMethods(LlamaCore):
    """LoRA adapters by name. A request puts some of them in force with `active_loras`."""

    def load_lora(self, name: str, path: str | os.PathLike[str]) -> None:
        """Load a LoRA adapter from a GGUF file under `name`. It changes nothing until a request names it.

        Raises ValueError when the name is in use, or (`AdapterLoadError`) the file is missing or fits another model.
        """
        runtime = self._runtime
        with runtime.turns.executing:
            runtime.adapters.load(name, path)

    def unload_lora(self, name: str) -> None:
        """Free an adapter. KeyError when none has that name. A suspended stream that uses it cannot go on."""
        runtime = self._runtime
        with runtime.turns.blocking() as turn:
            adapter = runtime.adapters.remove(name)
            if any(lora is adapter for lora, _ in runtime.context.adaptation.loras):
                runtime.live.take(turn)  # without adapters: native code must not keep what is freed now
            adapter.close()

    def unload_all_loras(self) -> None:
        """Free all adapters."""
        for name in self.list_loras():
            self.unload_lora(name)

    def list_loras(self) -> list[str]:
        """The names of the loaded adapters."""
        return self._runtime.adapters.names

    @property
    def loaded_lora_count(self) -> int:
        """How many adapters are loaded."""
        return len(self._runtime.adapters.names)
