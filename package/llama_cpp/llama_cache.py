"""Caches of what prompts came to, and checkpoints of memory that cannot be cut."""

from ._features.cache.base import BaseLlamaCache
from ._features.cache.checkpoints import HybridCheckpoint, HybridCheckpointCache
from ._features.cache.disk import LlamaDiskCache
from ._features.cache.memory import LlamaRAMCache, LlamaTrieCache
from ._features.cache.prefix_tree import TrieNode

LlamaCache = LlamaTrieCache

__all__ = [
    "BaseLlamaCache",
    "HybridCheckpoint",
    "HybridCheckpointCache",
    "LlamaCache",
    "LlamaDiskCache",
    "LlamaRAMCache",
    "LlamaTrieCache",
    "TrieNode",
]
