"""The part of a table's entry that decides what is obtained; its words and where it applies don't."""

from __future__ import annotations

import hashlib

import msgspec

_WORDS = {"summary", "releases", "systems"}


def content_key(entry: msgspec.Struct) -> str:
    """A short key of the folder that `entry` is obtained into."""
    stated = {key: value for key, value in msgspec.to_builtins(entry).items() if key not in _WORDS}
    return hashlib.sha256(msgspec.json.encode(stated, order="sorted")).hexdigest()[:12]
