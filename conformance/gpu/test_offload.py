"""On a GPU a model computes what it computes on the CPU, and its layers lie where they were asked to.

Logits are compared with a tolerance: a GPU sums in another order, multiplies floats with fewer bits (TF32) and quantises
activations in its own way. Text is compared on prompts that leave no doubt about the next token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rig import cuda, material
from rig.generation import CERTAIN_PROMPTS
from rig.placement import Placement, differences, place

import llama_cpp
from llama_cpp.errors import ModelLoadError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [cuda.gpu, pytest.mark.once_per_wheel]

N_LAYERS = 31  # SmolLM2's 30 and the output layer
MIXTURE_LAYERS = 5
# Largest and root-mean-square difference of any logit. SmolLM2's span 33: with attention done in another way they differ by
# 0.8 and 0.25 on one and the same CPU. The synthetic model's span 15: weights rounded to TF32 change them by 0.15 and 0.04.
REAL, SYNTHETIC = (2.0, 0.7), (0.5, 0.12)
ALL, NONE = {"n_gpu_layers": "all"}, {"n_gpu_layers": 0}
PROMPT = "the cat in the hat"

WAYS = {
    "none": NONE,
    "some": {"n_gpu_layers": 7},
    "all": ALL,
    "automatic": {},
    "minus one": {"n_gpu_layers": -1},
    "more than there are": {"n_gpu_layers": 999},
    "on one device": {**ALL, "split_mode": 0, "main_gpu": 0},
    "by layers": {**ALL, "split_mode": 1},
    "by rows": {**ALL, "split_mode": 2},
    "cache on the CPU": {**ALL, "offload_kqv": False},
    "operations on the CPU": {**NONE, "op_offload": False},
    "flash attention": {**ALL, "flash_attn_type": 1},
    "no flash attention": {**ALL, "flash_attn_type": 0},
    "quantised cache": {**ALL, "flash_attn_type": 1, "type_k": 8, "type_v": 8},
    "quantised cache on the CPU": {**NONE, "flash_attn_type": 1, "type_k": 8, "type_v": 8},
    "cache of 32 bits": {**ALL, "flash_attn_type": 0, "type_k": 0, "type_v": 0},
    "loaded without mapping": {**ALL, "use_mmap": False},
}


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Placement]:
    """SmolLM2, loaded in every one of `WAYS`."""
    folder: Path = tmp_path_factory.mktemp("ways")
    return dict(zip(WAYS, place(material.model(material.TRANSFORMER), list(WAYS.values()), folder, prompt=CERTAIN_PROMPTS[0]), strict=True))


def assert_close(one: Placement, other: Placement, tolerance: tuple[float, float]) -> None:
    measured = differences(one, other)
    assert all(found <= allowed for found, allowed in zip(measured, tolerance, strict=True)), (measured, tolerance)


@pytest.mark.parametrize("way", [way for way in WAYS if way != "none"])
def test_it_computes_what_the_cpu_computes(ways: dict[str, Placement], way: str) -> None:
    alike = ways["quantised cache on the CPU" if way == "quantised cache" else "none"]
    assert ways[way].text == alike.text
    assert_close(ways[way], alike, REAL)


def test_the_gpu_computes_and_not_the_cpu(ways: dict[str, Placement]) -> None:
    """Logits equal to the last bit would mean that nothing ran elsewhere."""
    assert differences(ways["all"], ways["none"])[0] > 0


@pytest.mark.parametrize(
    ("way", "layers"),
    [
        ("none", 0),
        ("operations on the CPU", 0),
        ("some", 7),
        ("all", N_LAYERS),
        ("automatic", N_LAYERS),
        ("minus one", N_LAYERS),
        ("more than there are", N_LAYERS),
        ("on one device", N_LAYERS),
        ("by layers", N_LAYERS),
        ("by rows", N_LAYERS),
    ],
)
def test_layers_lie_where_they_were_asked_to(ways: dict[str, Placement], way: str, layers: int) -> None:
    assert len(ways[way].layers) == N_LAYERS
    assert ways[way].on_gpu() == layers


def test_the_last_layers_go_first(ways: dict[str, Placement]) -> None:
    moved = [layer for layer, device in ways["some"].layers.items() if device != "CPU"]
    assert moved == list(range(N_LAYERS - 7, N_LAYERS))


def test_one_device_is_the_main_one(ways: dict[str, Placement]) -> None:
    (device,) = set(ways["on one device"].layers.values())
    assert device == cuda.gpus()[0]["name"]


@cuda.cuda_wheel
def test_memory_of_the_device_is_used(ways: dict[str, Placement]) -> None:
    """SmolLM2's layers and output matrix take some 90 MB."""
    assert ways["all"].used - ways["operations on the CPU"].used > 60e6


@pytest.mark.logs_native_errors
def test_a_device_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ModelLoadError, match="main_gpu"):
        llama_cpp.Llama(str(material.model(material.SYNTH_LLAMA)), split_mode=0, main_gpu=len(cuda.gpus()), verbose=False)


@pytest.mark.skipif(len(cuda.gpus()) < 2, reason="fewer than two GPUs: nothing to split between")
def test_layers_are_split_as_told(tmp_path: Path) -> None:
    others = [0.0] * (len(cuda.gpus()) - 2)
    split = {**ALL, "split_mode": 1, "tensor_split": [0.5, 0.5, *others]}
    (placed,) = place(material.model(material.TRANSFORMER), [split], tmp_path, prompt=CERTAIN_PROMPTS[0])
    names = [device["name"] for device in cuda.gpus()[:2]]
    shares = [list(placed.layers.values()).count(name) for name in names]
    assert sum(shares) == N_LAYERS
    assert abs(shares[0] - shares[1]) <= 1


MIXTURES = {
    "CPU": NONE,
    "GPU": ALL,
    "experts on the CPU": {**ALL, "cpu_moe": True},
    "experts of two blocks on the CPU": {**ALL, "n_cpu_moe": 2},
}


@pytest.fixture(scope="module")
def mixtures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Placement]:
    """The mixture of experts, loaded in every one of `MIXTURES`."""
    folder: Path = tmp_path_factory.mktemp("mixtures")
    return dict(zip(MIXTURES, place(material.model(material.SYNTH_MIXTURE), list(MIXTURES.values()), folder, prompt=PROMPT), strict=True))


@pytest.mark.parametrize("way", [way for way in MIXTURES if way != "CPU"])
def test_a_mixture_of_experts_computes_what_it_computes_on_the_cpu(mixtures: dict[str, Placement], way: str) -> None:
    assert_close(mixtures[way], mixtures["CPU"], SYNTHETIC)


@pytest.mark.parametrize(("way", "tensors"), [("GPU", 0), ("experts on the CPU", 12), ("experts of two blocks on the CPU", 6)])
def test_experts_lie_where_they_were_asked_to(mixtures: dict[str, Placement], way: str, tensors: int) -> None:
    placed = mixtures[way]
    assert placed.on_gpu() == MIXTURE_LAYERS, "all layers are the GPU's, whatever becomes of their experts"
    assert len(placed.overridden) == tensors
    assert all("_exps." in tensor and buffer.startswith("CPU") for tensor, buffer in placed.overridden.items())


def test_offloading_is_offered() -> None:
    assert llama_cpp.llama_supports_gpu_offload() is True


@cuda.cuda_wheel
def test_the_report_has_nothing_to_explain() -> None:
    found = cuda.accelerator(cuda.report())
    assert found["devices"] == len(cuda.gpus())
    assert found["absence"] is None
