"""Platform tags in the words of people who choose a wheel."""

from __future__ import annotations

import re

_GLIBC = re.compile(r"manylinux_(\d+)_(\d+)_(\w+)")
_MACOS = re.compile(r"macosx_(\d+)_(\d+)_(\w+)")
_WINDOWS = {"win_amd64": "x86_64", "win_arm64": "arm64"}


def in_words(tag: str) -> str:
    """What a computer must be for a platform tag, such as `Linux x86_64, glibc 2.28 or newer`; an unknown tag is its own words."""
    if match := _GLIBC.fullmatch(tag):
        return f"Linux {match[3]}, glibc {match[1]}.{match[2]} or newer"
    if match := _MACOS.fullmatch(tag):
        chip = "Apple silicon" if match[3] == "arm64" else "Intel"
        return f"macOS {match[1]} or newer, {chip}"
    return f"Windows {_WINDOWS[tag]}" if tag in _WINDOWS else tag
