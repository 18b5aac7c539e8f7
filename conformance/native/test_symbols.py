"""Every function and constant that the C headers declare is served under its own name, by a plain CDLL with integer pointers."""

from __future__ import annotations

import ctypes
import enum
import re

import pytest
from rig import installation, material

import llama_cpp.llama_cpp as module
import llama_cpp.mtmd_cpp as multimodal

COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
HEADERS = {
    "include/llama.h": ("LLAMA_API", "llama_", 200),
    "tools/mtmd/mtmd.h": ("MTMD_API", "mtmd_", 40),
    "tools/mtmd/mtmd-helper.h": ("MTMD_API", "mtmd_helper_", 15),
}


def header(path: str) -> str:
    text = COMMENTS.sub("", material.vendor_file(path).read_text(encoding="utf-8"))
    # What only C++ sees has no C name.
    return re.sub(r"#ifdef __cplusplus\n(?!extern \"C\").*?#endif", "", text, flags=re.DOTALL)


def declared_functions(path: str) -> list[str]:
    """Names of the exported functions, read as text: independent of the generator's parser."""
    export, prefix, at_least = HEADERS[path]
    names = re.findall(rf"\b{export}\b[^;{{}}]*?\b({prefix}\w+)\s*\(", header(path))
    assert len(names) >= at_least, "the header was not understood"
    return sorted(set(names))


def bindings(path: str) -> object:
    return module if path.endswith("llama.h") else multimodal


@pytest.mark.parametrize("path", HEADERS)
def test_every_function_of_the_header_is_served(path: str) -> None:
    served = bindings(path)
    assert [name for name in declared_functions(path) if not callable(getattr(served, name, None))] == []


@pytest.mark.parametrize("path", HEADERS)
@pytest.mark.every_processor
def test_every_function_of_the_header_is_in_the_library(path: str) -> None:
    library = ctypes.CDLL(str(installation.libraries()["llama" if path.endswith("llama.h") else "mtmd"]))
    assert [name for name in declared_functions(path) if not hasattr(library, name)] == []


def test_every_constant_of_the_header_is_served_flat_with_its_value() -> None:
    wrong = {}
    count = 0
    for body in re.findall(r"enum\s+\w+\s*\{(.*?)\}", header("include/llama.h"), re.DOTALL):
        for name, value in re.findall(r"\b(LLAMA_\w+)\s*=\s*(-?\d+|0x[0-9a-fA-F]+)\s*(?=[,}\n])", body):
            count += 1
            if getattr(module, name, None) != int(value, 0):
                wrong[name] = (value, getattr(module, name, None))
    assert count > 80
    assert wrong == {}


def test_enumerations_are_classes_too() -> None:
    for name in (
        "llama_split_mode",
        "llama_load_mode",
        "llama_flash_attn_type",
        "llama_rope_scaling_type",
        "llama_token_type",
        "llama_ftype",
    ):
        assert issubclass(getattr(module, name), enum.IntEnum), name
    assert module.llama_load_mode.LLAMA_LOAD_MODE_AUTO == module.LLAMA_LOAD_MODE_AUTO == -1


def test_library_is_a_plain_cdll() -> None:
    assert isinstance(module._lib, ctypes.CDLL)
    assert ctypes.cast(module._lib.llama_tokenize, ctypes.c_void_p).value


def test_pointers_are_plain_integers() -> None:
    parameters = module.llama_model_default_params()
    parameters.vocab_only = True
    module.llama_backend_init()
    model = module.llama_model_load_from_file(str(material.vendor_file("models/ggml-vocab-gpt-2.gguf")).encode(), parameters)
    assert type(model) is int
    try:
        vocabulary = module.llama_model_get_vocab(model)
        assert type(vocabulary) is int
        assert module.llama_vocab_n_tokens(vocabulary) == 50257
        # A deprecated name still works.
        assert module.llama_token_get_attr(vocabulary, 0) == module.llama_vocab_get_attr(vocabulary, 0)
    finally:
        module.llama_model_free(model)


@pytest.mark.every_processor
def test_null_is_none() -> None:
    chain = module.llama_sampler_chain_init(module.llama_sampler_chain_default_params())
    try:
        assert module.llama_sampler_chain_get(chain, 5) is None
    finally:
        module.llama_sampler_free(chain)


@pytest.mark.every_processor
def test_batch_is_writable_as_guidance_writes_it() -> None:
    batch = module.llama_batch_init(8, 0, 1)
    try:
        batch.n_tokens = 1
        batch.token[0], batch.pos[0], batch.n_seq_id[0], batch.seq_id[0][0], batch.logits[0] = 5, 0, 1, 0, True
        assert (batch.token[0], batch.seq_id[0][0], bool(batch.logits[0])) == (5, 0, True)
    finally:
        module.llama_batch_free(batch)


@pytest.mark.every_processor
def test_multimodal_library_answers() -> None:
    assert b"media" in multimodal.mtmd_default_marker()
