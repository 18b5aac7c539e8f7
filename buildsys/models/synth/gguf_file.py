"""Writing one GGUF file: metadata keys, and tensors filled from a seed. Nothing about any architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import gguf
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Value: TypeAlias = "bool | int | float | str | Sequence[int] | Sequence[float] | Sequence[str]"
FloatArray: TypeAlias = npt.NDArray[np.float32]


class GgufFile:
    """An open GGUF file of one architecture.

    Tensor shapes are given as ggml does, fastest dimension first. Weights are uniform with a chosen standard deviation;
    they are made from the raw stream of PCG64, which numpy keeps stable, so the bytes depend on the seed only.
    """

    def __init__(self, path: Path, architecture: str, *, seed: int) -> None:
        self._architecture = architecture
        self._writer = gguf.GGUFWriter(path, architecture)
        self._random = np.random.Generator(np.random.PCG64(seed))

    def set(self, key: str, value: Value) -> None:
        """A metadata key by its full name; integers are unsigned 32-bit, floats 32-bit."""
        if isinstance(value, bool):
            self._writer.add_bool(key, value)
        elif isinstance(value, int):
            self._writer.add_uint32(key, value)
        elif isinstance(value, float):
            self._writer.add_float32(key, value)
        elif isinstance(value, str):
            self._writer.add_string(key, value)
        else:
            self._writer.add_array(key, value)

    def hyperparameters(self, values: Mapping[str, Value]) -> None:
        """Metadata keys that the architecture's name prefixes."""
        for key, value in values.items():
            self.set(f"{self._architecture}.{key}", value)

    def random(self, name: str, *shape: int, deviation: float = 0.08) -> None:
        """A tensor of random weights."""
        self.tensor(name, self.draw(*shape, deviation=deviation))

    def ones(self, name: str, *shape: int) -> None:
        """A tensor of ones, as a norm has before training."""
        self.tensor(name, np.ones(tuple(reversed(shape)), dtype=np.float32))

    def tensor(self, name: str, values: npt.NDArray[np.float32] | npt.NDArray[np.float16]) -> None:
        """A tensor of given values; the array's shape is the ggml shape reversed."""
        self._writer.add_tensor(name, np.ascontiguousarray(values))

    def draw(self, *shape: int, deviation: float = 0.08) -> FloatArray:
        """The next random values of the file's stream, mean 0."""
        raw = np.asarray(self._random.bit_generator.random_raw(int(np.prod(shape))), dtype=np.uint64)
        unit = (raw >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24) - np.float32(0.5)
        scale = np.float32(deviation * 12.0**0.5)
        values: FloatArray = (unit * scale).reshape(tuple(reversed(shape)))
        return values

    def close(self) -> None:
        """Write everything out; only now is the file complete."""
        self._writer.write_header_to_file()
        self._writer.write_kv_data_to_file()
        self._writer.write_tensors_to_file()
        self._writer.close()
