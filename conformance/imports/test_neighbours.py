"""Other native code in the process, and libraries in the global scope, change nothing."""

from __future__ import annotations

import importlib.util

import pytest
from rig import child, installation, material

pytestmark = pytest.mark.once_per_wheel
linux_only = pytest.mark.skipif(not installation.is_linux(), reason="other systems have no global symbol scope")

GENERATE = """
    import json, sys
    import llama_cpp
    with llama_cpp.Llama(sys.argv[1], n_ctx=128, n_threads=2, verbose=False) as llama:
        print(json.dumps(llama.create_completion("The capital of France is", max_tokens=12, temperature=0.0)["choices"][0]["text"]))
"""

GLOBAL_LOAD = """
    import ctypes, sys
    for path in sys.argv[2:]:
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
"""

NEED_A_DRIVER = {"ggml-cuda"}  # and so cannot be opened on every machine

CORE = ("ggml-base", "ggml", "llama", "llama-common", "mtmd", "ggml-rpc")


@pytest.fixture(scope="module")
def reference() -> str:
    return str(child.run(GENERATE, material.model(material.TRANSFORMER)).json())


def generate(before: str, *paths: object, after: str = "") -> str:
    done = child.run(before + GENERATE + after, material.model(material.TRANSFORMER), *paths)
    assert done.err == ""
    return str(done.json())


def openmp_first() -> list[str]:
    names = installation.libraries()
    openmp = [name for name in names if "omp" in name]
    return [*openmp, *(name for name in CORE if name in names)]


@linux_only
def test_core_libraries_in_the_global_scope(reference: str) -> None:
    paths = [installation.libraries()[name] for name in openmp_first()]
    assert generate(GLOBAL_LOAD, *paths) == reference


@linux_only
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_all_libraries_in_the_global_scope(reference: str, order: str) -> None:
    names = [name for name in openmp_first() if name not in NEED_A_DRIVER]
    others = installation.libraries().keys() - {*names, *NEED_A_DRIVER}
    paths = [installation.libraries()[name] for name in (*names, *sorted(others, reverse=order == "descending"))]
    assert len(paths) >= len(installation.libraries()) - len(NEED_A_DRIVER)
    assert generate(GLOBAL_LOAD, *paths) == reference


@linux_only
def test_global_scope_for_all_that_python_loads(reference: str) -> None:
    assert (
        generate("""
    import os, sys
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
    import numpy, kiwisolver
    """)
        == reference
    )


NEIGHBOURS = {
    "numpy": "import numpy; assert numpy.linalg.norm(numpy.random.default_rng(0).random((64, 64)) @ numpy.eye(64)) > 0",
    "kiwisolver": "import kiwisolver; kiwisolver.Solver().addConstraint(kiwisolver.Variable('v') >= 1)",
    "torch": "import torch; assert torch.ones(64, 64).matmul(torch.ones(64, 64)).sum() > 0",
}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbour_in_the_process(reference: str, name: str, when: str) -> None:
    if name == "torch" and importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed: add it to the environment to prove this neighbour")
    use = f"\n    {NEIGHBOURS[name]}\n"
    done = generate(use, after=use) if when == "before" else generate("", after=use)
    assert done == reference
