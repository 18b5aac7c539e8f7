"""Layers on another machine: an RPC server in a process of its own, and servers that are none."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from rig import child, material
from rig.generation import PROMPT

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVE = """
import ctypes, sys
import llama_cpp
from llama_cpp import _ggml
llama_cpp.llama_backend_init()
device = _ggml.ggml_backend_dev_by_type(_ggml.GGML_BACKEND_DEVICE_TYPE_CPU)
devices = (ctypes.c_void_p * 1)(device)
_ggml.ggml_backend_rpc_start_server(sys.argv[1].encode(), None, 1, 1, ctypes.cast(devices, _ggml.ggml_backend_rpc_start_server.argtypes[4]))
"""
ANSWER = """
import json, sys
from llama_cpp import Llama
options = {"n_ctx": 256, "n_threads": 1, "n_threads_batch": 1, "verbose": False}
def answer(**more):
    with Llama(sys.argv[1], **options, **more) as llama:
        tokens = llama.tokenize(sys.argv[3].encode())
        return llama.prefill(tokens).logits.tolist(), llama(sys.argv[3], max_tokens=8, temperature=0)["choices"][0]["text"]
here = answer()
there = answer(rpc_servers=sys.argv[2], n_gpu_layers=99)
import llama_cpp
from llama_cpp import _ggml
names = [_ggml.ggml_backend_dev_name(_ggml.ggml_backend_dev_get(i)).decode() for i in range(_ggml.ggml_backend_dev_count())]
print(json.dumps({"same": here[1] == there[1], "apart": max(abs(a - b) for a, b in zip(here[0], there[0])), "devices": names}))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server that answers."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-B", "-c", SERVE, f"127.0.0.1:{port}"], env=child._VARIABLES, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, "the server ended by itself"
            time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(30)


def test_a_model_on_a_server_answers_the_same(server: str) -> None:
    # In a child, because devices that were added stay for the life of a process.
    found = child.run(ANSWER, material.model(material.SYNTH_LLAMA), server, PROMPT, options=("-B",)).json()
    assert any("RPC" in name for name in found["devices"]), found["devices"]
    assert found["same"]
    assert found["apart"] < 1e-2


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(ConnectionError, match="does not answer"):
        Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbose=False, rpc_servers=f"127.0.0.1:{free_port()}")


def test_something_that_is_no_server() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(10)
        address = f"127.0.0.1:{listener.getsockname()[1]}"

        def hang_up() -> None:
            connection, _ = listener.accept()
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(ConnectionError, match=address):
            Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbose=False, rpc_servers=[address])
        thread.join(10)


@pytest.mark.parametrize("address", ["localhost", "a b:1", "host:99999999", "host:0"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbose=False, rpc_servers=address)
