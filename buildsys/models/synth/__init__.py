"""Tiny models with random weights, the same bytes wherever they are generated. One module per architecture."""

from buildsys.models.synth.catalog import SYNTHETIC_MODELS, SyntheticModel, find
from buildsys.models.synth.generator import fingerprint, generate

__all__ = ["SYNTHETIC_MODELS", "SyntheticModel", "find", "fingerprint", "generate"]
