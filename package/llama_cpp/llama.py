"""The high-level API: `Llama` and what belongs to it."""

from ._engine.threadpool import ThreadPool
from ._features.generation.prefill import PrefillResult
from ._features.grammar.definition import LlamaGrammar
from ._features.llama.llama import Llama
from ._features.sampling.callbacks import (
    LogitsProcessor,
    LogitsProcessorList,
    MinTokensLogitsProcessor,
    StoppingCriteria,
    StoppingCriteriaList,
)
from ._features.state.snapshot import LlamaState
from ._features.tokenizer.base import BaseLlamaTokenizer
from ._features.tokenizer.vocabulary import LlamaTokenizer
from ._version import __version__
from .llama_cache import (
    BaseLlamaCache,
    HybridCheckpoint,
    HybridCheckpointCache,
    LlamaCache,
    LlamaDiskCache,
    LlamaRAMCache,
    LlamaTrieCache,
    TrieNode,
)
from .llama_types import *  # noqa: F403
from .llama_types import __all__ as _type_names

__all__ = [  # noqa: PLE0604
    "BaseLlamaCache",
    "BaseLlamaTokenizer",
    "HybridCheckpoint",
    "HybridCheckpointCache",
    "Llama",
    "LlamaCache",
    "LlamaDiskCache",
    "LlamaGrammar",
    "LlamaRAMCache",
    "LlamaState",
    "LlamaTokenizer",
    "LlamaTrieCache",
    "LogitsProcessor",
    "LogitsProcessorList",
    "MinTokensLogitsProcessor",
    "PrefillResult",
    "StoppingCriteria",
    "StoppingCriteriaList",
    "ThreadPool",
    "TrieNode",
    "__version__",
    *_type_names,
]
