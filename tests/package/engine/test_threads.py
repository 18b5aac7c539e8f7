from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine import threads
from llama_cpp._engine.threads import cgroup_quota, linux_cores

if TYPE_CHECKING:
    from pathlib import Path


def topology(root: Path, siblings: Any, name: str = "core_cpus_list") -> None:
    for cpu, text in siblings.items():
        folder = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / name).write_text(f"{text}\n")


def write(root: Path, path: Any, text: Any) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.mark.parametrize("name", ["core_cpus_list", "thread_siblings_list"])
def test_sibling_threads_count_as_one_core(tmp_path: Path, name: str) -> None:
    topology(tmp_path, {0: "0,2", 1: "1,3", 2: "0,2", 3: "1,3"}, name)
    assert linux_cores(tmp_path, {0, 1, 2, 3}) == 2
    assert linux_cores(tmp_path, {0, 2}) == 1  # affinity left one core


def test_without_topology_each_cpu_is_a_core(tmp_path: Path) -> None:
    assert linux_cores(tmp_path, {4, 5, 6}) == 3


@pytest.mark.parametrize(("text", "quota"), [("150000 100000\n", 1.5), ("max 100000\n", None), ("", None), ("5 0", None)])
def test_cgroup_v2(tmp_path: Path, text: Any, quota: Any) -> None:
    write(tmp_path, "sys/fs/cgroup/cpu.max", text)
    assert cgroup_quota(tmp_path) == quota


@pytest.mark.parametrize(("quota", "expected"), [("200000", 2.0), ("-1", None)])
def test_cgroup_v1(tmp_path: Path, quota: Any, expected: Any) -> None:
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota)
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    assert cgroup_quota(tmp_path) == expected


@pytest.mark.parametrize(
    ("cores", "cpus", "quota", "threads_expected", "batch_expected"),
    [(4, 8, None, 4, 8), (4, 8, 2.5, 3, 3), (4, 8, 0.5, 1, 1), (8, 8, None, 8, 8), (4, 2, None, 2, 2)],
)
def test_defaults(  # noqa: PLR0917 - a row of the table
    monkeypatch: pytest.MonkeyPatch, cores: Any, cpus: Any, quota: Any, threads_expected: Any, batch_expected: Any
) -> None:
    monkeypatch.setattr(threads, "allowed_cpus", lambda: set(range(cpus)))
    monkeypatch.setattr(threads, "cgroup_quota", lambda _root: quota)
    monkeypatch.setattr(threads, "_physical_cores", lambda: cores)
    for cached in (threads.available_cpus, threads.default_threads):
        cached.cache_clear()
    try:
        assert (threads.default_threads(), threads.default_batch_threads()) == (threads_expected, batch_expected)
    finally:
        for cached in (threads.available_cpus, threads.default_threads):
            cached.cache_clear()


def test_the_real_machine_has_at_least_one() -> None:
    assert 1 <= threads.default_threads() <= threads.default_batch_threads()
