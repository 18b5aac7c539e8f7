"""Grammars: `LlamaGrammar`."""

from ._features.grammar.definition import LLAMA_GRAMMAR_DEFAULT_ROOT, LlamaGrammar

__all__ = ["LLAMA_GRAMMAR_DEFAULT_ROOT", "LlamaGrammar"]
