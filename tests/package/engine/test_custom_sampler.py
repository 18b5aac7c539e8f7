from __future__ import annotations

import ctypes
import gc
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from llama_cpp._engine import custom_sampler
from llama_cpp._engine.candidates import Candidates
from llama_cpp._engine.custom_sampler import CustomSampler, Member, NativeCandidates, member_of
from llama_cpp._engine.errors import SamplerError
from llama_cpp._native.bindings import llama
from llama_cpp._native.bindings.declarations.llama_sampling import llama_sampler, llama_sampler_i

if TYPE_CHECKING:
    from collections.abc import Iterator


class Natives:
    """What llama.cpp does with an interface: `llama_sampler_init`, and calls through it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: dict[int, llama_sampler] = {}
        monkeypatch.setattr(llama, "llama_sampler_init", self.init)

    def init(self, interface: Any, key: int) -> int:
        native = llama_sampler(iface=ctypes.pointer(interface._obj), ctx=key)
        self.made[ctypes.addressof(native)] = native
        return ctypes.addressof(native)

    def apply(self, pointer: int, logits: list[float]) -> Candidates:
        candidates = Candidates(len(logits))
        candidates.fill(np.array(logits, np.float32))
        self.interface(pointer).apply(pointer, ctypes.byref(candidates.struct))
        return candidates

    def interface(self, pointer: int) -> llama_sampler_i:
        return self.made[pointer].iface.contents

    def free(self, pointer: int) -> None:
        self.interface(pointer).free(pointer)
        del self.made[pointer]


@pytest.fixture
def natives(monkeypatch: pytest.MonkeyPatch) -> Iterator[Natives]:
    made = Natives(monkeypatch)
    yield made
    for pointer in list(made.made):
        made.free(pointer)
    assert custom_sampler._members == {}


def member(custom: CustomSampler) -> tuple[Member, int]:
    made = Member(custom)
    return made, made.create()


def test_the_callbacks_are_called_with_what_native_code_says(natives: Natives) -> None:
    seen: list[Any] = []
    custom = CustomSampler(
        lambda candidates: seen.append(candidates.logits.tolist()), seen.append, lambda: seen.append("reset"), lambda: seen.append("free")
    )
    _, pointer = member(custom)
    natives.apply(pointer, [1.0, 2.0])
    natives.interface(pointer).accept(pointer, 7)
    natives.interface(pointer).reset(pointer)
    natives.free(pointer)
    assert seen == [[1.0, 2.0], 7, "reset", "free"]


def test_the_name(natives: Natives) -> None:
    _, pointer = member(CustomSampler(lambda _: None, name="höher"))
    assert ctypes.string_at(natives.interface(pointer).name(pointer)) == "höher".encode()


def test_what_apply_changes_is_seen_by_native_code(natives: Natives) -> None:
    def change(candidates: NativeCandidates) -> None:
        candidates.logits[0] = 9
        candidates.ids[1] = 5
        candidates.size = 2
        candidates.selected = 1
        candidates.in_order = True

    _, pointer = member(CustomSampler(change))
    left = natives.apply(pointer, [1.0, 2.0, 3.0])
    assert left.data.tolist() == [(0, 9.0, 0.0), (5, 2.0, 0.0)]
    assert (left.selected_token, left.struct.sorted) == (5, True)


def test_the_struct_itself_can_be_read(natives: Natives) -> None:
    sizes = []
    _, pointer = member(CustomSampler(lambda pointer: sizes.append((pointer.contents.size, pointer.contents.data[1].logit))))
    natives.apply(pointer, [1.0, 2.0])
    assert sizes == [(2, 2.0)]


def test_an_exception_is_kept_and_stops_the_others(natives: Natives) -> None:
    accepted: list[int] = []

    def fail(_: object) -> None:
        raise KeyError("its own")

    made, pointer = member(CustomSampler(fail, accepted.append))
    natives.apply(pointer, [1.0])
    natives.interface(pointer).accept(pointer, 3)
    assert accepted == []
    with pytest.raises(KeyError, match="its own"):
        made.raise_pending()
    natives.interface(pointer).accept(pointer, 3)
    made.raise_pending()
    assert accepted == [3]


def set_data(candidates: NativeCandidates) -> None:
    candidates.contents.data = ctypes.pointer(llama.llama_token_data())


@pytest.mark.parametrize(
    ("change", "about"),
    [
        (lambda candidates: setattr(candidates, "size", 0), "left 0 of 3"),
        (lambda candidates: setattr(candidates, "size", 4), "left 4 of 3"),
        (lambda candidates: setattr(candidates, "selected", 3), "selected candidate 3"),
        (lambda candidates: setattr(candidates, "selected", -2), "selected candidate -2"),
        (lambda candidates: candidates.logits.fill(np.nan), "no token"),
        (lambda candidates: candidates.logits.fill(-np.inf), "no token"),
        (set_data, "other data"),
    ],
)
def test_what_native_samplers_would_not_survive_is_undone(natives: Natives, change: Any, about: str) -> None:
    made, pointer = member(CustomSampler(change))
    left = natives.apply(pointer, [1.0, 2.0, 3.0])
    assert (left.size, left.struct.selected) == (3, -1)
    assert ctypes.addressof(left.struct.data.contents) == left._own.ctypes.data
    with pytest.raises(SamplerError, match=about):
        made.raise_pending()


def test_a_copy_shares_the_callbacks(natives: Natives) -> None:
    accepted: list[int] = []
    _, pointer = member(CustomSampler(lambda _: None, accepted.append))
    copy = natives.interface(pointer).clone(pointer)
    natives.free(pointer)
    natives.interface(copy).accept(copy, 4)
    assert accepted == [4]


def test_a_copy_of_its_own(natives: Natives) -> None:
    accepted: list[str] = []
    other = CustomSampler(lambda _: None, lambda _: accepted.append("other"))
    _, pointer = member(CustomSampler(lambda _: None, lambda _: accepted.append("one"), clone_func=lambda: other))
    copy = natives.interface(pointer).clone(pointer)
    natives.interface(copy).accept(copy, 4)
    assert accepted == ["other"]


@pytest.mark.parametrize("answer", [None, 5])
def test_a_copy_that_is_none(natives: Natives, answer: Any) -> None:
    made, pointer = member(CustomSampler(lambda _: None, clone_func=lambda: answer))
    assert member_of(natives.interface(pointer).clone(pointer)) is not None, "native code has to get a sampler all the same"
    with pytest.raises(TypeError, match="clone_func"):
        made.raise_pending()


def test_it_lives_as_long_as_its_native_sampler(natives: Natives) -> None:
    class Apply:
        def __call__(self, _: object) -> None: ...

    made = Member(CustomSampler(Apply()))
    watched, pointer = weakref.ref(made), made.create()
    del made
    gc.collect()
    assert watched() is not None
    natives.free(pointer)
    gc.collect()
    assert watched() is None


def test_samplers_of_llama_cpp_are_not_its_own() -> None:
    foreign = llama_sampler_i()
    native = llama_sampler(iface=ctypes.pointer(foreign), ctx=1)
    assert member_of(ctypes.addressof(native)) is None
    assert member_of(None) is None


@pytest.mark.parametrize("arguments", [(None,), (5,), (print, 5), (print, None, "x")])
def test_functions_have_to_be_callable(arguments: Any) -> None:
    with pytest.raises(TypeError, match="callable"):
        CustomSampler(*arguments)
