"""Record layouts of the bindings are those that the C compiler of this very build reported."""

from __future__ import annotations

import ctypes

import pytest
from rig import installation

import llama_cpp.llama_cpp as module
from llama_cpp._native import abi


@pytest.mark.every_processor
def test_every_record_matches_what_the_compiler_said() -> None:
    report = installation.library_folder() / installation.LAYOUT_REPORT
    assert report.is_file(), "the wheel carries no layout report of its build"
    assert [str(difference) for difference in abi.check(report)] == []


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("llama_model_params", 80),
        ("llama_context_params", 160),
        ("llama_batch", 56),
        ("llama_model_kv_override", 264),
        ("llama_model_quantize_params", 64),
    ],
)
@pytest.mark.every_processor
def test_known_sizes_on_64_bit_systems(name: str, size: int) -> None:
    """Figures from another source than the probe, so that a probe that reports nothing can't pass."""
    assert ctypes.sizeof(getattr(module, name)) == size


@pytest.mark.every_processor
def test_default_parameters_survive_the_call_by_value() -> None:
    parameters = module.llama_context_default_params()
    assert (parameters.n_ctx, parameters.n_batch, parameters.n_ubatch) == (512, 2048, 512)
    assert parameters.yarn_ext_factor == pytest.approx(-1.0)
    assert module.llama_model_default_params().n_gpu_layers == -1
