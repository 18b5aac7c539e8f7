"""Schemas from other places, only where the caller allowed it, within limits of size and time."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 30
MAX_BYTES = 8 << 20
_CHUNK = 1 << 16


def parse(text: str | bytes) -> Any:
    """JSON with exact decimals. ValueError for what is none, NaN and infinities included."""
    return json.loads(text, parse_float=Decimal, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def fetch(url: str) -> Any:
    """The document at an http(s) address. OSError and ValueError say why there is none."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"{url} is no http(s) address")
    try:
        requests = import_module("requests")
    except ImportError:
        return parse(_opened(url))
    answer = requests.get(url, timeout=TIMEOUT_SECONDS)
    answer.raise_for_status()
    content = getattr(answer, "content", None)
    if not isinstance(content, bytes):
        return answer.json()
    if len(content) > MAX_BYTES:
        raise ValueError(f"{url} is larger than {MAX_BYTES} bytes")
    return parse(content)


def _opened(url: str) -> bytes:
    started = time.monotonic()
    received = b""
    # Networking is slow to import, and few conversions need it.
    with import_module("urllib.request").urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
        while part := answer.read(_CHUNK):
            received += part
            if len(received) > MAX_BYTES:
                raise ValueError(f"{url} is larger than {MAX_BYTES} bytes")
            if time.monotonic() - started > TIMEOUT_SECONDS:
                raise ValueError(f"{url} took longer than {TIMEOUT_SECONDS} seconds")
    return received
