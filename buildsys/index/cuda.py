"""What users must have for a CUDA release: drivers and GPUs, from `cuda.toml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from buildsys.errors import ConfigurationError
from buildsys.matrix import CudaBuild
from buildsys.tables import load_toml

CUDA = Path(__file__).with_name("cuda.toml")


class Driver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A driver version per system; empty where NVIDIA publishes none."""

    linux: str
    windows: str = ""


class CudaTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file: by generation, by release, and by compute capability."""

    minimum: dict[str, Driver]
    release: dict[str, Driver]
    gpu: dict[str, str]


@cache
def cuda_table() -> CudaTable:
    """The table as the file states it."""
    return load_toml(CUDA, CudaTable)


def minimum_driver(toolkit: str) -> Driver:
    """The oldest driver that runs wheels of this release.

    Raises:
        ConfigurationError: the table lacks this CUDA generation.
    """
    generation = toolkit.partition(".")[0]
    if generation not in cuda_table().minimum:
        raise ConfigurationError(
            f"{CUDA} states no driver for CUDA {generation}", hint=f"add [minimum.{generation}] from NVIDIA's release notes"
        )
    return cuda_table().minimum[generation]


def release_driver(toolkit: str) -> Driver | None:
    """The driver that came with this release; `None` where the table doesn't know it."""
    return cuda_table().release.get(toolkit)


def gpus(cuda: CudaBuild) -> tuple[str, ...]:
    """The GPUs that wheels with these architectures carry machine code for, one string per generation."""
    found: dict[str, list[str]] = {}
    for architecture in cuda.architectures:
        code, _, form = architecture.partition("-")
        if form == "real":
            words = cuda_table().gpu.get(code, f"others: compute capability {code[:-1]}.{code[-1]}")
            generation, _, names = words.partition(": ")
            found.setdefault(generation, []).append(names)
    return tuple(f"{generation}: {', '.join(names)}" for generation, names in found.items())
