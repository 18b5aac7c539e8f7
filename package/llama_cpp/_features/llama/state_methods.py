"""The part of `Llama` that saves and loads what it has computed, in memory and as files, and has a prompt cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._features.cache.requests import require_cache
from llama_cpp._features.sampling.seeds import SeedSource
from llama_cpp._features.state.exchange import load_snapshot, take_snapshot
from llama_cpp._features.state.file import read_state, write_state

from .core import LlamaCore

if TYPE_CHECKING:
    import os

    from llama_cpp._features.cache.base import BaseLlamaCache
    from llama_cpp._features.cache.checkpoints import HybridCheckpointCache
    from llama_cpp._features.state.snapshot import LlamaState


class StateMethods(LlamaCore):
    """Snapshots and caches. The guide's page on states says what they hold and what they do not."""

    @property
    def cache(self) -> BaseLlamaCache | None:
        """The cache of `set_cache`."""
        return self._runtime.cache

    @cache.setter
    def cache(self, cache: BaseLlamaCache | None) -> None:
        self.set_cache(cache)

    def set_cache(self, cache: BaseLlamaCache | None) -> None:
        """Look prompts up in `cache` before they are evaluated, and save what completions have computed; None ends it.

        Completions that are aborted or fail are not saved. A cache may serve several objects, of different models too.
        """
        require_cache(cache)
        self._runtime.cache = cache

    @property
    def _hybrid_cache_mgr(self) -> HybridCheckpointCache | None:
        """The checkpoints that prompts leave; None where memory can be cut anywhere, and needs none."""
        return self._runtime.live.checkpoints

    def save_state(self) -> LlamaState:
        """A copy of what the context holds: tokens, native state, the last logits, and the place in the series of seeds.

        What samplers remember of a running request is not in it. Raises `StateError` when native code cannot save.
        """
        runtime = self._runtime
        with runtime.turns.blocking():
            return take_snapshot(runtime.live, seed=runtime.seeds.current)

    def load_state(self, state: LlamaState) -> None:
        """Hold what `state` holds, in place of what the context holds now.

        `sample` can be called at once when the state has its last logits; `generate` and completions go on from it.

        Raises:
            StateMismatchError: The state is not whole, or of another model, context or version (a ValueError). Nothing
                was changed.
            StateRestoreError: Native code refused it (a RuntimeError). The context is empty now.
        """
        runtime = self._runtime
        with runtime.turns.blocking() as turn:
            load_snapshot(runtime.live, state, turn, (runtime.context.adaptation, runtime.adapters.select()))
            runtime.seeds = SeedSource(state.seed)

    def save_state_file(self, path: str | os.PathLike[str]) -> int:
        """`save_state` as a file, which appears when it is complete, in place of one that was there; returns its bytes.

        The guide's page on states describes the format.
        """
        return write_state(path, self.save_state())

    def load_state_file(self, path: str | os.PathLike[str]) -> None:
        """`load_state` from a file of `save_state_file`. It is data: nothing in it is executed.

        Raises `StateFileError` (a ValueError) for a file that is damaged or of another format, OSError when it cannot be
        read, and what `load_state` raises.
        """
        self.load_state(read_state(path))
