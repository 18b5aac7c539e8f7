"""What the figures were measured on, as far as the system tells."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def processor() -> str:
    """The CPU's name."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe() -> str:
    """Operating system, CPU and the logical CPUs this process may use, in a line."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{processor()}, {usable} logical CPUs, {platform.system()} {platform.machine()}"


def load() -> float:
    """Processes that wished to run during the last minute; 0 where the system doesn't tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
