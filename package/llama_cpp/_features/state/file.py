"""State files: a header in JSON, raw arrays, and a checksum. Reading one executes nothing and trusts no number in it.

    bytes       what
    8           magic, "LLAMASTA"
    4           version of the format, u32, 1
    4           bytes of the header, u32
    header      JSON, UTF-8: n_tokens, seed, compatibility, and the sections in order, each with name, type and shape
    sections    input_ids (int32), scores (float32), last_logits (float32, may be missing), llama_state (bytes)
    32          BLAKE2b-256 of all bytes before

All numbers are little-endian.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from llama_cpp._features.errors import StateFileError

from .snapshot import LlamaState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

MAGIC = b"LLAMASTA"
VERSION = 1
_FIXED = struct.Struct("<8sII")
_CHECKSUM_BYTES = 32
_MOST_HEADER_BYTES = 1 << 20
_PIECE_BYTES = 1 << 24
_TYPES: dict[str, np.dtype[Any]] = {"i4": np.dtype("<i4"), "f4": np.dtype("<f4"), "u1": np.dtype("u1")}
_REQUIRED = {"input_ids": ("i4", 1), "scores": ("f4", 2), "llama_state": ("u1", 1)}
_OPTIONAL = {"last_logits": ("f4", 1)}


def write_state(path: str | os.PathLike[str], state: LlamaState) -> int:
    """Write a state; the file appears when it is complete. Returns its bytes."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            written = write_stream(file, state)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return written


def write_stream(file: BinaryIO, state: LlamaState) -> int:
    """Write a state to an open file; returns the bytes."""
    digest, written = hashlib.blake2b(digest_size=_CHECKSUM_BYTES), 0
    for piece in _pieces(state):
        digest.update(piece)
        file.write(piece)
        written += len(piece)
    file.write(digest.digest())
    return written + _CHECKSUM_BYTES


def file_bytes(state: LlamaState) -> int:
    """How many bytes the file of a state has."""
    return sum(len(piece) for piece in _pieces(state)) + _CHECKSUM_BYTES


def _pieces(state: LlamaState) -> Iterator[bytes | memoryview]:
    sections = _sections(state)
    described = [{"name": name, "type": kind, "shape": list(array.shape)} for name, kind, array in sections]
    compatibility = None if state.compatibility is None else dict(state.compatibility)
    told = {"n_tokens": int(state.n_tokens), "seed": int(state.seed), "compatibility": compatibility, "sections": described}
    header = json.dumps(told, sort_keys=True).encode()
    yield _FIXED.pack(MAGIC, VERSION, len(header)) + header
    for _, _, array in sections:
        if array.size:
            yield array.data.cast("B")


def _sections(state: LlamaState) -> list[tuple[str, str, NDArray[Any]]]:
    found: list[tuple[str, Any]] = [("input_ids", state.tokens), ("scores", np.asarray(state.scores))]
    if state.last_logits is not None:
        found.append(("last_logits", state.last_logits))
    found.append(("llama_state", np.frombuffer(state.llama_state, np.uint8)))
    kinds = _REQUIRED | _OPTIONAL
    return [(name, kinds[name][0], np.ascontiguousarray(value, _TYPES[kinds[name][0]])) for name, value in found]


def read_state(path: str | os.PathLike[str]) -> LlamaState:
    """The state in a file. Raises `StateFileError` for anything but a whole file of this format, OSError where there is none."""
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            return _read(_Checked(file, size))
        except StateFileError as error:
            raise StateFileError(f"{os.fspath(path)}: {error}") from None


class _Checked:
    """Reads exactly what is asked for, never beyond the checksum, and digests it."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.left = size - _CHECKSUM_BYTES
        self._digest = hashlib.blake2b(digest_size=_CHECKSUM_BYTES)

    def take(self, count: int) -> bytearray:
        if count > self.left:
            raise StateFileError("this is no whole state file: it ends too early")
        data = bytearray(count)
        view = memoryview(data)
        for start in range(0, count, _PIECE_BYTES):
            piece = view[start : start + _PIECE_BYTES]
            if self._file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
                raise StateFileError("this is no whole state file: it ends too early")
            self._digest.update(piece)
        self.left -= count
        return data

    def finish(self) -> None:
        if self.left:
            raise StateFileError("this is no state file: there is more in it than its header says")
        if self._file.read() != self._digest.digest():
            raise StateFileError("the state file is damaged: its checksum does not agree")


def _read(source: _Checked) -> LlamaState:
    magic, version, length = _FIXED.unpack(source.take(_FIXED.size))
    if magic != MAGIC:
        raise StateFileError("this is no state file")
    if version != VERSION:
        raise StateFileError(f"format {version} of state files is not known to this version, which reads {VERSION}")
    if length > _MOST_HEADER_BYTES:
        raise StateFileError("this is no state file: its header is too long")
    header = _header(bytes(source.take(length)))
    read = {name: np.frombuffer(source.take(count), kind).reshape(shape) for name, kind, shape, count in _described(header, source.left)}
    source.finish()
    native = read["llama_state"].tobytes()
    return LlamaState(
        input_ids=read["input_ids"].astype(np.intc),
        scores=read["scores"].astype(np.single, copy=False),
        n_tokens=header["n_tokens"],
        llama_state=native,
        llama_state_size=len(native),
        seed=header["seed"],
        last_logits=read["last_logits"].astype(np.single, copy=False) if "last_logits" in read else None,
        compatibility=header["compatibility"],
    )


def _header(data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(data)
    except (ValueError, RecursionError):
        raise StateFileError("the state file is damaged: its header is not JSON") from None
    expected = {"n_tokens": int, "seed": int, "compatibility": dict | None, "sections": list}
    if not isinstance(header, dict) or not all(name in header and isinstance(header[name], kind) for name, kind in expected.items()):
        raise StateFileError("the state file is damaged: its header lacks fields")
    return header


def _described(header: Mapping[str, Any], left: int) -> list[tuple[str, np.dtype[Any], tuple[int, ...], int]]:
    """The sections as the header tells them, when they are what such a file has, and together as long as the file."""
    known, found = _REQUIRED | _OPTIONAL, []
    for told in header["sections"]:
        name = told.get("name") if isinstance(told, dict) else None
        kind, dimensions = known.get(name, ("", 0)) if isinstance(name, str) else ("", 0)
        shape = told.get("shape") if kind else None
        if not isinstance(shape, list) or told.get("type") != kind:
            raise StateFileError("the state file is damaged: its header describes no such sections")
        if len(shape) != dimensions or not all(type(each) is int and each >= 0 for each in shape):
            raise StateFileError("the state file is damaged: its header describes no such sections")
        found.append((str(name), _TYPES[kind], tuple(shape), math.prod(shape) * _TYPES[kind].itemsize))
    names = [each[0] for each in found]
    if len(names) != len(set(names)) or not set(_REQUIRED) <= set(names) or sum(each[3] for each in found) != left:
        raise StateFileError("the state file is damaged: its sections are not those that belong there, or not as long")
    return found
