"""A loopback file server that misbehaves on demand, for tests of downloads."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Served:
    """What a path answers with, and how."""

    content: bytes
    etag: str = '"one"'
    ignore_range: bool = False
    hide_length: bool = False
    wrong_range: bool = False
    cuts: list[int] = field(default_factory=list)  # bytes sent before each successive cut
    statuses: list[int] = field(default_factory=list)  # error statuses to answer first
    content_type: str = "application/octet-stream"


@dataclass
class FileServer:
    """The running server: `files` by path, and the headers of every request that came."""

    url: str
    files: dict[str, Served]
    requests: list[dict[str, str]]

    def ranges(self) -> list[str]:
        return [request.get("Range", "") for request in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files: ClassVar[dict[str, Served]]
    seen: ClassVar[list[dict[str, str]]]

    def do_GET(self) -> None:
        self.seen.append(dict(self.headers.items()))
        served = self.files.get(self.path)
        if served is None:
            self._error(404)
        elif served.statuses:
            self._error(served.statuses.pop(0))
        else:
            self._answer(served)

    def _error(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self, served: Served) -> None:
        content, total = served.content, len(served.content)
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        condition = self.headers.get("If-Range", served.etag)
        partial = "Range" in self.headers and not served.ignore_range and condition == served.etag
        if partial and start >= total:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{total}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = content[start:] if partial else content
        self.send_response(206 if partial else 200)
        self.send_header("Content-Type", served.content_type)
        if partial:
            first = start + 1 if served.wrong_range else start
            self.send_header("Content-Range", f"bytes {first}-{total - 1}/{total}")
        if served.etag:
            self.send_header("ETag", served.etag)
        if not served.hide_length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cut = served.cuts.pop(0) if served.cuts else None
        self.wfile.write(body[:cut])
        self.close_connection = cut is not None or served.hide_length

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        del format, args


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client may hang up on what it refuses
            super().handle_error(request, client_address)


@contextmanager
def file_server() -> Iterator[FileServer]:
    """Serve on a free port of the loopback device."""
    files: dict[str, Served] = {}
    seen: list[dict[str, str]] = []
    handler = type("Handler", (_Handler,), {"files": files, "seen": seen})
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield FileServer(url=f"http://127.0.0.1:{server.server_port}", files=files, requests=seen)
        finally:
            server.shutdown()
            thread.join()
