"""What a CUDA wheel has to work with here: its release, devices, a driver, and stand-ins for drivers that it does not have."""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from . import child, installation

DRIVER_STUB = "LLAMA_TEST_CUDA_DRIVER_STUB"
OLD_DRIVER_STUB = "LLAMA_TEST_CUDA_OLD_DRIVER_STUB"

_REPORT = """
    import json
    import llama_cpp
    print(json.dumps(llama_cpp.system_report().as_dict()))
"""


def label() -> str:
    """`cu131` of the version `0.4.0+cu131`; empty for other wheels."""
    local = installation.distribution().version.partition("+")[2]
    return local if re.fullmatch(r"cu\d+", local) else ""


def major() -> str:
    """The CUDA major release of the wheel: 13 of cu131."""
    return label()[2:-1]


cuda_wheel = pytest.mark.skipif(not label(), reason="this is no CUDA wheel")


@lru_cache(maxsize=1)
def gpus() -> tuple[dict[str, Any], ...]:
    """The GPUs that the installed wheel reports, as they are."""
    report = child.run(_REPORT).json()
    return tuple(device for registry in report["registries"] for device in registry["devices"] if "GPU" in device["type"])


gpu = pytest.mark.skipif(not gpus(), reason="no GPU: the installed wheel reports no device of that kind")


@lru_cache(maxsize=1)
def has_driver() -> bool:
    """Whether NVIDIA's driver is installed."""
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


without_driver = pytest.mark.skipif(has_driver(), reason="NVIDIA's driver is installed: its absence cannot be shown")


def with_driver(variable: str) -> dict[str, str]:
    """Environment of a child that finds the stand-in for a driver which `variable` names; without one the test skips."""
    folder = os.environ.get(variable)
    if has_driver():
        pytest.skip("NVIDIA's driver is installed: no stand-in is put in its place")
    if not folder:
        pytest.skip(f"{variable} is not set: `python -m buildsys conformance` makes a stand-in for a driver on Linux")
    assert Path(folder, "libcuda.so.1").is_file(), f"{variable} names {folder}, which has no libcuda.so.1"
    return {"LD_LIBRARY_PATH": folder}


def report(env: dict[str, str] | None = None) -> dict[str, Any]:
    """The system report of a child, which writes nothing to stderr."""
    done = child.run(_REPORT, env=env)
    assert done.err == ""
    found: dict[str, Any] = done.json()
    return found


def accelerator(report_: dict[str, Any]) -> dict[str, Any]:
    """The one accelerator of a CUDA wheel's report."""
    (found,) = report_["accelerators"]
    assert isinstance(found, dict)
    return found


def package_files() -> dict[str, Path]:
    """The shared libraries in the installed packages of NVIDIA, by file name."""
    found = {}
    for distribution in importlib.metadata.distributions():
        if (distribution.metadata["Name"] or "").startswith("nvidia-"):
            for file in distribution.files or ():
                if re.search(r"\.so\.\d+$|\.dll$", str(file)):
                    found[file.name] = Path(str(file.locate())).resolve()
    return found
