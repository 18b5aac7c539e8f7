"""What may happen to a folder: damage, leftovers, other programs, processes that are killed while they write."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from llama_cpp._features.cache.disk import INDEX, SUFFIX, LlamaDiskCache
from llama_cpp._features.state.file import file_bytes
from llama_cpp._features.state.snapshot import LlamaState

PACKAGE = Path(__file__).resolve().parents[4] / "package"
CAPACITY = 200_000
WRITER = f"""
import sys
sys.path.insert(0, {str(PACKAGE)!r})
import random
import numpy as np
from llama_cpp._features.cache.disk import LlamaDiskCache
from llama_cpp._features.state.snapshot import LlamaState

cache = LlamaDiskCache(sys.argv[1], {CAPACITY})
print("ready", flush=True)
while True:
    key = [random.randrange(3) for _ in range(random.randrange(1, 6))]
    native = bytes([sum(key) % 256]) * random.randrange(1, 60_000)
    cache[key] = LlamaState(np.array(key, np.intc), np.zeros((0, 3), np.single), len(key), native, len(native), 1)
"""


def state(key: tuple[int, ...], size: int = 100) -> LlamaState:
    native = bytes([sum(key) % 256]) * size
    return LlamaState(np.array(key, np.intc), np.zeros((0, 3), np.single), len(key), native, size, 1)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if SUFFIX in path.name)


def test_two_objects_share_a_folder(tmp_path: Path) -> None:
    one, other = LlamaDiskCache(tmp_path), LlamaDiskCache(tmp_path)
    one[1, 2] = state((1, 2))
    assert other[1, 2].n_tokens == 2
    other[1, 2] = state((1, 2), 500)
    assert len(one[1, 2].llama_state) == 500
    assert one.cache_size == other.cache_size == file_bytes(state((1, 2), 500))


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "gone", "grown"])
def test_a_damaged_file_is_a_miss_and_the_next_best_a_hit(tmp_path: Path, damage: str) -> None:
    cache = LlamaDiskCache(tmp_path)
    cache[1, 2, 3] = state((1, 2, 3))
    (target,) = files(tmp_path)
    cache[1, 2] = state((1, 2))
    content = bytearray(target.read_bytes())
    if damage == "flipped":
        content[-50] ^= 1
    changed = {"cut": content[:-10], "empty": b"", "grown": content + b"x"}.get(damage, content)
    target.write_bytes(changed)
    if damage == "gone":
        target.unlink()
    assert cache[1, 2, 3].n_tokens == 2
    assert len(cache) == 1
    cache[1, 2, 3] = state((1, 2, 3))
    assert cache[1, 2, 3].n_tokens == 3


def test_in_and_item_agree_about_damage(tmp_path: Path) -> None:
    cache = LlamaDiskCache(tmp_path)
    cache[[1]] = state((1,))
    files(tmp_path)[0].write_bytes(b"nothing")
    assert [1] not in cache
    with pytest.raises(KeyError):
        cache[[1]]


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be read" * 100, b""])
def test_a_damaged_index_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    cache = LlamaDiskCache(tmp_path)
    cache[[1]] = state((1,))
    (tmp_path / INDEX).write_bytes(content)
    assert [1] not in cache
    cache[[2]] = state((2,))
    assert cache[[2]].n_tokens == 1
    assert len(files(tmp_path)) == 1, "files that no index names are removed"


def test_a_file_under_another_ones_name_is_not_taken_for_it(tmp_path: Path) -> None:
    cache = LlamaDiskCache(tmp_path)
    cache[[1]] = state((1,))
    (target,) = files(tmp_path)
    other = LlamaDiskCache(tmp_path / "other")
    foreign = state((1,))
    foreign.compatibility = {"model": "another"}
    other[[1]] = foreign
    target.write_bytes(files(tmp_path / "other")[0].read_bytes())
    assert [1] not in cache


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "cache.db").write_bytes(b"of another program")
    cache = LlamaDiskCache(tmp_path, 10)
    cache[[1]] = state((1,))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache.db", INDEX, "notes.txt"]


def test_a_smaller_limit_is_kept_from_the_start(tmp_path: Path) -> None:
    cache = LlamaDiskCache(tmp_path)
    for token in range(10):
        cache[[token]] = state((token,), 1000)
    size = file_bytes(state((1,), 1000))
    assert LlamaDiskCache(tmp_path, 3 * size).cache_size == 3 * size
    assert len(files(tmp_path)) == 3


def test_a_folder_that_cannot_be_used_is_a_miss(tmp_path: Path) -> None:
    cache = LlamaDiskCache(tmp_path / "cache")
    cache[[1]] = state((1,))
    for path in (tmp_path / "cache").iterdir():
        path.unlink()
    (tmp_path / "cache").rmdir()
    assert [1] not in cache
    cache[[1]] = state((1,))
    assert cache.cache_size == 0


def test_nothing_is_lost_or_left_by_writers_that_are_killed(tmp_path: Path) -> None:
    """Killed at random instants, two at a time: what can be read is whole, and the limit is kept."""
    random.seed(1)
    for _ in range(4):
        writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            time.sleep(random.uniform(0.02, 0.12))  # noqa: S311 - no secret
            writer.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            writer.communicate()
        assert sum(path.stat().st_size for path in files(tmp_path)) <= CAPACITY
        cache = LlamaDiskCache(tmp_path, CAPACITY)
        there = files(tmp_path)
        assert cache.cache_size == sum(path.stat().st_size for path in there)
        assert len(there) == len(cache)
        for first in range(3):
            with contextlib.suppress(KeyError):
                found = cache[[first]]
                assert set(found.llama_state) == {sum(found.tokens.tolist()) % 256}, "a state of other tokens"
        cache[[9]] = state((9,))
        assert cache[[9]].n_tokens == 1
