from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from llama_cpp._engine.choices import check_cache, check_choice, check_overrides
from llama_cpp._engine.errors import InvalidArgumentError
from llama_cpp._native.bindings import ggml


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("split_mode", 3, 4),
        ("load_mode", -1, -2),
        ("flash_attn_type", -1, 2),
        ("pooling_type", 4, 5),
        ("rope_scaling_type", 3, 4),
        ("type_k", ggml.GGML_TYPE_Q8_0, ggml.GGML_TYPE_Q6_K),
        ("type_v", ggml.GGML_TYPE_BF16, -1),
        ("n_batch", 1, 0),
        ("n_threads", 512, 513),
    ],
)
def test_numbers_that_name_something(name: str, good: int, bad: int) -> None:
    check_choice(name, good)
    with pytest.raises(InvalidArgumentError, match=f"{name}={bad}"):
        check_choice(name, bad)


def test_other_parameters_pass() -> None:
    check_choice("n_ctx", -5)


def test_the_message_names_the_choices() -> None:
    with pytest.raises(InvalidArgumentError, match=r"LLAMA_SPLIT_MODE_NONE \(0\), LLAMA_SPLIT_MODE_LAYER \(1\)"):
        check_choice("split_mode", 9)


class TestCacheAndHeads:
    @pytest.fixture(autouse=True)
    def _ggml(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ggml, "ggml_is_quantized", lambda kind: kind == ggml.GGML_TYPE_Q8_0)
        monkeypatch.setattr(ggml, "ggml_blck_size", lambda _: 32)

    def model(self, *, n_head: int = 2, **metadata: str) -> Any:
        return SimpleNamespace(n_embd=32, n_head=n_head, metadata={"general.architecture": "toy", **metadata})

    def test_keys_that_do_not_fit(self) -> None:
        with pytest.raises(InvalidArgumentError, match="keys of 16 values"):
            check_cache(self.model(), ggml.GGML_TYPE_Q8_0)
        with pytest.raises(InvalidArgumentError, match="keys of 40 values"):
            check_cache(self.model(**{"toy.attention.key_length": "40"}), ggml.GGML_TYPE_Q8_0)

    @pytest.mark.parametrize("kind", [None, ggml.GGML_TYPE_F16])
    def test_caches_without_blocks(self, kind: int | None) -> None:
        check_cache(self.model(), kind)

    def test_keys_that_fit(self) -> None:
        check_cache(self.model(**{"toy.attention.key_length": "64"}), ggml.GGML_TYPE_Q8_0)
        check_cache(self.model(n_head=0), ggml.GGML_TYPE_Q8_0)


@pytest.mark.parametrize(
    "override",
    [
        {"toy.block_count": 0},
        {"toy.block_count": 513},
        {"toy.attention.layer_norm_epsilon": -0.5},
        {"toy.attention.layer_norm_rms_epsilon": float("nan")},
        {"toy.expert_count": 4},
        {"tokenizer.ggml.model": "bert"},
    ],
)
def test_overrides_that_native_code_asserts_something_about(override: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match=next(iter(override))):
        check_overrides(override)


def test_other_overrides() -> None:
    check_overrides({"toy.block_count": 512, "toy.layer_norm_epsilon": 0.0, "toy.expert_count": 4, "toy.expert_used_count": 2, "x": "y"})
    check_overrides({"toy.expert_count": 0})
