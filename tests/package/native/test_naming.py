from __future__ import annotations

from typing import Any

import pytest

from llama_cpp._native.naming import naming_for


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", ("libggml-base.so",)),
        ("darwin", ("libggml-base.dylib",)),
        ("win32", ("ggml-base.dll", "libggml-base.dll")),
    ],
)
def test_library_files(platform: str, expected: Any) -> None:
    assert naming_for(platform).library_files("ggml-base") == expected


@pytest.mark.parametrize(
    ("platform", "file", "stem"),
    [
        ("linux", "libggml-cpu-haswell.so", "cpu-haswell"),
        ("linux", "libggml-rpc.so", "rpc"),
        ("linux", "libggml-base.so", None),
        ("linux", "libggml.so", None),
        ("linux", "libllama.so", None),
        ("linux", "libggml-cpu.so.txt", None),
        ("linux", "ggml-cpu-haswell.so", None),
        ("darwin", "libggml-metal.so", "metal"),
        ("darwin", "libggml-base.dylib", None),
        ("win32", "ggml-cpu-alderlake.dll", "cpu-alderlake"),
        ("win32", "libggml-cuda.dll", "cuda"),
        ("win32", "libggml-base.dll", None),
        ("win32", "ggml-base.dll", None),
    ],
)
def test_plugin_stem(platform: str, file: Any, stem: Any) -> None:
    assert naming_for(platform).plugin_stem(file) == stem
