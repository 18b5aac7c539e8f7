"""`LlamaModel`: a model file, its facts and its vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from llama_cpp._engine import struct_params
from llama_cpp._engine.model import Model
from llama_cpp._native.bindings import llama

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Self

    from llama_cpp._engine.params import ModelParams


class LlamaModel:
    """A loaded model.

    Args:
        path_model: A GGUF file.
        params: A struct of `llama_model_default_params`, or `ModelParams`; None for llama.cpp's defaults.
        verbose: Kept as an attribute; how much is logged is a matter of the process (`llama_cpp._logger`).

    Raises ValueError when there is no such file, or it is no model. Closed by `close()` or by leaving a `with` block; as the
    `_model` of a `Llama` it is closed with that, and `close()` does nothing.
    """

    def __init__(
        self,
        path_model: str | os.PathLike[str],
        params: ModelParams | llama.llama_model_params | None = None,
        verbose: bool = True,
    ) -> None:
        self.params = params
        self._show(Model.load(path_model, struct_params.model_params(params)), verbose=verbose, owned=True)

    @classmethod
    def of(cls, model: Model, *, verbose: bool = False) -> Self:
        """The face of a model that belongs to someone else."""
        made = cls.__new__(cls)
        made.params = model.params
        made._show(model, verbose=verbose, owned=False)  # noqa: SLF001 - its own class
        return made

    def _show(self, model: Model, *, verbose: bool, owned: bool) -> None:
        self.engine = model
        self.path_model = str(model.path)
        self.verbose = verbose
        self._owned = owned
        self._vocab = model.vocab

    @property
    def model(self) -> int:
        """The address of the `llama_model`."""
        return self.engine.pointer

    @property
    def vocab(self) -> int:
        """The address of the `llama_vocab`."""
        return self._vocab.pointer

    def close(self) -> None:
        """Free the model, and before it all that was made from it."""
        if self._owned:
            self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # ---- facts ------------------------------------------------------------------------------------------------

    def vocab_type(self) -> int:
        """`llama_vocab_type`."""
        return self._vocab.kind

    def n_vocab(self) -> int:
        """Number of tokens."""
        return self._vocab.n_tokens

    def n_ctx_train(self) -> int:
        """The context size of the training."""
        return self.engine.n_ctx_train

    def n_embd(self) -> int:
        """Width of the hidden state."""
        return self.engine.n_embd

    def n_embd_inp(self) -> int:
        """Width of an embedding as input."""
        return self.engine.n_embd_inp

    def n_embd_out(self) -> int:
        """Width of an embedding as output."""
        return self.engine.n_embd_out

    def n_layer(self) -> int:
        """Number of layers."""
        return self.engine.n_layer

    def n_layer_nextn(self) -> int:
        """Number of next-token-prediction layers."""
        return self.engine.n_layer_nextn

    def n_head(self) -> int:
        """Number of attention heads."""
        return self.engine.n_head

    def n_head_kv(self) -> int:
        """Number of key/value heads."""
        return self.engine.n_head_kv

    def n_swa(self) -> int:
        """Size of the sliding window; 0 without one."""
        return self.engine.n_swa

    def n_params(self) -> int:
        """Number of parameters."""
        return self.engine.n_params

    def n_cls_out(self) -> int:
        """Number of outputs of a classifier."""
        return self.engine.n_cls_out

    def size(self) -> int:
        """Bytes of all tensors."""
        return self.engine.size

    def desc(self) -> str:
        """A short description."""
        return self.engine.desc

    def rope_type(self) -> int:
        """`llama_rope_type`."""
        return self.engine.rope_type

    def rope_freq_scale_train(self) -> float:
        """The scale of RoPE frequencies in the training."""
        return float(llama.llama_model_rope_freq_scale_train(self.model))  # type: ignore[arg-type]

    def has_encoder(self) -> bool:
        """Whether inputs are encoded."""
        return self.engine.has_encoder

    def has_decoder(self) -> bool:
        """Whether the model decodes."""
        return self.engine.has_decoder

    def is_recurrent(self) -> bool:
        """Whether all state is recurrent."""
        return self.engine.is_recurrent

    def is_hybrid(self) -> bool:
        """Whether attention and recurrent layers are mixed."""
        return self.engine.is_hybrid

    def is_diffusion(self) -> bool:
        """Whether the model is a diffusion model."""
        return self.engine.is_diffusion

    def decoder_start_token(self) -> int:
        """The first token of an encoder-decoder model's decoder; -1 otherwise."""
        return self.engine.decoder_start_token

    def metadata(self) -> dict[str, str]:
        """The scalar metadata of the file as text."""
        return self.engine.metadata

    def chat_template(self, name: str | None = None) -> str | None:
        """A chat template of the file, the default one without a name."""
        return self.engine.chat_template(name)

    def get_tensor(self, name: str) -> NoReturn:
        """Not served: llama.cpp has no function for it."""
        raise NotImplementedError(f"llama.cpp gives no access to the tensor {name!r} of a model; read the file with the gguf package")

    # ---- vocabulary -------------------------------------------------------------------------------------------

    def token_get_text(self, token: int) -> str:
        """A token as the vocabulary spells it."""
        return self._vocab.text(token).decode("utf-8", "replace")

    def token_get_score(self, token: int) -> float:
        """A token's score."""
        return self._vocab.score(token)

    def token_get_attr(self, token: int) -> int:
        """Bits of `llama_token_attr`."""
        return self._vocab.attributes(token)

    def token_is_eog(self, token: int) -> bool:
        """Whether a token ends a generation."""
        return self._vocab.is_eog(token)

    def token_is_control(self, token: int) -> bool:
        """Whether a token is a control token."""
        return self._vocab.is_control(token)

    def token_bos(self) -> int:
        """Begins a text. Tokens that a vocabulary lacks are -1."""
        return self._vocab.bos

    def token_eos(self) -> int:
        """Ends a text."""
        return self._vocab.eos

    def token_eot(self) -> int:
        """Ends a turn."""
        return self._vocab.eot

    def token_cls(self) -> int:
        """Classifies; llama.cpp takes BOS for it."""
        return self._vocab.bos

    def token_sep(self) -> int:
        """Separates sentences."""
        return self._vocab.sep

    def token_nl(self) -> int:
        """The newline."""
        return self._vocab.nl

    def token_pad(self) -> int:
        """Pads."""
        return self._vocab.pad

    def token_mask(self) -> int:
        """Masks."""
        return self._vocab.mask

    def token_prefix(self) -> int:
        """Before the prefix of a gap to be filled."""
        return self._vocab.fim_pre

    def token_middle(self) -> int:
        """Before the filling of a gap."""
        return self._vocab.fim_mid

    def token_suffix(self) -> int:
        """Before the suffix of a gap to be filled."""
        return self._vocab.fim_suf

    token_fim_pre, token_fim_mid, token_fim_suf = token_prefix, token_middle, token_suffix

    def add_bos_token(self) -> bool:
        """Whether texts begin with BOS."""
        return self._vocab.add_bos

    def add_eos_token(self) -> bool:
        """Whether texts end with EOS."""
        return self._vocab.add_eos

    def tokenize(self, text: bytes, add_bos: bool, special: bool) -> list[int]:
        """Token ids of UTF-8 text; `special` reads the names of control tokens in it as those."""
        return self._vocab.tokenize(text, add_special=add_bos, parse_special=special)

    def token_to_piece(self, token: int, special: bool = False) -> bytes:
        """The bytes of one token; control tokens are empty unless `special`."""
        return self._vocab.piece(token, special=special)

    def detokenize(self, tokens: Sequence[int], special: bool = False) -> bytes:
        """The text of token ids."""
        return self._vocab.detokenize(tokens, unparse_special=special)

    @staticmethod
    def default_params() -> llama.llama_model_params:
        """A struct with llama.cpp's defaults, to be changed and handed to the constructor."""
        return llama.llama_model_default_params()
