"""The historic import paths of the high-level API: what they export, lazily, and the order of positional arguments."""

from __future__ import annotations

import inspect
import logging
import os
import subprocess
import sys
import types

import llama_cpp
from llama_cpp import _logger, llama, llama_tokenizer, llama_types
from llama_cpp import llama_cpp as c_api

# The order in which the published lineages take the arguments of a completion by position.
COMPLETION = [
    "prompt",
    "suffix",
    "max_tokens",
    "temperature",
    "top_p",
    "min_p",
    "typical_p",
    "logprobs",
    "echo",
    "stop",
    "frequency_penalty",
    "present_penalty",
    "repeat_penalty",
    "penalty_last_n",
    "top_k",
    "top_n_sigma",
    "stream",
    "seed",
    "mirostat_mode",
    "mirostat_tau",
    "mirostat_eta",
    "dynatemp_range",
    "dynatemp_exponent",
    "min_keep",
    "xtc_threshold",
    "xtc_probability",
    "dry_multiplier",
    "dry_base",
    "dry_allowed_length",
    "dry_penalty_last_n",
    "dry_seq_breakers",
    "adaptive_target",
    "adaptive_decay",
    "use_infill",
    "model",
    "stopping_criteria",
    "logit_bias",
    "logits_processor",
    "grammar",
    "grammar_lazy",
    "active_loras",
    "control_vector",
    "reasoning_budget",
    "reasoning_start",
    "reasoning_end",
    "reasoning_budget_message",
    "reasoning_start_in_prompt",
    "reasoning_start_max_tokens",
    "ignore_eos",
    "presence_penalty",
    "tfs_z",
]
CACHES = {
    "BaseLlamaCache", "HybridCheckpoint", "HybridCheckpointCache", "LlamaCache", "LlamaDiskCache", "LlamaRAMCache", "LlamaTrieCache",
    "TrieNode",
}  # fmt: skip
CALLBACKS = {"LogitsProcessor", "LogitsProcessorList", "MinTokensLogitsProcessor", "StoppingCriteria", "StoppingCriteriaList"}


def parameters(method: object) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(method).parameters)  # type: ignore[arg-type]
    del found["self"]
    return found


def test_modules_are_modules() -> None:
    assert all(isinstance(each, types.ModuleType) for each in (llama, c_api, llama_tokenizer, llama_types, _logger))


def test_the_exports_of_the_high_level_module() -> None:
    own = set(llama.__all__) - set(llama_types.__all__)
    classes = {"BaseLlamaTokenizer", "Llama", "LlamaGrammar", "LlamaState", "LlamaTokenizer", "PrefillResult", "ThreadPool"}
    assert own == {*classes, "__version__", *CACHES, *CALLBACKS}


def test_the_package_exports_both_modules_and_its_own_names() -> None:
    assert set(llama_cpp.__all__) == {*llama.__all__, *c_api.__all__, "__version__", "system_report"}
    assert set(llama_cpp.__all__) <= set(dir(llama_cpp))


def test_names_are_the_same_objects() -> None:
    assert llama_cpp.Llama is llama.Llama
    assert llama_cpp.llama_decode is c_api.llama_decode
    assert llama_cpp.Completion is llama_types.CreateCompletionResponse


def test_a_name_that_does_not_exist() -> None:
    assert not hasattr(llama_cpp, "no_such_name")
    assert not hasattr(llama_cpp, "__no_such_name__")


def test_the_logger() -> None:
    assert _logger.logger is logging.getLogger("llama-cpp-python")


def test_importing_the_package_imports_nothing_heavy() -> None:
    source = "import sys, llama_cpp; print(sorted(name for name in sys.modules if name.startswith(('numpy', 'ctypes', 'llama_cpp.'))))"
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": _path()}
    )
    assert done.stdout.strip() == "['llama_cpp._version']"


def _path() -> str:
    return str(llama_cpp.__path__[0]).removesuffix("llama_cpp")


def test_completions_take_their_arguments_in_the_published_order() -> None:
    assert list(parameters(llama.Llama.create_completion)) == COMPLETION
    assert list(parameters(llama.Llama.__call__)) == COMPLETION


def test_a_call_differs_from_create_completion_in_one_default() -> None:
    one, other = parameters(llama.Llama.create_completion), parameters(llama.Llama.__call__)
    assert {name for name in one if one[name].default != other[name].default} == {"max_tokens"}
    assert (one["max_tokens"].default, other["max_tokens"].default) == (16, 128)


def test_only_two_constructor_arguments_are_positional() -> None:
    positional = [name for name, each in parameters(llama.Llama.__init__).items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert positional == ["model_path", "mmproj_path"]


def test_generation_shares_its_defaults_with_completion() -> None:
    completion = parameters(llama.Llama.create_completion)
    for method in (llama.Llama.generate, llama.Llama.sample):
        for name, each in parameters(method).items():
            if name in completion:
                assert each.default == completion[name].default, name
