"""The bill of materials that a wheel carries: valid, and telling the truth about the files and licences beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from buildsys.audit.policy import Policy, matches
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel
from buildsys.sbom.bom import LICENCE_FILE, REQUIREMENT, invalidity
from buildsys.sbom.wheel import SBOM_PATH


class _Hash(msgspec.Struct, frozen=True):
    alg: str
    content: str


class _Property(msgspec.Struct, frozen=True):
    name: str
    value: str


class _Component(msgspec.Struct, frozen=True):
    name: str
    type: str
    version: str = ""
    scope: str = ""
    licenses: tuple[msgspec.Raw, ...] = ()
    hashes: tuple[_Hash, ...] = ()
    properties: tuple[_Property, ...] = ()

    def stated(self, name: str) -> set[str]:
        """The values of the properties of that name."""
        return {each.value for each in self.properties if each.name == name}


class _Metadata(msgspec.Struct, frozen=True):
    component: _Component


class _Document(msgspec.Struct, frozen=True):
    metadata: _Metadata
    components: tuple[_Component, ...]


def materials(wheel: Wheel, policy: Policy) -> Outcome:
    """The bill of materials is valid CycloneDX, hashes each native file as it is, and names each licence and requirement."""
    name = f"{wheel.dist_info}/{SBOM_PATH}"
    text = wheel.read(name).decode()
    problem = invalidity(text)
    if problem is not None:
        return Outcome(detail=name, findings=(f"{name} is not valid: {problem}",))
    document = msgspec.json.decode(text, type=_Document)
    findings = (
        *_identity(wheel, document.metadata.component),
        *_files(wheel, document),
        *_licences(wheel, policy, document),
        *_requirements(wheel, document),
    )
    return Outcome(detail=f"{len(document.components)} components", findings=findings)


def _identity(wheel: Wheel, subject: _Component) -> Iterator[str]:
    if (canonicalize_name(subject.name), subject.version) != (wheel.distribution, str(wheel.version)):
        yield f"the bill of materials is that of {subject.name} {subject.version}"


def _files(wheel: Wheel, document: _Document) -> Iterator[str]:
    stated = {component.name: component for component in document.components if component.type == "file"}
    present = {image.path for image in wheel.images} | wheel.unreadable.keys()
    yield from (f"the bill of materials lists {name}, which the wheel does not have" for name in sorted(stated.keys() - present))
    for name in sorted(present):
        digest = hashlib.sha256(wheel.read(name)).hexdigest()
        if name not in stated:
            yield f"{name} is not in the bill of materials"
        elif _Hash(alg="SHA-256", content=digest) not in stated[name].hashes:
            yield f"the bill of materials has another hash for {name}"


def _licences(wheel: Wheel, policy: Policy, document: _Document) -> Iterator[str]:
    prefix = f"{wheel.dist_info}/licenses/"
    present = {name.removeprefix(prefix) for name in wheel.names if name.startswith(prefix)}
    named: set[str] = set()
    for component in document.components:
        if component.type != "library" or component.scope == "excluded" or component.stated(REQUIREMENT):
            continue
        files = component.stated(LICENCE_FILE)
        named |= files
        if not component.licenses or not files & present:
            yield f"the bill of materials says of {component.name} no licence, or none that is in {prefix}"
        yield from (f"the bill of materials names {file}, which is not in {prefix}" for file in sorted(files - present))
    for licence in policy.licence:
        if not any(matches(file, licence.files) for file in named):
            yield f"no component of the bill of materials is under the licence of {licence.component}"


def _requirements(wheel: Wheel, document: _Document) -> Iterator[str]:
    stated = {canonicalize_name(component.name) for component in document.components if component.stated(REQUIREMENT)}
    required = [Requirement(text) for text in wheel.headers("METADATA").get_all("Requires-Dist", [])]
    for requirement in required:
        if "extra" not in str(requirement.marker or "") and canonicalize_name(requirement.name) not in stated:
            yield f"the bill of materials lacks {requirement}, which METADATA requires"
