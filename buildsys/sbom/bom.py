"""Builds the CycloneDX document of one wheel. Nothing in it is random: the same wheel gives the same text."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.lifecycle import LifecyclePhase, PredefinedLifecycle
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement

from buildsys.sbom.catalogue import BundledComponent
from buildsys.sbom.tools import BuildTools

SCHEMA = SchemaVersion.V1_6
LICENCE_FILE = "llama_cpp_python:licence-file"
REQUIREMENT = "llama_cpp_python:requirement"

_LICENSES = LicenseFactory()


@dataclass(frozen=True, kw_only=True)
class WheelFacts:
    """What the document says of the wheel itself.

    Attributes:
        file_name: the wheel's.
        dist_info: the name of its dist-info folder.
        license: SPDX expression of the project's own code.
        requires: requirements in METADATA, those of extras left out.
        libraries: path in the wheel → SHA-256 of each native file.
        bare_names: path in the wheel → the name that `sbom.toml` knows the library by.
        licence_files: the files of dist-info/licenses.
        generator: what wrote the wheel, as WHEEL says: name and version.
    """

    name: str
    version: str
    file_name: str
    dist_info: str
    license: str
    requires: tuple[Requirement, ...]
    libraries: dict[str, str]
    bare_names: dict[str, str]
    licence_files: tuple[str, ...]
    generator: tuple[str, str]


def document(facts: WheelFacts, bundled: Sequence[BundledComponent], tools: BuildTools, *, epoch: int) -> str:
    """The document, as JSON text that ends with a line break."""
    root = Component(
        name=facts.name,
        version=facts.version,
        type=ComponentType.LIBRARY,
        bom_ref="wheel",
        licenses=[_LICENSES.make_from_string(facts.license)],
        purl=PackageURL("pypi", None, facts.name.lower().replace("_", "-"), facts.version, {"file_name": facts.file_name}),
    )
    files = {path: _file(path, digest) for path, digest in sorted(facts.libraries.items())}
    inside = {component: _bundled(component, facts.licence_files) for component in bundled}
    required = [_required(requirement) for requirement in facts.requires]
    bom = Bom(
        serial_number=_serial_number(facts),
        components=[*files.values(), *inside.values(), *required, *_made_with(facts, tools)],
        metadata=BomMetaData(
            component=root,
            timestamp=dt.datetime.fromtimestamp(epoch, dt.timezone.utc),
            lifecycles=[PredefinedLifecycle(LifecyclePhase.BUILD)],
        ),
    )
    bom.metadata.tools.components.add(_tool("cyclonedx-python-lib", metadata.version("cyclonedx-python-lib"), ComponentType.LIBRARY))
    bom.register_dependency(root, [*files.values(), *required])
    for path, file in files.items():
        bom.register_dependency(file, [inside[component] for component in bundled if component.is_in(facts.bare_names[path])])
    return make_outputter(bom, OutputFormat.JSON, SCHEMA).output_as_string(indent=2) + "\n"


def invalidity(text: str) -> str | None:
    """What CycloneDX's schema has against `text`, None when it is a valid document."""
    error = JsonStrictValidator(SCHEMA).validate_str(text)
    return None if error is None else str(error).partition("\n")[0]


def _file(path: str, digest: str) -> Component:
    return Component(
        name=path, type=ComponentType.FILE, bom_ref=f"file:{path}", hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)]
    )


def _bundled(component: BundledComponent, licence_files: Sequence[str]) -> Component:
    return Component(
        name=component.name,
        version=component.version,
        type=ComponentType.LIBRARY,
        bom_ref=f"bundled:{component.name}",
        scope=ComponentScope.REQUIRED,
        licenses=[_LICENSES.make_from_string(component.license)],
        purl=PackageURL.from_string(component.purl),
        properties=[Property(name=LICENCE_FILE, value=name) for name in licence_files if component.owns(name)],
    )


def _required(requirement: Requirement) -> Component:
    """A package that the installer brings along: whichever version, so none is stated."""
    return Component(
        name=requirement.name,
        type=ComponentType.LIBRARY,
        bom_ref=f"required:{requirement.name}",
        scope=ComponentScope.REQUIRED,
        purl=PackageURL("pypi", None, requirement.name.lower().replace("_", "-")),
        properties=[Property(name=REQUIREMENT, value=str(requirement))],
    )


def _made_with(facts: WheelFacts, tools: BuildTools) -> Iterator[Component]:
    """What made the wheel and is not in it: components that the schema calls excluded."""
    programs = [*tools.others.items(), *((compiler.id, compiler.version) for compiler in tools.compilers.values()), facts.generator]
    for name, version in dict.fromkeys(programs):
        yield _tool(name, version)
    for name, version in tools.packages.items():
        purl = PackageURL("pypi", None, name.lower().replace("_", "-"), version)
        yield _tool(name, version, purl=purl)


def _tool(name: str, version: str, kind: ComponentType = ComponentType.APPLICATION, purl: PackageURL | None = None) -> Component:
    return Component(name=name, version=version, type=kind, bom_ref=f"tool:{name}@{version}", scope=ComponentScope.EXCLUDED, purl=purl)


def _serial_number(facts: WheelFacts) -> uuid.UUID:
    content = "\n".join([facts.file_name, *(f"{path} {digest}" for path, digest in sorted(facts.libraries.items()))])
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{facts.file_name}#{hashlib.sha256(content.encode()).hexdigest()}")
