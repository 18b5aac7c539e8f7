"""Reads what the bill of materials has to know from a finished wheel, and puts the document into it."""

from __future__ import annotations

import hashlib
import re
import zipfile
from email.message import Message
from email.parser import BytesParser
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

from buildsys.errors import SbomError
from buildsys.matrix import BuildRow
from buildsys.reproduce.archive import seal
from buildsys.reproduce.dates import source_date_epoch
from buildsys.sbom.bom import WheelFacts, document, invalidity
from buildsys.sbom.catalogue import components_of
from buildsys.sbom.tools import read_build_tools

SBOM_PATH = "sboms/llama_cpp_python.cdx.json"
"""Where the document lies in the dist-info folder (PEP 770)."""

_LIBRARY = re.compile(r"(?:lib)?(?P<bare>.+?)\.(?:so(?:\.[\d.]+)?|dll|dylib)")


def add_sbom(row: BuildRow, wheel: Path, native: Path) -> Path:
    """Put the bill of materials into `wheel`, a repaired wheel of `row` made from `native`, and seal it; returns `wheel`.

    The document states the hashes of the libraries as they are now: nothing may change them afterwards.

    Raises:
        SbomError: a library or a version is of unknown origin, or the document would be invalid.
    """
    tools = read_build_tools(native)
    bundled = components_of(row, tools)
    facts = wheel_facts(wheel)
    strangers = [bare for bare in sorted(facts.bare_names.values()) if not any(component.is_in(bare) for component in bundled)]
    if strangers:
        message = f"{wheel.name}: no component of buildsys/sbom.toml is in {', '.join(strangers)}"
        raise SbomError(message, hint="add where that code comes from, or the toolchain to the entry that has it already")
    epoch = source_date_epoch()
    text = document(facts, bundled, tools, epoch=epoch)
    problem = invalidity(text)
    if problem is not None:
        raise SbomError(f"{wheel.name}: the bill of materials would be no valid CycloneDX: {problem}", hint="correct buildsys/sbom.toml")
    seal(wheel, epoch=epoch, added={f"{facts.dist_info}/{SBOM_PATH}": text.encode()})
    return wheel


def wheel_facts(wheel: Path) -> WheelFacts:
    """What the document says of the wheel itself."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        dist_info = next(name.split("/")[0] for name in names if name.endswith(".dist-info/METADATA"))
        headers = _headers(archive, f"{dist_info}/METADATA")
        generator, _, version = str(_headers(archive, f"{dist_info}/WHEEL")["Generator"]).rpartition(" ")
        bare_names = {name: bare for name in names if (bare := bare_name(name))}
        requirements = [Requirement(text) for text in headers.get_all("Requires-Dist", [])]
        licences = f"{dist_info}/licenses/"
        return WheelFacts(
            name=str(headers["Name"]),
            version=str(headers["Version"]),
            file_name=wheel.name,
            dist_info=dist_info,
            license=str(headers["License-Expression"]),
            requires=tuple(requirement for requirement in requirements if "extra" not in str(requirement.marker or "")),
            libraries={name: hashlib.sha256(archive.read(name)).hexdigest() for name in bare_names},
            bare_names=bare_names,
            licence_files=tuple(sorted(name.removeprefix(licences) for name in names if name.startswith(licences))),
            generator=(generator, version),
        )


def bare_name(path: str) -> str | None:
    """`ggml-base` for `llama_cpp/lib/libggml-base.so`, whatever the system; None for what is no library by its name."""
    match = _LIBRARY.fullmatch(PurePosixPath(path).name)
    return match["bare"] if match else None


def _headers(archive: zipfile.ZipFile, name: str) -> Message:
    return BytesParser().parsebytes(archive.read(name))
