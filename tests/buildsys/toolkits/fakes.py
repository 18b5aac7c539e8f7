"""Toolkits and programs that only look like ones."""

from __future__ import annotations

from pathlib import Path

HOST_CONFIG = """\
#if __GNUC__ > 13
#error -- unsupported GNU version! gcc versions later than 13 are not supported!
#endif
"""


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def make_toolkit(root: Path, release: str = "12.4") -> Path:
    """A toolkit root that states `release` and has every file that an inspection reads."""
    said = f"Cuda compilation tools, release {release}, V{release}.131\\nBuild cuda_{release}.r{release}/compiler.1_0"
    executable(root / "bin" / "nvcc", f'#!/bin/sh\nprintf "{said}\\n"\n')
    files = {"cuda_runtime_api.h": "runtime", "cublas_api.h": "cublas", "cub/version.cuh": "cub", "crt/host_config.h": HOST_CONFIG}
    for name, text in files.items():
        file = root / "include" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root
