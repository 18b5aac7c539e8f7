"""Devices of other machines that run ggml's RPC server.

Native code ends the process when a server does not answer, or speaks another version; so each one is greeted here
first, in its own protocol (`rpc_cmd` HELLO: one byte of command, eight of size, then the data, all little-endian).
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from llama_cpp._native.bindings import ggml_backend, ggml_rpc

from . import runtime
from .errors import InvalidArgumentError, RemoteServerError

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable

_ENDPOINT = re.compile(r"(?P<host>[A-Za-z0-9.-]+):(?P<port>\d{1,5})")
_HELLO = 14
_CAPABILITIES = 24
_VERSIONS = struct.Struct("<BBBx")
_GREETING = struct.pack("<BQ", _HELLO, _CAPABILITIES) + bytes(_CAPABILITIES)
_PATIENCE_SECONDS = 5.0
_HIGHEST_PORT = 65535

_added: set[str] = set()


def endpoints(servers: str | Iterable[str] | None) -> tuple[str, ...]:
    """`host:port` of each server, from a list or a text with commas. `InvalidArgumentError` for anything else."""
    texts = servers.split(",") if isinstance(servers, str) else list(servers or ())
    found = tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))
    for text in found:
        match = _ENDPOINT.fullmatch(text)
        if match is None or not 0 < int(match["port"]) <= _HIGHEST_PORT:
            raise InvalidArgumentError(f"an RPC server is named host:port, not {text!r}")
    return found


def add_servers(servers: Iterable[str]) -> None:
    """Make the devices of RPC servers available to the models that are loaded from now on, in this process.

    Raises `RemoteServerError` for one that cannot be reached, speaks another version, or has no devices.
    """
    for endpoint in servers:
        if endpoint in _added:
            continue
        greet(endpoint)
        runtime.start()
        registry = ggml_rpc.ggml_backend_rpc_add_server(endpoint.encode())
        if not registry:
            raise RemoteServerError(f"the RPC server {endpoint} offers no devices")
        ggml_backend.ggml_backend_register(registry)
        _added.add(endpoint)


def greet(endpoint: str, *, patience: float = _PATIENCE_SECONDS) -> None:
    """Ask a server for its version, as the client in native code does. `RemoteServerError` when it would not do."""
    import socket  # noqa: PLC0415 - slow to import, and few programs have a use for it

    host, _, port = endpoint.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=patience) as connection:
            connection.sendall(_GREETING)
            answer = _receive(connection, 8)
            (size,) = struct.unpack("<Q", answer)
            if size != _VERSIONS.size + _CAPABILITIES:
                raise RemoteServerError(f"{endpoint} is no RPC server of a version that this one understands")
            version = _VERSIONS.unpack_from(_receive(connection, size))
    except (OSError, EOFError) as error:
        raise RemoteServerError(f"the RPC server {endpoint} does not answer: {error or type(error).__name__}") from error
    if version[0] != ggml_rpc.RPC_PROTO_MAJOR_VERSION or version[1] > ggml_rpc.RPC_PROTO_MINOR_VERSION:
        ours = f"{ggml_rpc.RPC_PROTO_MAJOR_VERSION}.{ggml_rpc.RPC_PROTO_MINOR_VERSION}"
        raise RemoteServerError(f"the RPC server {endpoint} speaks version {'.'.join(map(str, version))}, this package {ours}")


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError("it closed the connection")
        data += part
    return data
