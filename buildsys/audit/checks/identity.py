"""Checks of what a wheel calls itself: its names, its version, its tags."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from packaging.tags import parse_tag
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from buildsys.audit.policy import Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel


def names(wheel: Wheel, policy: Policy) -> Outcome:
    """File name, dist-info folder, METADATA, WHEEL and `__version__` say the same."""
    return Outcome(detail=f"{policy.contents.distribution} {wheel.version}", findings=tuple(_names(wheel, policy)))


def _names(wheel: Wheel, policy: Policy) -> Iterator[str]:
    distribution = policy.contents.distribution
    expected = f"{distribution}-{wheel.version}"
    if not wheel.path.name.startswith(f"{expected}-"):
        yield f"file name {wheel.path.name} does not begin with {expected}-"
    folders = sorted({name.split("/")[0] for name in wheel.names if ".dist-info" in name.split("/")[0]})
    if folders != [f"{expected}.dist-info"]:
        yield f"dist-info folders are {folders}, expected {expected}.dist-info"
    metadata = wheel.headers("METADATA")
    if canonicalize_name(str(metadata["Name"])) != canonicalize_name(distribution):
        yield f"METADATA says Name: {metadata['Name']}"
    if not _same_version(str(metadata["Version"]), wheel.version):
        yield f"METADATA says Version: {metadata['Version']}, the file name {wheel.version}"
    tags = frozenset(tag for line in wheel.headers("WHEEL").get_all("Tag", []) for tag in parse_tag(line))
    if tags != wheel.tags:
        yield f"WHEEL says Tag: {_shown(tags)}, the file name {_shown(wheel.tags)}"
    declared = _declared_version(wheel.read(f"{policy.contents.package}/_version.py").decode())
    if declared is None:
        yield "_version.py assigns __version__ no plain string"
    elif not _same_version(declared, wheel.version):
        yield f"__version__ is {declared}, the file name says {wheel.version}"


def tags(wheel: Wheel, _policy: Policy) -> Outcome:
    """A ctypes package is a platform wheel for every Python: `py3-none-<platform>`, not pure."""
    findings = [f"tag {tag} is not py3-none-…" for tag in sorted(wheel.tags, key=str) if (tag.interpreter, tag.abi) != ("py3", "none")]
    purelib = wheel.headers("WHEEL")["Root-Is-Purelib"]
    if purelib != "false":
        findings.append(f"WHEEL says Root-Is-Purelib: {purelib}; a wheel with native libraries is not pure")
    return Outcome(detail=_shown(wheel.tags), findings=tuple(findings))


def _shown(tags: frozenset[object]) -> str:
    return ", ".join(sorted(map(str, tags)))


def _same_version(text: str, version: Version) -> bool:
    try:
        return Version(text) == version
    except InvalidVersion:
        return False


def _declared_version(source: str) -> str | None:
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        named = any(isinstance(target, ast.Name) and target.id == "__version__" for target in targets)
        if named and isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return None
