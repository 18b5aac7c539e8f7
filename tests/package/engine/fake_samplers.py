"""Native samplers for tests: chains that select the best candidate, grammars that allow one text."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

from llama_cpp._native.bindings import llama
from tests.package.engine.fakes import EOS, FakeLlama

if TYPE_CHECKING:
    from pathlib import Path

    from llama_cpp._engine.sampler import SamplerChain


class FakeSamplers:
    """A grammar's GBNF is the text it allows, byte by byte, then the end token. Offering another one fails the test."""

    def __init__(self, native: FakeLlama) -> None:
        self.native = native
        self.objects = {}
        for name in dir(self):
            if name.startswith("llama_"):
                native.replace(name, getattr(self, name))
        for name in ("top_k", "top_p", "min_p", "typical", "temp", "temp_ext", "xtc", "top_n_sigma", "infill", "dry", "penalties"):
            self.plain(name, selects=False)
        for name in ("greedy", "dist", "mirostat", "mirostat_v2", "adaptive_p"):
            self.plain(name, selects=True)

    def plain(self, name: str, *, selects: Any) -> None:
        def init(*args: Any) -> Any:
            return self.new({"name": name, "args": args, "selects": selects, "accepted": []})

        self.native.replace(f"llama_sampler_init_{name}", init)

    def new(self, content: Any) -> Any:
        pointer = self.native.new()
        self.objects[pointer] = content
        return pointer

    def llama_sampler_chain_default_params(self) -> Any:
        return llama.llama_sampler_chain_params()

    def llama_sampler_chain_init(self, params: Any) -> Any:
        return self.new({"members": [], "accepted": [], "no_perf": params.no_perf})

    def llama_sampler_chain_add(self, chain: SamplerChain, member: Any) -> None:
        self.objects[chain]["members"].append(member)

    def llama_sampler_chain_n(self, chain: SamplerChain) -> Any:
        return len(self.objects[chain]["members"])

    def llama_sampler_chain_get(self, chain: SamplerChain, index: Any) -> Any:
        return self.objects[chain]["members"][index]

    def llama_sampler_name(self, member: Any) -> Any:
        return self.objects[member]["name"].encode()

    def llama_sampler_init_logit_bias(self, n_vocab: Any, count: Any, entries: Any) -> Any:
        biases = {entries[i].token: entries[i].bias for i in range(count)}
        return self.new({"name": "logit_bias", "args": (n_vocab, biases), "selects": False})

    def llama_sampler_init_grammar(self, _vocab: Any, text: Any, root: Path) -> Any:
        if text == b"bad":
            return None
        return self.new({"text": text, "root": root, "at": 0})

    def llama_sampler_apply(self, pointer: Any, reference: Any) -> None:
        entries, content = reference._obj, self.objects[pointer]
        if "text" in content:
            for i in range(entries.size):
                if entries.data[i].id != self.next_token(content):
                    entries.data[i].logit = -math.inf
        elif any(self.objects[member]["selects"] for member in content["members"]):
            entries.selected = max(range(entries.size), key=lambda i: entries.data[i].logit)

    def next_token(self, grammar: Any) -> Any:
        return grammar["text"][grammar["at"]] if grammar["at"] < len(grammar["text"]) else EOS

    def llama_sampler_accept(self, pointer: Any, token: int) -> None:
        content = self.objects[pointer]
        if "text" in content:
            assert token == self.next_token(content), "native code would have ended the process"
            content["at"] += 1
        else:
            content["accepted"].append(token)

    def llama_sampler_reset(self, pointer: Any) -> None:
        self.objects[pointer].update({"at": 0} if "text" in self.objects[pointer] else {"accepted": []})

    def llama_sampler_clone(self, pointer: Any) -> Any:
        return self.new(copy.deepcopy(self.objects[pointer]))

    def llama_sampler_get_seed(self, _pointer: Any) -> Any:
        return 42

    def llama_sampler_sample(self, chain: SamplerChain, _ctx: Any, index: Any) -> Any:
        self.native.calls.append(("sample", index))
        self.llama_sampler_accept(chain, 7)
        return 7
