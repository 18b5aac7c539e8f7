"""The files of a release: one wheel per row of the matrix and a source distribution, sorted by where they are published."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename

from buildsys.download import sha256_of
from buildsys.errors import WheelError
from buildsys.matrix import BuildRow
from buildsys.matrix.wheels import row_of_wheel
from buildsys.pipeline.wheel import expected_version
from buildsys.project import package_version
from buildsys.sbom.catalogue import unpublishable
from buildsys.sbom.wheel import SBOM_PATH

CHECKSUMS = "SHA256SUMS"
PROJECT = canonicalize_name("llama_cpp_python")


class IncompleteReleaseError(WheelError):
    """A file of the release is missing, is there twice, or is another version's."""


class UnpublishableError(WheelError):
    """A wheel has something in it that this project does not publish."""


class _Component(msgspec.Struct, frozen=True):
    name: str = ""


class _Materials(msgspec.Struct, frozen=True):
    components: tuple[_Component, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Collected:
    """The folders that :func:`collect` filled: everything, and what may go to the package index."""

    assets: Path
    package_index: Path
    sboms: Path


def collect(dist: Path, out: Path, rows: Sequence[BuildRow]) -> Collected:
    """Sort the files of `dist` into `out`: `assets` takes all, `package-index` what PyPI accepts, `sboms` one per row.

    PyPI takes no local versions, so CUDA wheels are on the project's own index alone.

    Raises:
        IncompleteReleaseError: the wheels and the source distribution are not exactly those of this version.
        UnpublishableError: by its bill of materials, a wheel has a component that must not be passed on.
    """
    wheels = _wheels(dist, rows)
    sdist = _sdist(dist)
    _refuse_strangers(dist, [*wheels.values(), sdist])
    sboms = {identifier: _sbom(wheel) for identifier, wheel in wheels.items()}
    for identifier, text in sboms.items():
        _refuse_unpublishable(wheels[identifier], text)
    folders = Collected(assets=out / "assets", package_index=out / "package-index", sboms=out / "sboms")
    for folder in (folders.assets, folders.package_index, folders.sboms):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    by_row = {row.identifier: row for row in rows}
    for identifier, wheel in wheels.items():
        shutil.copy2(wheel, folders.assets)
        if not by_row[identifier].local_version:
            shutil.copy2(wheel, folders.package_index)
        sbom = folders.sboms / f"{identifier}.cdx.json"
        sbom.write_bytes(sboms[identifier])
        shutil.copy2(sbom, folders.assets / f"{wheel.stem}.cdx.json")
    shutil.copy2(sdist, folders.assets)
    shutil.copy2(sdist, folders.package_index)
    return folders


def write_checksums(folder: Path) -> Path:
    """Write `SHA256SUMS` over all files of `folder`, as `sha256sum --check` reads it."""
    path = folder / CHECKSUMS
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name != CHECKSUMS)
    path.write_text("".join(f"{sha256_of(file)}  {file.name}\n" for file in files), encoding="utf-8", newline="\n")
    return path


def _wheels(dist: Path, rows: Sequence[BuildRow]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for wheel in sorted(dist.glob("*.whl")):
        row = row_of_wheel(wheel, rows)
        if row.identifier in found:
            raise IncompleteReleaseError(f"{row.identifier} has two wheels: {found[row.identifier].name}, {wheel.name}", hint="keep one")
        if not wheel.name.startswith(f"llama_cpp_python-{expected_version(row)}-py3-none-"):
            raise IncompleteReleaseError(f"{wheel.name} is not of version {expected_version(row)}", hint="build it anew from the tag")
        found[row.identifier] = wheel
    missing = [row.identifier for row in rows if row.identifier not in found]
    if missing:
        raise IncompleteReleaseError(
            f"no wheel of {', '.join(missing)} in {dist}", hint="run the failed builds again; a release has all rows"
        )
    return found


def _sdist(dist: Path) -> Path:
    found = sorted(dist.glob("*.tar.gz"))
    if len(found) != 1:
        raise IncompleteReleaseError(f"expected one source distribution in {dist}, found {len(found)}", hint="make it with `nox -s sdist`")
    try:
        name, version = parse_sdist_filename(found[0].name)
    except InvalidSdistFilename as error:
        raise IncompleteReleaseError(f"{found[0].name}: {error}", hint="make it with `nox -s sdist`") from error
    if name != PROJECT or str(version) != package_version():
        raise IncompleteReleaseError(f"{found[0].name} is not of {PROJECT} {package_version()}", hint="make it anew from the tag")
    return found[0]


def _refuse_strangers(dist: Path, wanted: Sequence[Path]) -> None:
    strangers = sorted({path.name for path in dist.iterdir()} - {path.name for path in wanted})
    if strangers:
        raise IncompleteReleaseError(f"{dist} also holds {', '.join(strangers)}", hint="a release has one file per row and the sources")


def _refuse_unpublishable(wheel: Path, sbom: bytes) -> None:
    reasons, named = unpublishable(), {component.name for component in msgspec.json.decode(sbom, type=_Materials).components}
    for name in sorted(named & reasons.keys()):
        hint = "release what the pipeline builds; this one was made to be proved"
        raise UnpublishableError(f"{wheel.name} has {name} in it: {reasons[name]}", hint=hint)


def _sbom(wheel: Path) -> bytes:
    """The wheel's own software bill of materials, byte for byte."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(f".dist-info/{SBOM_PATH}")]
        if len(names) != 1:
            raise IncompleteReleaseError(f"{wheel.name} has no bill of materials", hint="`python -m buildsys sbom` puts it in")
        return archive.read(names[0])
