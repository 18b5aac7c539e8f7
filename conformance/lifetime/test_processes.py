"""What a whole process shows: flat memory over many loads, and a quiet exit whatever was left open."""

from __future__ import annotations

import pytest
from rig import child, installation, material

GROWTH_LIMIT = 4 * 2**20
"""Bytes that resident memory may grow from the 20th to the 120th load: allocator noise, where one leaked context of this model is more."""

CYCLES = """
    import gc, json, os, sys
    import llama_cpp
    page = os.sysconf("SC_PAGE_SIZE")
    def resident():
        gc.collect()
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * page
    def cycle():
        llama = llama_cpp.Llama(sys.argv[1], n_ctx=256, n_batch=64, verbose=False)
        llama.create_completion("Hello", max_tokens=4, temperature=0.0)
        llama.close()
    for _ in range(20):
        cycle()
    before = resident()
    for _ in range(100):
        cycle()
    print(json.dumps({"growth": resident() - before, "files": len(os.listdir("/proc/self/fd"))}))
"""


@pytest.mark.once_per_wheel
@pytest.mark.skipif(not installation.is_linux(), reason="resident memory is read from /proc")
@pytest.mark.parametrize("variable", [material.SYNTH_LLAMA, material.SYNTH_LFM2], ids=["llama", "lfm2"])
def test_memory_is_flat_over_100_loads(variable: str) -> None:
    answer = child.run(CYCLES, material.model(variable)).json()
    assert answer["growth"] <= GROWTH_LIMIT
    assert answer["files"] <= 8, "files stay open"


LEAVINGS = {
    "open": "llama.create_completion('Hello', max_tokens=4)",
    "closed": "llama.create_completion('Hello', max_tokens=4); llama.close()",
    "closed-twice": "llama.close(); llama.close()",
    "in-a-stream": "stream = llama.create_completion('Hello', max_tokens=40, stream=True); next(stream)",
    "in-a-cycle": "llama.itself = llama; del llama",
    "in-a-global-list": "import builtins; builtins.kept = [llama]",
    "sys-exit": "sys.exit(0)",
    "working-thread": """import threading
    def work():
        while True:
            llama.create_completion('Hello', max_tokens=40)
    threading.Thread(target=work, daemon=True).start()""",
}


@pytest.mark.parametrize("how", LEAVINGS)
@pytest.mark.every_processor
def test_exit_is_quiet(how: str) -> None:
    source = f"""
    import sys
    import llama_cpp
    llama = llama_cpp.Llama(sys.argv[1], n_ctx=64, verbose=False)
    {LEAVINGS[how]}
    """
    done = child.run(source, material.model(material.SYNTH_LLAMA))
    assert (done.code, done.out, done.err) == (0, "", "")


def test_half_built_object_is_quiet() -> None:
    done = child.run(
        """
        import gc
        import llama_cpp
        for path in ("missing.gguf", ""):
            try:
                llama_cpp.Llama(path, verbose=False)
            except ValueError:
                pass
            else:
                raise SystemExit("no exception")
        gc.collect()
        """,
        options=("-I", "-B", "-W", "error"),
    )
    assert (done.code, done.out, done.err) == (0, "", "")


def test_fork_free_children_start_clean() -> None:
    """`multiprocessing` by spawn pickles nothing of ours and starts anew: the parent's model stays usable."""
    source = """
    import sys
    import llama_cpp
    import subprocess
    with llama_cpp.Llama(sys.argv[1], n_ctx=64, verbose=False) as llama:
        first = llama.create_completion("Hello", max_tokens=4, temperature=0.0)["choices"][0]["text"]
        code = "import sys, llama_cpp; llama_cpp.Llama(sys.argv[1], n_ctx=64, verbose=False).close()"
        subprocess.run([sys.executable, "-I", "-c", code, sys.argv[1]], check=True)
        assert llama.create_completion("Hello", max_tokens=4, temperature=0.0)["choices"][0]["text"] == first
    """
    done = child.run(source, material.model(material.SYNTH_LLAMA))
    assert (done.code, done.out, done.err) == (0, "", "")
