"""The part of `Llama` that answers questions: sizes, special tokens, metadata, native addresses, tokenizing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .core import LlamaCore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llama_cpp._features.tokenizer.base import BaseLlamaTokenizer


class FactMethods(LlamaCore):
    """Reads only. Token methods return -1 where the model has no such token."""

    metadata: dict[str, str]

    @property
    def ctx(self) -> int:
        """The address of the `llama_context`, for the C functions; owned by this object."""
        return self._runtime.context.pointer

    @property
    def model(self) -> int:
        """The address of the `llama_model`, for the C functions; owned by this object."""
        return self._runtime.model.pointer

    @property
    def model_desc(self) -> str:
        """A short description of the model: architecture, size, quantisation."""
        return self._runtime.model.desc

    @property
    def model_size(self) -> int:
        """Bytes of all tensors."""
        return self._runtime.model.size

    @property
    def is_recurrent(self) -> bool:
        """Whether all of the model's state is recurrent."""
        return self._runtime.model.is_recurrent

    @property
    def is_hybrid(self) -> bool:
        """Whether the model mixes attention and recurrent layers."""
        return self._runtime.model.is_hybrid

    _is_recurrent = is_recurrent
    _is_hybrid = is_hybrid

    def n_ctx(self) -> int:
        """How many tokens the context holds, as llama.cpp made it (it rounds up)."""
        return self._runtime.context.n_ctx

    def n_embd(self) -> int:
        """Width of the hidden state."""
        return self._runtime.model.n_embd

    def n_embd_inp(self) -> int:
        """Width of an embedding row as input."""
        return self._runtime.model.n_embd_inp

    def n_embd_out(self) -> int:
        """Width of an embedding row as output."""
        return self._runtime.model.n_embd_out

    def n_vocab(self) -> int:
        """Number of tokens in the vocabulary."""
        return self._runtime.vocab.n_tokens

    def n_ctx_train(self) -> int:
        """The context size that the model was trained with."""
        return self._runtime.model.n_ctx_train

    def n_layer(self) -> int:
        """Number of layers."""
        return self._runtime.model.n_layer

    def n_layer_nextn(self) -> int:
        """Number of next-token-prediction layers."""
        return self._runtime.model.n_layer_nextn

    def n_head(self) -> int:
        """Number of attention heads."""
        return self._runtime.model.n_head

    def n_head_kv(self) -> int:
        """Number of key/value heads."""
        return self._runtime.model.n_head_kv

    def n_swa(self) -> int:
        """Size of the sliding window; 0 without one."""
        return self._runtime.model.n_swa

    def n_params(self) -> int:
        """Number of parameters."""
        return self._runtime.model.n_params

    def pooling_type(self) -> int:
        """How the context pools embeddings: `llama_pooling_type`."""
        return self._runtime.context.pooling_type

    def token_bos(self) -> int:
        """Begins a text."""
        return self._vocab.bos

    def token_eos(self) -> int:
        """Ends a text."""
        return self._vocab.eos

    def token_eot(self) -> int:
        """Ends a turn."""
        return self._vocab.eot

    def token_nl(self) -> int:
        """The newline."""
        return self._vocab.nl

    def token_sep(self) -> int:
        """Separates sentences."""
        return self._vocab.sep

    def token_pad(self) -> int:
        """Pads."""
        return self._vocab.pad

    def token_mask(self) -> int:
        """Masks."""
        return self._vocab.mask

    def tokenizer(self) -> BaseLlamaTokenizer:
        """The tokenizer in use: the model's own, or the one given to the constructor."""
        return self.tokenizer_

    def tokenize(self, text: bytes, add_bos: bool = True, special: bool = False) -> list[int]:
        """Token ids of UTF-8 text.

        `add_bos` adds BOS (and what else the model asks for). `special` reads the names of control tokens in the
        text as those tokens, so it is not for text from strangers.
        """
        return self.tokenizer_.tokenize(text, add_bos, special)

    def detokenize(self, tokens: Sequence[int], prev_tokens: Sequence[int] | None = None, special: bool = False) -> bytes:
        """The text of token ids; a space that the vocabulary puts before a text's first word is taken away.

        With `prev_tokens`, what the tokens add to the text of those. `special` spells control tokens out.
        """
        return self.tokenizer_.detokenize(tokens, prev_tokens, special)
