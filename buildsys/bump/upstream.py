"""What a llama.cpp checkout has beside its headers, read from its build files: CPU variants, backends, libraries, third-party code."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# Build files whose libraries may end up in a wheel.
_LIBRARY_FILES = ("ggml/src", "src", "common", "tools/mtmd")
_OPTION_FILES = ("CMakeLists.txt", "ggml/CMakeLists.txt")
_INSIDE = ("STATIC", "INTERFACE", "IMPORTED", "ALIAS")  # such a library is no file of its own

_BRANCH = re.compile(r"^\s*(if|elseif|else|endif)\s*\((.*)\)")
_VARIANT = re.compile(r"^\s*ggml_add_cpu_backend_variant\(\s*([\w.]+)")
_BACKEND = re.compile(r"^\s*ggml_add_backend\(\s*(\w+)\s*\)", re.MULTILINE)
_TARGET = re.compile(r"^\s*set\(\s*TARGET\s+([\w-]+)\s*\)|^\s*add_library\(\s*([\w${}:-]+)\s*(\w*)", re.MULTILINE)
_OPTION = re.compile(r"^\s*option\(\s*(\w+)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Upstream:
    """One checkout.

    Attributes:
        variants: CPU variants by platform family (:func:`family`).
        backends: names of ggml's backends.
        libraries: shared libraries that its build makes.
        options: build options.
        third_party: hash of each folder of bundled code, and of each licence text, by path.
    """

    variants: Mapping[str, tuple[str, ...]]
    backends: frozenset[str]
    libraries: frozenset[str]
    options: frozenset[str]
    third_party: Mapping[str, str]


def read_upstream(root: Path) -> Upstream:
    """Read the checkout at `root`; a build file that it hasn't counts as empty."""
    ggml = _text(root / "ggml" / "src" / "CMakeLists.txt")
    return Upstream(
        variants=cpu_variants(ggml),
        backends=frozenset(_BACKEND.findall(ggml)),
        libraries=frozenset(name for folder in _LIBRARY_FILES for name in _libraries(_text(root / folder / "CMakeLists.txt"))),
        options=frozenset(name for file in _OPTION_FILES for name in _OPTION.findall(_text(root / file))),
        third_party=dict(_third_party(root)),
    )


def cpu_variants(text: str) -> dict[str, tuple[str, ...]]:
    """The variants that ggml's build file adds, by the family of platforms whose branch they are in."""
    branches: list[str] = []
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if branch := _BRANCH.match(line):
            _enter(branches, branch[1], branch[2])
        elif variant := _VARIANT.match(line):
            found.setdefault(family(branches), []).append(variant[1])
    return {name: tuple(dict.fromkeys(variants)) for name, variants in found.items()}


def _enter(branches: list[str], word: str, condition: str) -> None:
    if word != "if" and branches:
        branches.pop()
    if word != "endif":
        branches.append(condition if word != "else" else "")


def family(conditions: list[str]) -> str:
    """`x86`, `ARM Linux`, `ARM Apple`, … of nested CMake conditions; empty for processors that no wheel is made for."""
    together = " ".join(conditions)
    if '"x86"' in together:
        return "x86"
    if '"ARM"' not in together:
        return ""
    systems = {'"Linux"': "Linux", '"Android"': "Android", "APPLE": "Apple"}
    return next((f"ARM {name}" for mark, name in systems.items() if mark in together), "")


def _libraries(text: str) -> Iterator[str]:
    target = ""
    for match in _TARGET.finditer(text):
        variable, name, form = match.groups()
        if variable:
            target = variable
        elif form not in _INSIDE:
            named = name.replace("${TARGET}", target)
            if "$" not in named:
                yield named


def _third_party(root: Path) -> Iterator[tuple[str, str]]:
    """Folders below vendor/ that hold more than a build file, and the licence texts."""
    folders = sorted({path.parent for path in (root / "vendor").rglob("*") if path.is_file() and path.name != "CMakeLists.txt"})
    for folder in folders:
        files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name != "CMakeLists.txt"]
        yield folder.relative_to(root).as_posix(), _digest(*files)
    for path in [root / "LICENSE", *sorted((root / "licenses").glob("*")), *sorted((root / "vendor").rglob("LICENSE*"))]:
        if path.is_file():
            yield path.relative_to(root).as_posix(), _digest(path)


def _digest(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
