"""A plain static web server, as `python -m http.server` is one, and one that answers by the Accept header."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

JSON = "application/vnd.pypi.simple.v1+json"


@dataclass
class StaticServer:
    """The running server, and the paths that were asked for."""

    url: str
    paths: list[str] = field(default_factory=list)

    def asked_for(self, suffix: str) -> list[str]:
        return [unquote(path) for path in self.paths if path.endswith(suffix)]


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *args: Any, paths: list[str], negotiating: bool, **kwargs: Any) -> None:
        self._paths = paths
        self._negotiating = negotiating
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        self._paths.append(self.path)
        if self._negotiating and self.path.endswith("/") and JSON in self.headers.get("Accept", ""):
            self.path += "index.json"
        super().do_GET()

    def guess_type(self, path: Any) -> str:
        if self._negotiating and str(path).endswith("index.json"):
            return JSON
        return super().guess_type(path)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        del format, args


@contextmanager
def static_server(folder: Path, *, negotiating: bool = False) -> Iterator[StaticServer]:
    """Serve `folder` on a free port of the loopback device."""
    paths: list[str] = []
    handler = functools.partial(_Handler, paths=paths, negotiating=negotiating, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield StaticServer(url=f"http://127.0.0.1:{server.server_port}", paths=paths)
        finally:
            server.shutdown()
            thread.join()
