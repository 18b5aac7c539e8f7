"""Pickling a `Llama` keeps every argument, and what comes back answers the same."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from rig import material
from rig.generation import GREEDY, PROMPT, text

from llama_cpp import Llama

PARAMETERS: dict[str, Any] = {
    "n_gpu_layers": 0, "cpu_moe": True, "n_cpu_moe": 1, "split_mode": 0, "load_mode": 0, "tensor_split": [1.0],
    "kv_overrides": {"general.name": "another", "x.flag": True, "x.count": 5, "x.rate": 0.5}, "check_tensors": True,
    "use_extra_bufts": False, "no_host": True, "seed": 11, "n_ctx": 256, "n_batch": 32, "n_ubatch": 16, "n_seq_max": 2, "n_threads": 1,
    "n_threads_batch": 1, "flash_attn_type": 0, "rope_freq_base": 9000.0, "rope_freq_scale": 0.5, "offload_kqv": False, "no_perf": True,
    "op_offload": False, "swa_full": True, "kv_unified": True, "last_n_tokens_size": 32, "type_k": 0, "type_v": 0, "spm_infill": True,
    "verbose": False, "verbosity": 1, "log_filters": ["x"], "chat_format": "chatml",
}  # fmt: skip


def pickled(llama: Llama) -> Llama:
    return pickle.loads(pickle.dumps(llama))  # noqa: S301 - its own


@pytest.mark.parametrize("transfer", [pickled, copy.copy, copy.deepcopy])
def test_every_argument_survives(transfer: Any) -> None:
    with Llama(str(material.model(material.SYNTH_LLAMA)), **PARAMETERS) as llama, transfer(llama) as again:
        assert again.__getstate__() == llama.__getstate__()
        assert {name: again.__getstate__()[name] for name in PARAMETERS} == PARAMETERS
        assert (again.context_params, again.model_params) == (llama.context_params, llama.model_params)
        answers = [text(each.create_completion(PROMPT, max_tokens=6, **GREEDY)) for each in (llama, again)]
        assert answers[0] == answers[1]
        assert again.ctx != llama.ctx


def test_a_default_adapter_survives() -> None:
    lora = str(material.model(material.SYNTH_LORA))
    with (
        Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbose=False, lora_path=lora, lora_scale=0.5) as llama,
        pickled(llama) as again,
    ):
        assert again.list_loras() == llama.list_loras() == ["default"]
        answers = [text(each.create_completion("one", max_tokens=6, **GREEDY)) for each in (llama, again)]
        assert answers[0] == answers[1]


def test_what_memory_held_does_not_travel(synthetic: Llama) -> None:
    synthetic.eval([1, 2, 3])
    with pickled(synthetic) as again:
        assert (synthetic.n_tokens, again.n_tokens) == (3, 0)
