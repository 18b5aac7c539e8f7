"""The public class: constructing it, its lifetime, and its attributes. Its methods come from the modules beside."""

from __future__ import annotations

import inspect
import os
import warnings
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

from llama_cpp._engine import logbridge
from llama_cpp._engine.remote import add_servers, endpoints
from llama_cpp._engine.runtime import use_numa
from llama_cpp._features import log_settings
from llama_cpp._features.sampling.defaults import recommended
from llama_cpp._features.sampling.logprobs import logits_to_logprobs, longest_token_prefix
from llama_cpp._features.sampling.parameters import DEFAULT_PENALTY_WINDOW
from llama_cpp._features.sampling.seeds import RANDOM_SEED, seed_value
from llama_cpp._features.tokenizer.vocabulary import LlamaTokenizer

from . import arguments, hub, offload
from .adapter_methods import AdapterMethods
from .chat_methods import ChatMethods
from .embedding_methods import EmbeddingMethods
from .facts import FactMethods
from .generation_methods import GenerationMethods
from .log_methods import LogMethods
from .native_views import NativeViewMethods
from .runtime import Runtime, checkpoint_settings
from .state_methods import StateMethods

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from llama_cpp._features.tokenizer.base import BaseLlamaTokenizer


class Llama(ChatMethods, GenerationMethods, EmbeddingMethods, AdapterMethods, FactMethods, NativeViewMethods, StateMethods, LogMethods):
    """A model with a context, ready to complete text.

    Thread-safe: requests from several threads wait for each other; several objects run side by side. Closed by
    `close()`, by leaving a `with` block, or when it is collected.
    """

    # fmt: off
    def __init__(
        self, model_path: str | os.PathLike[str], mmproj_path: str | None = None, *, n_gpu_layers: int | str = "auto",
        cpu_moe: bool = False, n_cpu_moe: int = 0, split_mode: int = 1, load_mode: int = -1, main_gpu: int = 0,
        tensor_split: Sequence[float] | None = None, kv_overrides: Mapping[str, bool | int | float | str] | None = None,
        use_mmap: bool | None = None, use_direct_io: bool = False, use_mlock: bool = False, vocab_only: bool = False,
        check_tensors: bool = False, use_extra_bufts: bool = True, no_host: bool = False, no_alloc: bool = False,
        load_mtp: bool = False, seed: int | None = RANDOM_SEED, n_ctx: int = 512, n_keep: int = 256, n_batch: int = 2048,
        n_ubatch: int = 512, n_seq_max: int = 1, n_rs_seq: int = 0, n_outputs_max: int = 0, n_outputs_max_per_seq: int = 1,
        n_threads: int | None = None, n_threads_batch: int | None = None, ctx_type: int = 0, rope_scaling_type: int = -1,
        pooling_type: int = -1, attention_type: int = -1, flash_attn_type: int = -1, rope_freq_base: float = 0.0,
        rope_freq_scale: float = 0.0, yarn_ext_factor: float = -1.0, yarn_attn_factor: float = 1.0, yarn_beta_fast: float = 32.0,
        yarn_beta_slow: float = 1.0, yarn_orig_ctx: int = 0, logits_all: bool = False, embeddings: bool = False,
        offload_kqv: bool = True, no_perf: bool = False, op_offload: bool | None = None, swa_full: bool | None = None,
        kv_unified: bool | None = None, ctx_checkpoints: int = 16, checkpoint_interval: int = 4096, checkpoint_on_device: bool = False,
        last_n_tokens_size: int = 64, numa: bool | int = False, chat_format: str | None = None, chat_handler: Any = None,
        draft_model: Any = None, speculative: Any = None, tokenizer: BaseLlamaTokenizer | None = None, type_k: int | None = None,
        type_v: int | None = None, spm_infill: bool = False, verbose: bool = True, verbosity: int | None = None,
        log_filters: Sequence[str] | None = None, log_filters_case_sensitive: bool = True, chat_template_name: str | None = None,
        chat_handler_kwargs: Mapping[str, Any] | None = None, embedding: bool = False, flash_attn: bool | None = None,
        lora_base: str | None = None, lora_scale: float = 1.0, lora_path: str | None = None, lazy_mode: int | None = None,
        rpc_servers: str | Sequence[str] | None = None, chat_template_kwargs: Mapping[str, Any] | None = None, **unknown: Any,
    ) -> None:
        # fmt: on
        """Load a model and make a context. The guide's page on parameters describes every argument.

        `n_ctx` 0 is the context size of the training. `n_gpu_layers` "auto" and "all" offload what they can.
        `n_threads` is by default the physical cores, `n_threads_batch` all that the process may use. Left alone,
        `load_mode` (-1) follows the older switches `use_mmap`, `use_mlock` and `use_direct_io`. `flash_attn_type`
        (-1: automatic) may also be given as `flash_attn`, `embeddings` as `embedding`. With `logits_all` the logits
        of every token are kept in `scores`. `seed` begins the series of seeds for requests that are given none.
        Chats follow `chat_handler`, else the format named `chat_format`, else the file's template (`chat_template_name` names
        another of its templates), whose variables are `chat_template_kwargs` (and `chat_handler_kwargs`).
        `verbose` shows all native log lines, and False only errors; `verbosity` is finer.

        Raises ValueError for a file that is missing or no model and for values that make no sense, RuntimeError
        for `n_seq_max` out of range, NotImplementedError for what this version does not serve. An unknown argument
        warns and is ignored.
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "unknown", "__class__")}
        self._given: dict[str, Any] = {**given, **unknown}
        arguments.check_availability(given | unknown)
        arguments.warn_about(given, unknown, _ARGUMENTS)
        self._configure_logging(given)
        model_params, context_params = arguments.model_params(given), arguments.context_params(given)
        offload.warn_without_gpu(n_gpu_layers, model_params.n_gpu_layers or 0, stacklevel=3)
        add_servers(endpoints(rpc_servers))
        use_numa(arguments.numa_strategy(numa))
        checkpoints = checkpoint_settings(ctx_checkpoints, checkpoint_interval, on_device=checkpoint_on_device)
        self._opened = Runtime(
            model_path, model_params, context_params, seed=seed_value(seed), logits_all=logits_all, checkpoints=checkpoints
        )
        try:
            self._show(given)
        except BaseException:
            self.close()
            raise
        if lora_path is not None:
            self._load_default_lora(lora_path, lora_scale)

    def _load_default_lora(self, path: str | os.PathLike[str], scale: float) -> None:
        """The older lineage's single adapter: in force for all requests that name none."""
        adapters = self._runtime.adapters
        try:
            adapters.load(DEFAULT_LORA, path)
        except BaseException:
            self.close()
            raise
        adapters.default = ((DEFAULT_LORA, float(scale)),)

    def _configure_logging(self, given: Mapping[str, Any]) -> None:
        chosen = log_settings.level(bool(given["verbose"]) if given["verbosity"] is None else given["verbosity"])
        self.verbose = chosen > logbridge.ERROR
        log_settings.set_verbosity(chosen)
        filters, sensitive = given["log_filters"], bool(given["log_filters_case_sensitive"])
        if filters is not None or not sensitive:
            self.set_log_filters(log_settings.get_log_filters() if filters is None else filters, case_sensitive=sensitive)

    def _show(self, given: Mapping[str, Any]) -> None:
        """The attributes that programs read."""
        runtime = self._runtime
        self.model_path = os.fspath(given["model_path"])
        self.model_params = runtime.model.params
        self.context_params = runtime.context_params
        self.metadata = runtime.model.metadata
        self.tokenizer_: BaseLlamaTokenizer = given["tokenizer"] or LlamaTokenizer(self)
        self.n_batch = runtime.context_params.n_batch
        self.n_threads = runtime.context_params.n_threads
        self.n_threads_batch = runtime.context_params.n_threads_batch
        self.draft_model = None
        self.speculative = None
        for name in _STORED:
            setattr(self, name, given[name])
        self._prepare_chat(given)
        self._recommended = recommended(self.metadata)
        if self.last_n_tokens_size != DEFAULT_PENALTY_WINDOW:
            self._recommended["penalty_last_n"] = self.last_n_tokens_size

    @classmethod
    def from_pretrained(  # noqa: PLR0917 - positional in both lineages
        cls,
        repo_id: str,
        filename: str,
        additional_files: Sequence[str] | None = None,
        local_dir: str | os.PathLike[str] | None = None,
        local_dir_use_symlinks: bool | str = "auto",  # noqa: ARG003 - the Hub's client decides about links by itself now
        cache_dir: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Load a model from the Hugging Face Hub.

        `filename` and `additional_files` (the other parts of a split model) may be shell patterns that match one
        file each. Further arguments go to the constructor. Raises ImportError without huggingface-hub.
        """
        path = hub.fetch(repo_id, filename, additional_files=additional_files, local_dir=local_dir, cache_dir=cache_dir)
        return cls(path, **kwargs)

    def close(self) -> None:
        """Free model and context. Repeating it does nothing; using the object afterwards raises `ClosedError`."""
        opened, self._opened, self._views = self._opened, None, None
        if opened is not None:
            opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        opened = self._opened
        if opened is None or opened.closed:  # closed, never opened, or freed at the interpreter's exit
            return
        try:
            warnings.warn("a Llama was never closed; call close() or use a with statement", ResourceWarning, stacklevel=2, source=self)
        finally:
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        return dict(self._given)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    logits_to_logprobs = staticmethod(logits_to_logprobs)
    longest_token_prefix = staticmethod(longest_token_prefix)


_ARGUMENTS = tuple(name for name in inspect.signature(Llama.__init__).parameters if name not in ("self", "unknown"))
DEFAULT_LORA = "default"
"""The name of the constructor's own adapter."""

_STORED = (
    "cpu_moe", "n_cpu_moe", "n_keep", "n_seq_max", "last_n_tokens_size",
    "spm_infill", "tensor_split", "kv_overrides", "numa",
)  # fmt: skip
"""Constructor arguments that are attributes as they were given."""
