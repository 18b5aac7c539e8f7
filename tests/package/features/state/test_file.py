"""State files: nothing is lost, and no other bytes pass for one."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.errors import StateFileError
from llama_cpp._features.state.file import file_bytes, read_state, write_state
from llama_cpp._features.state.snapshot import LlamaState

if TYPE_CHECKING:
    from pathlib import Path


def state(n_tokens: int = 3, native: bytes = b"native state", *, scores: int = 0, logits: bool = True, told: Any = None) -> LlamaState:
    rows = np.arange(scores * 4, dtype=np.single).reshape(scores, 4)
    last = np.array([1, -2, 3, 0.5], np.single) if logits else None
    return LlamaState(np.arange(n_tokens, dtype=np.intc), rows, n_tokens, native, len(native), 0xFFFF_FFFF, last, told)


@pytest.mark.parametrize(
    "given_state",
    [
        state(),
        state(0, b"x", logits=False),
        state(3, scores=3, told={"model": "ä", "n_ctx": 3, "cuttable": True, "rope": 0.5}),
        state(100_000, bytes(1 << 20)),
    ],
)
def test_what_is_written_is_read(tmp_path: Path, given_state: LlamaState) -> None:
    written = write_state(tmp_path / "x.state", given_state)
    assert written == (tmp_path / "x.state").stat().st_size == file_bytes(given_state)
    found = read_state(tmp_path / "x.state")
    assert (found.n_tokens, found.seed, found.llama_state) == (given_state.n_tokens, given_state.seed, given_state.llama_state)
    assert found.llama_state_size == len(given_state.llama_state)
    assert found.compatibility == given_state.compatibility
    assert np.array_equal(found.input_ids, given_state.input_ids)
    assert found.input_ids.dtype == np.intc
    assert found.scores.shape == given_state.scores.shape
    assert np.array_equal(found.scores, given_state.scores)
    assert (found.last_logits is None) == (given_state.last_logits is None)
    assert found.nbytes == given_state.nbytes


def test_only_whole_files_appear(tmp_path: Path) -> None:
    broken = state()
    broken.last_logits = "no numbers"  # type: ignore[assignment]
    write_state(tmp_path / "x.state", state())
    with pytest.raises(ValueError, match="could not convert"):
        write_state(tmp_path / "x.state", broken)
    assert [path.name for path in tmp_path.iterdir()] == ["x.state"]
    assert read_state(tmp_path / "x.state").n_tokens == 3


@given(st.data())
def test_no_damage_goes_unnoticed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("damage") / "x.state"
    write_state(path, state(scores=3, told={"n_ctx": 5}))
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "insert", "delete"]))
    if kind == "flip":
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del content[place:]
    elif kind == "insert":
        content.insert(place, data.draw(st.integers(0, 255)))
    else:
        del content[place]
    path.write_bytes(content)
    with pytest.raises(StateFileError):
        read_state(path)


def forged(header: Any, body: bytes = b"", *, version: int = 1, length: int | None = None) -> bytes:
    told = header if isinstance(header, bytes) else json.dumps(header).encode()
    content = struct.pack("<8sII", b"LLAMASTA", version, len(told) if length is None else length) + told + body
    return content + hashlib.blake2b(content, digest_size=32).digest()


WHOLE = {
    "n_tokens": 1,
    "seed": 1,
    "compatibility": None,
    "sections": [
        {"name": "input_ids", "type": "i4", "shape": [1]},
        {"name": "scores", "type": "f4", "shape": [0, 4]},
        {"name": "llama_state", "type": "u1", "shape": [2]},
    ],
}
BODY = bytes(6)


def changed(place: int, **fields: Any) -> dict[str, Any]:
    sections = [dict(each) for each in WHOLE["sections"]]  # type: ignore[attr-defined]
    sections[place].update(fields)
    return {**WHOLE, "sections": sections}


def test_the_forger_can_make_whole_files(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(forged(WHOLE, BODY))
    assert read_state(tmp_path / "x").llama_state == bytes(2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "ends too early"),
        (b"GGUF" * 100, "no state file"),
        (forged(WHOLE, BODY, version=2), "format 2 of state files is not known"),
        (forged(WHOLE, BODY, length=1 << 31), "header is too long"),
        (forged(b"{", b""), "not JSON"),
        (forged(b"[" * 100_000, b""), "not JSON"),
        (forged([], b""), "lacks fields"),
        (forged({**WHOLE, "n_tokens": "1"}, BODY), "lacks fields"),
        (forged(changed(0, shape=[1 << 60]), BODY), "not as long"),
        (forged(changed(0, shape=[-1]), BODY), "no such sections"),
        (forged(changed(0, shape=[True]), BODY), "no such sections"),
        (forged(changed(0, type="f4"), BODY), "no such sections"),
        (forged(changed(0, name="llama_state"), BODY), "no such sections"),
        (forged(changed(0, name=["input_ids"]), BODY), "no such sections"),
        (forged({**WHOLE, "sections": WHOLE["sections"][:2]}, BODY), "not those that belong there"),  # type: ignore[index]
        (forged(WHOLE, BODY + b"x"), "not as long"),
    ],
)
def test_other_files_are_refused_by_what_is_wrong(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(StateFileError, match=message):
        read_state(tmp_path / "x")


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_state(tmp_path / "none")
