"""Greeting RPC servers before native code does: a server that would end the process is an error."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from llama_cpp._engine.errors import InvalidArgumentError, RemoteServerError
from llama_cpp._engine.remote import endpoints, greet
from llama_cpp._native.bindings import ggml_rpc

VERSION = (ggml_rpc.RPC_PROTO_MAJOR_VERSION, ggml_rpc.RPC_PROTO_MINOR_VERSION, ggml_rpc.RPC_PROTO_PATCH_VERSION)


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that reads one greeting and answers it."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                assert connection.recv(64) == struct.pack("<BQ", 14, 24) + bytes(24)
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def hello(major: int, minor: int, patch: int) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(struct.pack("<QBBBx", 28, major, minor, patch) + bytes(24))


def test_a_server_of_this_version() -> None:
    with server(hello(*VERSION)) as endpoint:
        greet(endpoint)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (hello(VERSION[0] + 1, 0, 0), "speaks version"),
        (hello(VERSION[0], VERSION[1] + 1, 0), "speaks version"),
        (lambda connection: connection.sendall(struct.pack("<Q", 5) + b"hello"), "no RPC server"),
        (lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request"), "no RPC server"),
        (lambda _: None, "does not answer"),
    ],
)
def test_servers_that_would_not_do(answer: Any, message: str) -> None:
    with server(answer) as endpoint, pytest.raises(RemoteServerError, match=message):
        greet(endpoint)


def test_nobody_there() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(ConnectionError, match="does not answer"):
        greet(f"127.0.0.1:{port}")


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening, pytest.raises(RemoteServerError, match="does not answer"):
        greet(f"127.0.0.1:{listening.getsockname()[1]}", patience=0.1)


@pytest.mark.parametrize(
    ("given", "found"),
    [(None, ()), ("", ()), ("a:1, b.c:2,a:1", ("a:1", "b.c:2")), (["a:1"], ("a:1",)), (("10.0.0.1:50052",), ("10.0.0.1:50052",))],
)
def test_endpoints(given: Any, found: tuple[str, ...]) -> None:
    assert endpoints(given) == found


@pytest.mark.parametrize("given", ["host", "host:", ":1", "host:99999", "host:0", "[::1]:5", "a b:1", "http://h:1"])
def test_endpoints_that_native_code_could_not_read(given: str) -> None:
    with pytest.raises(InvalidArgumentError, match="host:port"):
        endpoints(given)
