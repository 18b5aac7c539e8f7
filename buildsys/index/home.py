"""The page for people at the root of the index: which folder to take, the command lines, drivers, checksums."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from buildsys.index.cuda import Driver, gpus, minimum_driver, release_driver
from buildsys.index.distribution import DEFAULT_FOLDER, PROJECT, folder_of
from buildsys.index.entries import FileEntry
from buildsys.index.pages import environment
from buildsys.matrix import BuildRow
from buildsys.matrix.platforms import in_words

GENERATOR = "python -m buildsys index"
PYPI = "https://pypi.org/simple/"
_CUDA_FOLDER = re.compile(r"cu(\d+)(\d)")


@dataclass(frozen=True, kw_only=True)
class OfferedFile:
    """A file of the newest release, in words."""

    filename: str
    href: str
    platform: str
    megabytes: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class CudaNeeds:
    """What a CUDA folder asks of a computer."""

    release: str
    gpus: tuple[str, ...]
    minimum: Driver
    own: Driver | None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One folder as a person sees it; `version` is empty where all of its releases are withdrawn."""

    folder: str
    title: str
    needs: CudaNeeds | None
    version: str
    files: tuple[OfferedFile, ...]
    commands: tuple[tuple[str, str], ...]


def home_page(folders: Mapping[str, Sequence[FileEntry]], rows: Sequence[BuildRow], address: str) -> str:
    """The page; `address` is where the site will be served."""
    choices = [_choice(name, entries, rows, address.rstrip("/") + "/") for name, entries in folders.items() if entries]
    return environment().get_template("home.html").render(generator=GENERATOR, project=PROJECT, choices=choices)


def newest(entries: Sequence[FileEntry]) -> Version | None:
    """The release to show: the highest version that is neither withdrawn nor, if there are others, a pre-release."""
    versions = {entry.version for entry in entries if not entry.yanked}
    return max([version for version in versions if not version.is_prerelease] or versions, default=None)


def title_of(folder: str) -> str:
    """A folder's name in words."""
    if folder == DEFAULT_FOLDER:
        return "CPU, and the GPU of a Mac"
    match = _CUDA_FOLDER.fullmatch(folder)
    return f"NVIDIA GPU, CUDA {match[1]}.{match[2]}" if match else folder


def _choice(name: str, entries: Sequence[FileEntry], rows: Sequence[BuildRow], address: str) -> Choice:
    version = newest(entries)
    files = [entry for entry in entries if entry.version == version and not entry.yanked]
    return Choice(
        folder=name,
        title=title_of(name),
        needs=_needs(name, rows),
        version=str(version or ""),
        files=tuple(_offered(entry, name) for entry in sorted(files, key=lambda entry: entry.filename)),
        commands=tuple(_commands(name, str(version), f"{address}{name}/")) if version else (),
    )


def _needs(folder: str, rows: Sequence[BuildRow]) -> CudaNeeds | None:
    cuda = next((row.cuda for row in rows if row.cuda and folder_of(row) == folder), None)
    if cuda is None:
        return None
    return CudaNeeds(release=cuda.toolkit, gpus=gpus(cuda), minimum=minimum_driver(cuda.toolkit), own=release_driver(cuda.toolkit))


def _offered(entry: FileEntry, folder: str) -> OfferedFile:
    platform = "source code"
    if entry.filename.endswith(".whl"):
        platform = in_words(min(tag.platform for tag in parse_wheel_filename(entry.filename)[3]))
    return OfferedFile(
        filename=entry.filename,
        href=f"{folder}/{PROJECT}/{entry.url}" if entry.beside else entry.url,
        platform=platform,
        megabytes=f"{entry.size / 1e6:.1f}",
        sha256=entry.sha256,
    )


def _commands(folder: str, version: str, url: str) -> list[tuple[str, str]]:
    """Command lines by the name of the tool.

    pip asks all indexes and takes the highest version, whoever published it; the exact one holds it to this index.
    uv takes a package from the first index that has it, and an explicit index serves only what names it.
    """
    requirement = f"{PROJECT}=={version}"
    project = (
        f'[project]\ndependencies = ["{requirement}"]\n\n[tool.uv.sources]\n{PROJECT} = {{ index = "{PROJECT}-{folder}" }}\n\n'
        f'[[tool.uv.index]]\nname = "{PROJECT}-{folder}"\nurl = "{url}"\nexplicit = true'
    )
    return [
        ("pip", f'python -m pip install "{requirement}" --index-url {url} --extra-index-url {PYPI}'),
        ("uv", f'uv pip install "{requirement}" --index {url}'),
        ("pyproject.toml of a uv project", project),
    ]
