from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.schema import fetching, json_schema_to_gbnf
from tests.package.features.grammar.recognizer import matches


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = {"/schema.json": b'{"$defs": {"a": {"const": 1.10}}, "type": "boolean"}', "/large": b" " * 200, "/bad": b"{"}.get(self.path)
        self.send_response(200 if body else 404)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(params=["requests", "urllib"])
def _client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fetching.import_module

    def chosen(name: str) -> Any:
        if name == "requests":
            raise ImportError(name)
        return found(name)

    if request.param == "urllib":
        monkeypatch.setattr(fetching, "import_module", chosen)
    else:
        pytest.importorskip("requests")


@pytest.mark.usefixtures("_client")
def test_other_documents_are_fetched_when_that_is_allowed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "array", "prefixItems": [{"$ref": f"{address}/schema.json"}, {"$ref": f"{address}/schema.json#/$defs/a"}]}
    assert matches(json_schema_to_gbnf(schema, allow_fetch=True), "[true,1.1]")
    with pytest.raises(UnsupportedSchemaError, match="allow_fetch=True"):
        json_schema_to_gbnf(schema)
    monkeypatch.setattr(fetching, "MAX_BYTES", 100)
    for path in ("/large", "/bad", "/none"):
        with pytest.raises(UnsupportedSchemaError, match="could not be fetched"):
            json_schema_to_gbnf({"$ref": address + path}, allow_fetch=True)


def test_only_http_is_spoken() -> None:
    with pytest.raises(UnsupportedSchemaError, match="no http"):
        json_schema_to_gbnf({"$ref": "file:///etc/passwd"}, allow_fetch=True)
