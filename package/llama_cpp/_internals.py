"""The objects below `Llama`, for programs that evaluate and sample by themselves: thin faces of the engine's classes."""

from ._engine.custom_sampler import CustomSampler
from ._features.internals.batch import LlamaBatch
from ._features.internals.batch_ext import LlamaBatchExt
from ._features.internals.candidates import LlamaTokenDataArray, normalize_embedding
from ._features.internals.context import LlamaContext, LlamaDecodeAbort
from ._features.internals.grammar_sampler import GrammarSampler
from ._features.internals.lora import LlamaLoraAdapter
from ._features.internals.model import LlamaModel
from ._features.internals.reasoning import ReasoningBudgetSampler, ReasoningBudgetState
from ._features.internals.sampler import LlamaSampler
from ._features.internals.sampling_context import CommonSamplerType, LlamaSamplingContext, LlamaSamplingParams

__all__ = [
    "CommonSamplerType",
    "CustomSampler",
    "GrammarSampler",
    "LlamaBatch",
    "LlamaBatchExt",
    "LlamaContext",
    "LlamaDecodeAbort",
    "LlamaLoraAdapter",
    "LlamaModel",
    "LlamaSampler",
    "LlamaSamplingContext",
    "LlamaSamplingParams",
    "LlamaTokenDataArray",
    "ReasoningBudgetSampler",
    "ReasoningBudgetState",
    "normalize_embedding",
]
