"""Samplers written in Python, as members of native chains.

All of them share one native interface, whose callbacks live as long as the process: a chain may be freed in a callback's
own thread, or at exit. A native sampler is bound to its Python side by a number, which is given up when it is freed. What
a callback raises is kept until the native call has returned; `raise_pending` raises it then.
"""

from __future__ import annotations

import ctypes
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._native.bindings import llama
from llama_cpp._native.bindings.declarations import llama_sampling as declared

from .candidates import CANDIDATE
from .errors import SamplerError
from .returns import log_mark, require_pointer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class NativeCandidates:
    """The candidates that a native chain holds now. Valid only while the callback that gets it runs.

    It can be read like a `llama_token_data_array *` too: `contents` is the struct.
    """

    def __init__(self, pointer: Any) -> None:
        self.contents = pointer.contents

    @property
    def data(self) -> NDArray[Any]:
        """The candidates, to be changed in place: a structured array (id, logit, p) of `size` entries."""
        address = ctypes.cast(self.contents.data, ctypes.c_void_p).value
        buffer = (ctypes.c_char * (self.size * CANDIDATE.itemsize)).from_address(address or 0)
        return np.frombuffer(memoryview(buffer), CANDIDATE)

    @property
    def ids(self) -> NDArray[np.int32]:
        """Token ids."""
        ids: NDArray[np.int32] = self.data["id"]
        return ids

    @property
    def logits(self) -> NDArray[np.float32]:
        """Logits."""
        logits: NDArray[np.float32] = self.data["logit"]
        return logits

    @property
    def size(self) -> int:
        """How many there are. It may be made smaller, but not 0: the first ones stay."""
        return int(self.contents.size)

    @size.setter
    def size(self, value: int) -> None:
        self.contents.size = value

    @property
    def selected(self) -> int:
        """Where the chosen candidate is; -1 when none is chosen."""
        return int(self.contents.selected)

    @selected.setter
    def selected(self, value: int) -> None:
        self.contents.selected = value

    @property
    def in_order(self) -> bool:
        """Whether the candidates are in the order of their logits, highest first: to be cleared by who changes that."""
        return bool(self.contents.sorted)

    @in_order.setter
    def in_order(self, value: bool) -> None:
        self.contents.sorted = value


class CustomSampler:
    """Python callbacks that make up a sampler. It may be added to several chains, one after the other or at once.

    Args:
        apply_func: Called with a `NativeCandidates`, which it changes in place.
        accept_func: Called with the id of the token that was chosen.
        reset_func: Called when the chain is reset.
        free_func: Called once for each chain that it was a member of, when that is freed.
        clone_func: Returns the `CustomSampler` of a chain's copy; without it the copy shares these callbacks.
        name: As `SamplerChain.names` shows it.
        selects: Whether it chooses a token, and so ends the chain.
    """

    def __init__(  # noqa: PLR0917 - positional in the published interface
        self,
        apply_func: Callable[[Any], object],
        accept_func: Callable[[int], object] | None = None,
        reset_func: Callable[[], object] | None = None,
        free_func: Callable[[], object] | None = None,
        clone_func: Callable[[], CustomSampler] | None = None,
        name: str = "custom",
        *,
        selects: bool = False,
    ) -> None:
        if not all(callable(each) for each in (apply_func, *filter(None, (accept_func, reset_func, free_func, clone_func)))):
            raise TypeError("the functions of a custom sampler must be callable, and apply_func cannot be left out")
        self.apply_func = apply_func
        self.accept_func = accept_func
        self.reset_func = reset_func
        self.free_func = free_func
        self.clone_func = clone_func
        self.name = name
        self.selects = selects
        self.native_name = ctypes.create_string_buffer(name.encode())


class Member:
    """One native sampler that a `CustomSampler` is behind of."""

    def __init__(self, custom: CustomSampler) -> None:
        self.custom = custom
        self.error: BaseException | None = None

    def create(self) -> llama.llama_sampler_p:
        """The native sampler, which the caller owns. It keeps this object until it is freed."""
        key = next(_keys)
        _members[key] = self
        mark = log_mark()
        pointer = llama.llama_sampler_init(ctypes.byref(_interface), key)
        return require_pointer(pointer, SamplerError, "the custom sampler could not be created", mark)

    def call(self, function: Callable[..., object] | None, *arguments: object) -> object:
        """Run a callback; what it raises is kept, and nothing more is run until it was raised."""
        if function is None or self.error is not None:
            return None
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: BLE001 - kept, and raised again once C has returned
            self.error = error
            return None

    def raise_pending(self) -> None:
        """Raise what a callback raised since the last time."""
        error, self.error = self.error, None
        if error is not None:
            raise error


_keys = itertools.count(1)
_members: dict[int, Member] = {}


def member_of(sampler: int | None) -> Member | None:
    """The Python side of a native sampler; None for one of llama.cpp's own."""
    if not sampler:
        return None
    native = declared.llama_sampler.from_address(sampler)
    if ctypes.addressof(native.iface.contents) != ctypes.addressof(_interface):
        return None
    return _members.get(native.ctx or 0)


def _name(sampler: int) -> int | None:
    member = member_of(sampler)
    return None if member is None else ctypes.addressof(member.custom.native_name)


def _accept(sampler: int, token: int) -> None:
    member = member_of(sampler)
    if member is not None:
        member.call(member.custom.accept_func, token)


def _apply(sampler: int, pointer: Any) -> None:
    member = member_of(sampler)
    if member is not None:
        candidates = NativeCandidates(pointer)
        struct = candidates.contents
        size, selected, address = candidates.size, candidates.selected, ctypes.cast(struct.data, ctypes.c_void_p).value
        member.call(_applied, member.custom, candidates)
        if member.error is not None:  # what native code goes on with has to make sense
            struct.data = ctypes.cast(address or 0, ctypes.POINTER(llama.llama_token_data))
            candidates.size, candidates.selected = size, selected


def _applied(custom: CustomSampler, candidates: NativeCandidates) -> None:
    """Run the callback, and refuse what native samplers would not survive."""
    size, address = candidates.size, ctypes.cast(candidates.contents.data, ctypes.c_void_p).value
    custom.apply_func(candidates)
    if ctypes.cast(candidates.contents.data, ctypes.c_void_p).value != address:
        raise SamplerError(f"the custom sampler {custom.name!r} put other data in place of the candidates; change them in place")
    if not 1 <= candidates.size <= size:
        raise SamplerError(f"the custom sampler {custom.name!r} left {candidates.size} of {size} candidates; one at least has to stay")
    if not -1 <= candidates.selected < candidates.size:
        raise SamplerError(f"the custom sampler {custom.name!r} selected candidate {candidates.selected} of {candidates.size}")
    if not np.isfinite(candidates.logits.max()):
        raise SamplerError(f"the custom sampler {custom.name!r} left no token that could be chosen: all are -inf, or one is NaN or +inf")


def _reset(sampler: int) -> None:
    member = member_of(sampler)
    if member is not None:
        member.call(member.custom.reset_func)


def _clone(sampler: int) -> int | None:
    member = member_of(sampler)
    if member is None:
        return None
    custom = member.custom
    if custom.clone_func is not None:
        made = member.call(custom.clone_func)
        if isinstance(made, CustomSampler):
            custom = made
        elif member.error is None:
            member.error = TypeError(f"clone_func of the custom sampler {custom.name!r} must return a CustomSampler, not {made!r}")
    return Member(custom).create()


def _free(sampler: int) -> None:
    native = declared.llama_sampler.from_address(sampler)
    member = _members.pop(native.ctx or 0, None)
    if member is not None:
        member.error = None
        member.call(member.custom.free_func)


_interface = declared.llama_sampler_i(
    name=declared.llama_sampler_i_name(_name),
    accept=declared.llama_sampler_i_accept(_accept),
    apply=declared.llama_sampler_i_apply(_apply),
    reset=declared.llama_sampler_i_reset(_reset),
    clone=declared.llama_sampler_i_clone(_clone),
    free=declared.llama_sampler_i_free(_free),
)
