"""Native functions for tests without libraries: a toy model of bytes, memory that counts, logits that say the last token."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._engine import model as model_module
from llama_cpp._engine.context import Context
from llama_cpp._engine.model import Model
from llama_cpp._engine.params import ContextParams, ModelParams
from llama_cpp._native.bindings import llama

if TYPE_CHECKING:
    import pytest

N_VOCAB = 260
BOS, EOS = 256, 257


class FakeLlama:
    """Replaces what the engine calls. Tokens are bytes; `calls` lists what was freed and evaluated, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.calls = []
        self.kept = []
        self.decoded = []
        self.code = 0
        self.positions = {}
        self.causal = True
        self.memory = 77
        self.logits = np.zeros((0, N_VOCAB), np.float32)
        self.sizes = {"n_ctx": 64, "n_ctx_seq": 64, "n_batch": 8, "n_ubatch": 4, "n_seq_max": 2, "n_rs_seq": 0}
        self._next = 1000
        for name in dir(self):
            if name.startswith(("llama_", "free_")):
                self.replace(name.removeprefix("free_"), getattr(self, name))
        for name in self.sizes:
            self.replace(f"llama_{name}", lambda _ctx, key=name: self.sizes[key])
        for name in ("eot", "sep", "nl", "pad", "mask", "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep"):
            self.replace(f"llama_vocab_{name}", lambda _vocab: -1)
        for name in ("add_eos", "add_sep"):
            self.replace(f"llama_vocab_get_{name}", lambda _vocab: False)
        for name, value in {"bos": BOS, "eos": EOS, "n_tokens": N_VOCAB, "type": 2, "get_add_bos": True}.items():
            self.replace(f"llama_vocab_{name}", lambda _vocab, value=value: value)
        monkeypatch.setattr(model_module.runtime, "start", lambda: None)

    def replace(self, name: str, function: Any) -> None:
        self.monkeypatch.setattr(llama, name, function)

    def new(self) -> Any:
        self._next += 1
        return self._next

    def model(self, **params: Any) -> Any:
        return Model(self.new(), path="toy.gguf", params=ModelParams(**params))

    def context(self, model: Model, **params: Any) -> Any:
        made = Context(model, ContextParams(**params))
        self.kept.append(made)  # else the garbage collector closes it, with a warning, before the test's model
        return made

    # ---- lifetime

    def llama_model_free(self, pointer: Any) -> None:
        self.calls.append(("free model", pointer))

    def llama_free(self, pointer: Any) -> None:
        self.calls.append(("free context", pointer))

    def llama_sampler_free(self, pointer: Any) -> None:
        self.calls.append(("free sampler", pointer))

    def llama_model_get_vocab(self, pointer: Any) -> Any:
        return pointer + 100000

    def llama_context_default_params(self) -> Any:
        return llama.llama_context_params(n_ctx=512, n_batch=2048)

    def llama_model_default_params(self) -> Any:
        return llama.llama_model_params(n_gpu_layers=-1)

    def llama_init_from_model(self, _model: Any, params: Any) -> Any:
        self.params = params
        return self.new()

    def llama_model_has_encoder(self, _model: Any) -> Any:
        return False

    def llama_model_n_embd_out(self, _model: Any) -> Any:
        return 3

    def llama_pooling_type(self, _ctx: Any) -> Any:
        return 0

    # ---- text

    def llama_tokenize(self, _vocab: Any, text: Any, size: Any, buffer: Any, capacity: Any, add_special: Any, _parse_special: Any) -> Any:
        tokens = ([BOS] if add_special else []) + list(text[:size])
        if len(tokens) > capacity:
            return -len(tokens)
        buffer[: len(tokens)] = tokens
        return len(tokens)

    def llama_token_to_piece(self, _vocab: Any, token: int, buffer: Any, capacity: Any, _lstrip: Any, special: Any) -> Any:
        self.calls.append(("piece", token))
        piece = (bytes([token]) if token < BOS else b"<special>" * special) * (100 if token == 1 else 1)
        if len(piece) > capacity:
            return -len(piece)
        buffer[: len(piece)] = piece
        return len(piece)

    def llama_detokenize(self, _vocab: Any, tokens: Any, count: Any, buffer: Any, capacity: Any, _remove: Any, _unparse: Any) -> Any:
        text = bytes(token for token in tokens[:count] if token < BOS) * 10
        if len(text) > capacity:
            return -len(text)
        buffer[: len(text)] = text
        return len(text)

    def llama_vocab_is_eog(self, _vocab: Any, token: int) -> Any:
        self.calls.append(("eog", token))
        return token == EOS

    def llama_vocab_get_text(self, _vocab: Any, token: int) -> Any:
        return bytes([token])

    # ---- evaluation

    def llama_get_memory(self, _ctx: Any) -> Any:
        return self.memory

    def llama_get_causal_attn(self, _ctx: Any) -> Any:
        return self.causal

    def llama_decode(self, _ctx: Any, batch: Any) -> Any:
        count = batch.n_tokens
        entry = {
            "tokens": batch.token[:count],
            "pos": batch.pos[:count],
            "seq": [batch.seq_id[i][0] for i in range(count)],
            "outputs": [int(each) for each in batch.logits[:count]],
        }
        self.decoded.append(entry)
        if self.code == 0:
            for seq, pos in zip(entry["seq"], entry["pos"], strict=True):
                self.positions[seq] = pos
            rows = [token for token, wanted in zip(entry["tokens"], entry["outputs"], strict=True) if wanted]
            self.logits = np.zeros((len(rows), N_VOCAB), np.float32)
            self.logits[range(len(rows)), rows] = 1
        return self.code

    def llama_encode(self, ctx: Any, batch: Any) -> Any:
        return self.llama_decode(ctx, batch)

    def llama_memory_seq_pos_max(self, _memory: Any, seq_id: int) -> Any:
        return self.positions.get(seq_id, -1)

    def llama_get_logits(self, _ctx: Any) -> Any:
        return self.logits.ctypes.data_as(ctypes.POINTER(ctypes.c_float))

    def llama_get_logits_ith(self, _ctx: Any, index: Any) -> Any:
        row = index if index >= 0 else len(self.logits) + index
        return self.logits[row:].ctypes.data_as(ctypes.POINTER(ctypes.c_float))

    def llama_get_embeddings_ith(self, _ctx: Any, _index: Any) -> Any:
        return ctypes.POINTER(ctypes.c_float)()


__all__ = ["BOS", "EOS", "N_VOCAB", "FakeLlama"]
