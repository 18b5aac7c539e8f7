"""Samplers that run in the graph of an evaluation, on the device: attaching a chain to a sequence, and reading what they chose.

Native code takes the beginning of a chain that it has operations for; the rest runs when the chain samples.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._native.bindings import llama

from .errors import SamplerChainError, SequenceIdError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from llama_cpp._native.pointers import Pointer

    from .context import Context
    from .sampler import SamplerChain

NO_TOKEN = -1
"""Where nothing was chosen on the device."""


class DeviceSampling:
    """The samplers of a live context. Indices are those of `Context.logits`; arrays are views until the next evaluation."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def attach(self, seq_id: int, chain: SamplerChain | None) -> bool:
        """Let a chain choose the tokens of a sequence; None ends it. False when the device can run nothing of the chain.

        The chain is closed with the context at the latest; closed before, it is detached. Raises `SamplerChainError` for a
        chain that is attached already, or has members that only work from Python.
        """
        context = self._context
        if not 0 <= seq_id < context.n_seq_max:
            raise SequenceIdError(f"sequence {seq_id} does not exist: this context has n_seq_max={context.n_seq_max}")
        if chain is None:
            if context.samplers.pop(seq_id, None) is not None:
                llama.llama_set_sampler(context.pointer, seq_id, llama.llama_sampler_p(0))
            return True
        if chain.device is not None:
            raise SamplerChainError("a chain can be attached once only; attach a copy of it (`clone`)")
        if not chain.native:
            raise SamplerChainError("grammars, samplers written in Python and penalties without n_vocab cannot run on a device")
        if not llama.llama_set_sampler(context.pointer, seq_id, chain.pointer):
            context.samplers.pop(seq_id, None)
            return False
        context.samplers[seq_id] = chain
        chain.device = (weakref.ref(context), seq_id)
        return True

    def token(self, index: int = -1) -> int:
        """The token that was chosen; `NO_TOKEN` when that is left to the chain."""
        self._context.check_output(index)
        return int(llama.llama_get_sampled_token_ith(self._context.pointer, index))

    def probabilities(self, index: int = -1) -> NDArray[np.float32]:
        """The probabilities of the candidates; empty when the device computed none."""
        return self._floats(llama.llama_get_sampled_probs_ith, llama.llama_get_sampled_probs_count_ith, index)

    def logits(self, index: int = -1) -> NDArray[np.float32]:
        """The logits of the candidates; empty when the device computed none."""
        return self._floats(llama.llama_get_sampled_logits_ith, llama.llama_get_sampled_logits_count_ith, index)

    def candidates(self, index: int = -1) -> NDArray[np.int32]:
        """The token ids of the candidates; empty when the device chose among all."""
        self._context.check_output(index)
        pointer = self._context.pointer
        count = int(llama.llama_get_sampled_candidates_count_ith(pointer, index))
        first = llama.llama_get_sampled_candidates_ith(pointer, index)
        if not count or not first:
            return np.zeros(0, np.int32)
        buffer = (ctypes.c_int32 * count).from_address(ctypes.addressof(first.contents))
        return np.frombuffer(memoryview(buffer), np.int32)

    def _floats(
        self,
        read: Callable[[llama.llama_context_p, int], Pointer[ctypes.c_float]],
        size: Callable[[llama.llama_context_p, int], int],
        index: int,
    ) -> NDArray[np.float32]:
        self._context.check_output(index)
        pointer = self._context.pointer
        first, count = read(pointer, index), int(size(pointer, index))
        if not first or not count:
            return np.zeros(0, np.float32)
        buffer = (ctypes.c_float * count).from_address(ctypes.addressof(first.contents))
        return np.frombuffer(memoryview(buffer), np.float32)
