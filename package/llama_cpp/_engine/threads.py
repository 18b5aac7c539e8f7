"""How many threads are worth using: physical cores for single tokens, all logical CPUs for batches.

Honours CPU affinity and cgroup quotas, which bound containers. Nothing here is llama.cpp's business.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from functools import lru_cache
from pathlib import Path

_ROOT = Path("/")


@lru_cache(maxsize=1)
def default_threads() -> int:
    """Physical cores that this process may use: the best thread count for decoding single tokens."""
    return max(1, min(_physical_cores(), available_cpus()))


def default_batch_threads() -> int:
    """Logical CPUs that this process may use: for prompts, where arithmetic rather than memory is the limit."""
    return available_cpus()


@lru_cache(maxsize=1)
def available_cpus() -> int:
    """Logical CPUs after affinity and cgroup quota; at least 1."""
    count = len(allowed_cpus()) or os.cpu_count() or 1
    quota = cgroup_quota(_ROOT)
    return max(1, min(count, math.ceil(quota)) if quota else count)


def allowed_cpus() -> set[int]:
    """The CPU numbers this process may be scheduled on; empty where the platform does not tell."""
    if sys.platform == "linux":
        return set(os.sched_getaffinity(0))
    return set()


def _physical_cores() -> int:
    if sys.platform == "linux":
        return linux_cores(_ROOT, allowed_cpus())
    if sys.platform == "darwin":
        return _macos_cores()
    return os.cpu_count() or 1


def linux_cores(root: Path, cpus: set[int]) -> int:
    """Distinct physical cores among `cpus`, as sysfs tells; their number when it does not."""
    cores = set()
    for cpu in cpus:
        topology = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        siblings = _read(topology / "core_cpus_list") or _read(topology / "thread_siblings_list")
        cores.add(siblings or f"cpu{cpu}")
    return len(cores)


def cgroup_quota(root: Path) -> float | None:
    """CPUs' worth of time that the control group allows (v2, then v1), or None."""
    quota, _, period = _read(root / "sys/fs/cgroup/cpu.max").partition(" ")
    if not quota:
        quota = _read(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us")
        period = _read(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us")
    try:
        allowed = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):
        return None
    return allowed if allowed > 0 else None


def _macos_cores() -> int:
    # Performance cores only: efficiency cores slow a decode down, since each step waits for the slowest.
    return _sysctl("hw.perflevel0.physicalcpu") or _sysctl("hw.physicalcpu") or os.cpu_count() or 1


def _sysctl(name: str) -> int:
    value = ctypes.c_int32(0)
    size = ctypes.c_size_t(ctypes.sizeof(value))
    failed = ctypes.CDLL(None).sysctlbyname(name.encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
    return 0 if failed else value.value


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
