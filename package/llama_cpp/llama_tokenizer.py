"""Tokenizers: the model's own, and Hugging Face's."""

from ._features.tokenizer.base import BaseLlamaTokenizer
from ._features.tokenizer.huggingface import LlamaHFTokenizer
from ._features.tokenizer.vocabulary import LlamaTokenizer

__all__ = ["BaseLlamaTokenizer", "LlamaHFTokenizer", "LlamaTokenizer"]
