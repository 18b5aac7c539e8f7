"""Sizes that native code cannot plan are refused, all others pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._engine.errors import ContextCreateError
from llama_cpp._engine.plan import padded, require_plan

UNSPECIFIED, NONE, MEAN, FIRST, RANK = -1, 0, 1, 2, 4
NONCAUSAL = 1


@dataclass
class Model:
    metadata: dict[str, str] = field(default_factory=dict)
    n_ctx_train: int = 2048
    has_encoder: bool = False
    has_decoder: bool = True


@dataclass
class Struct:
    """The fields of `llama_context_params` that matter."""

    embeddings: bool = True
    pooling_type: int = MEAN
    attention_type: int = UNSPECIFIED
    n_ctx: int = 512
    n_batch: int = 512
    n_ubatch: int = 512
    n_seq_max: int = 3
    n_outputs_max: int = 0
    kv_unified: bool = True


def refused(struct: Struct, **facts: Any) -> bool:
    metadata = {"general.architecture": "arch", **{f"arch.{key}": value for key, value in facts.items()}}
    try:
        require_plan(Model(metadata), struct)  # type: ignore[arg-type]
    except ContextCreateError:
        return True
    return False


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"n_ubatch": 510}, False),
        ({"n_ubatch": 0, "n_batch": 510}, False),
        ({"n_seq_max": 1}, False),
        ({"n_seq_max": 64}, False),
        ({"n_seq_max": 64, "n_ctx": 100}, True),
        ({"n_seq_max": 64, "n_ctx": 100, "attention_type": NONCAUSAL}, False),
        ({"n_ctx": 0, "n_seq_max": 512, "n_batch": 4096, "n_ubatch": 2048}, False),
        ({"n_ctx": 512, "n_batch": 2048, "n_ubatch": 2048, "kv_unified": False}, True),
        ({"n_ctx": 512, "n_batch": 2049, "n_ubatch": 2049, "kv_unified": False, "attention_type": NONCAUSAL}, False),
        ({"pooling_type": NONE}, False),
        ({"pooling_type": FIRST}, False),
        ({"embeddings": False}, False),
        ({"n_seq_max": 1, "n_outputs_max": 511}, True),
        ({"n_seq_max": 1, "n_outputs_max": 512}, False),
    ],
)
def test_which_sizes_are_refused(changes: dict[str, Any], expected: bool) -> None:
    assert refused(Struct(**changes)) is expected


@pytest.mark.parametrize(
    ("pooling", "facts", "expected"),
    [
        (UNSPECIFIED, {}, False),
        (UNSPECIFIED, {"pooling_type": "1"}, True),
        (UNSPECIFIED, {"pooling_type": "2"}, False),
        (RANK, {}, False),
        (RANK, {"classifier.pooling_type": "1"}, True),
        (UNSPECIFIED, {"pooling_type": "4", "classifier.pooling_type": "1"}, True),
    ],
)
def test_the_model_may_say_how_it_pools(pooling: int, facts: dict[str, str], expected: bool) -> None:
    assert refused(Struct(pooling_type=pooling), **facts) is expected


def test_the_model_may_say_that_it_looks_ahead() -> None:
    struct = Struct(n_ctx=100, n_seq_max=64)
    assert refused(struct)
    assert not refused(struct, **{"attention.causal": "false"})


def test_the_message_says_what_to_use() -> None:
    model: Any = Model()
    with pytest.raises(ContextCreateError, match=r"multiples of n_seq_max \(3\); n_ubatch=513 is the nearest"):
        require_plan(model, Struct())
    with pytest.raises(ContextCreateError, match="leave n_outputs_max at 0"):
        require_plan(model, Struct(n_seq_max=1, n_outputs_max=2))


@pytest.mark.parametrize(("n_seq_max", "unified", "refused"), [(2, False, True), (2, True, False), (1, False, False)])
def test_a_decoder_behind_an_encoder_has_one_cache(n_seq_max: int, unified: bool, refused: bool) -> None:
    model: Any = Model(has_encoder=True)
    struct = Struct(embeddings=False, n_seq_max=n_seq_max, kv_unified=unified)
    if refused:
        with pytest.raises(ContextCreateError, match="kv_unified=True"):
            require_plan(model, struct)
    else:
        require_plan(model, struct)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"n_batch": 2}, True),
        ({"n_batch": 3}, False),
        ({"n_ctx": 2}, True),
        ({"n_ctx": 2, "attention_type": NONCAUSAL}, False),
        ({"n_outputs_max": 2}, True),
        ({"n_outputs_max": 3}, False),
        ({"n_batch": 1, "n_seq_max": 1}, False),
    ],
)
def test_each_sequence_has_room_for_an_output(changes: dict[str, Any], expected: bool) -> None:
    assert refused(Struct(embeddings=False, **changes)) is expected


@given(st.integers(0, 5000), st.integers(1, 300))
def test_padded_is_the_least_multiple(count: int, unit: int) -> None:
    assert count <= padded(count, unit) < count + unit
    assert padded(count, unit) % unit == 0
