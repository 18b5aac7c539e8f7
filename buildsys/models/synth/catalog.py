"""The table of synthetic models: a later architecture adds its module and a row here."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from buildsys.errors import ModelError
from buildsys.models.synth import bert, gemma3, lfm2, llama, lora, mamba2, mixture, qwen35, rankers, rwkv7, t5
from buildsys.models.synth.vocabulary import sentencepiece, wordpiece

if TYPE_CHECKING:
    from collections.abc import Callable

    from buildsys.models.synth.gguf_file import GgufFile


class UnknownArchitectureError(ModelError):
    """No synthetic model has that architecture or name."""


class FixedVocabularyError(ModelError):
    """Only SentencePiece vocabularies can be made larger."""


@dataclass(frozen=True, kw_only=True)
class SyntheticModel:
    """How to build one model: `vocabulary` fills in its tokens and counts them, `write` adds everything else."""

    name: str
    architecture: str
    seed: int
    vocabulary: Callable[[GgufFile], int]
    write: Callable[[GgufFile, int], None]
    roles: tuple[str, ...]
    variable: str = ""

    @property
    def file(self) -> str:
        """File name."""
        return f"{self.name}.gguf"

    def with_vocabulary(self, size: int) -> SyntheticModel:
        """The same model with its vocabulary padded to `size` tokens."""
        if self.vocabulary is not sentencepiece:
            raise FixedVocabularyError(f"the vocabulary of {self.name} has a fixed size", hint="choose llama or lfm2")
        return dataclasses.replace(self, name=f"{self.name}-{size}", vocabulary=partial(sentencepiece, size=size))


LLAMA = SyntheticModel(
    name="synthetic-llama",
    architecture="llama",
    seed=1,
    vocabulary=sentencepiece,
    write=llama.write,
    roles=("synthetic", "attention"),
    variable="LLAMA_TEST_SYNTH_LLAMA",
)
LFM2 = SyntheticModel(
    name="synthetic-lfm2",
    architecture="lfm2",
    seed=2,
    vocabulary=sentencepiece,
    write=lfm2.write,
    roles=("synthetic", "hybrid"),
    variable="LLAMA_TEST_SYNTH_LFM2",
)
BERT = SyntheticModel(
    name="synthetic-bert",
    architecture="bert",
    seed=3,
    vocabulary=wordpiece,
    write=bert.write,
    roles=("synthetic", "embedding"),
    variable="LLAMA_TEST_SYNTH_BERT",
)
MIXTURE = SyntheticModel(
    name="synthetic-mixture",
    architecture="llama",
    seed=4,
    vocabulary=sentencepiece,
    write=mixture.write,
    roles=("synthetic", "experts"),
    variable="LLAMA_TEST_SYNTH_MIXTURE",
)
T5 = SyntheticModel(
    name="synthetic-t5",
    architecture="t5",
    seed=5,
    vocabulary=sentencepiece,
    write=t5.write,
    roles=("synthetic", "encoder-decoder"),
    variable="LLAMA_TEST_SYNTH_T5",
)
LORA = SyntheticModel(
    name="synthetic-lora",
    architecture="llama",
    seed=6,
    vocabulary=lora.no_vocabulary,
    write=lora.write,
    roles=("synthetic", "adapter"),
    variable="LLAMA_TEST_SYNTH_LORA",
)
GEMMA3 = SyntheticModel(
    name="synthetic-gemma3",
    architecture="gemma3",
    seed=7,
    vocabulary=sentencepiece,
    write=gemma3.write,
    roles=("synthetic", "sliding-window"),
    variable="LLAMA_TEST_SYNTH_GEMMA3",
)
QWEN35 = SyntheticModel(
    name="synthetic-qwen35",
    architecture="qwen35",
    seed=8,
    vocabulary=qwen35.vocabulary,
    write=qwen35.write,
    roles=("synthetic", "hybrid"),
    variable="LLAMA_TEST_SYNTH_QWEN35",
)
MAMBA2 = SyntheticModel(
    name="synthetic-mamba2",
    architecture="mamba2",
    seed=9,
    vocabulary=sentencepiece,
    write=mamba2.write,
    roles=("synthetic", "recurrent"),
    variable="LLAMA_TEST_SYNTH_MAMBA2",
)
RWKV7 = SyntheticModel(
    name="synthetic-rwkv7",
    architecture="rwkv7",
    seed=10,
    vocabulary=sentencepiece,
    write=rwkv7.write,
    roles=("synthetic", "recurrent"),
    variable="LLAMA_TEST_SYNTH_RWKV7",
)
RANKER = SyntheticModel(
    name="synthetic-ranker",
    architecture="bert",
    seed=11,
    vocabulary=rankers.encoder_vocabulary,
    write=rankers.write_encoder,
    roles=("synthetic", "ranking"),
    variable="LLAMA_TEST_SYNTH_RANKER",
)
TEMPLATE_RANKER = SyntheticModel(
    name="synthetic-template-ranker",
    architecture="qwen3",
    seed=12,
    vocabulary=rankers.decoder_vocabulary,
    write=rankers.write_decoder,
    roles=("synthetic", "ranking"),
    variable="LLAMA_TEST_SYNTH_TEMPLATE_RANKER",
)
LARGE_VOCABULARY = dataclasses.replace(LLAMA.with_vocabulary(150_000), roles=("benchmark",), variable="")

SYNTHETIC_MODELS = (LLAMA, LFM2, BERT, MIXTURE, T5, LORA, GEMMA3, QWEN35, MAMBA2, RWKV7, RANKER, TEMPLATE_RANKER, LARGE_VOCABULARY)


def find(name: str) -> SyntheticModel:
    """The row of that name, or the first one of that architecture."""
    for model in SYNTHETIC_MODELS:
        if name in {model.name, model.architecture}:
            return model
    known = ", ".join(dict.fromkeys(model.architecture for model in SYNTHETIC_MODELS))
    raise UnknownArchitectureError(f"there is no generator for {name}", hint=f"choose from {known}")
