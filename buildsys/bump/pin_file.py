"""Reading the committed pin and writing a new one into `pin.toml`, comments kept."""

from __future__ import annotations

from pathlib import Path

import msgspec
import tomlkit
from packaging.requirements import InvalidRequirement, Requirement

from buildsys.errors import BumpError, ConfigurationError
from buildsys.project import PIN, Pin, SourceArchive
from buildsys.pypi import locate
from buildsys.tables import parse_toml

GIT_DIRECTORY = ".git/modules/vendor/llama.cpp"


def with_archive(commit: str, repository: str, requirement: str) -> Pin:
    """The pin of `commit`; `requirement` (`NAME==VERSION`) names a source distribution that carries it, or is empty.

    Raises:
        BumpError: no full commit id, or no exact version.
        DownloadError: the package index has no such file.
    """
    try:
        archive = find_archive(requirement) if requirement else None
        return Pin(commit=commit, repository=repository, archive=archive)
    except ValueError as error:
        raise BumpError(f"{commit} is no commit id: {error}", hint="`git rev-parse` gives the whole of it") from error


def find_archive(requirement: str) -> SourceArchive:
    """The source distribution of exactly that version, with the hash that the package index states for it."""
    try:
        parsed = Requirement(requirement)
        (version,) = [each.version for each in parsed.specifier if each.operator == "=="]
    except (InvalidRequirement, ValueError) as error:
        raise BumpError(f"--archive {requirement} is not NAME==VERSION", hint="an example: llama-cpp-python==0.3.35") from error
    filename = f"{parsed.name.replace('-', '_')}-{version}.tar.gz"
    found = locate(parsed.name, filename)
    if found.sha256 is None:
        raise BumpError(f"the package index states no hash for {filename}", hint="name an index that does, as pip's index-url")
    return SourceArchive(project=parsed.name, filename=filename, sha256=found.sha256, git_directory=GIT_DIRECTORY)


def parse_pin(text: str, origin: str) -> Pin:
    """A pin from the text of a `pin.toml`, wherever it came from."""
    return parse_toml(text, Pin, origin)


def write_pin(pin: Pin, path: Path = PIN) -> None:
    """Change the values of `path` that differ, and check that it then reads as `pin`."""
    text = path.read_text(encoding="utf-8")
    document = tomlkit.parse(text)
    for key, value in msgspec.to_builtins(pin).items():
        if value is None:
            document.pop(key, None)
        elif isinstance(value, dict):
            table = document.setdefault(key, tomlkit.table())
            table.update({name: each for name, each in value.items() if table.get(name) != each})
        elif document.get(key) != value:
            document[key] = value
    written = tomlkit.dumps(document)
    if parse_pin(written, str(path)) != pin:
        raise ConfigurationError(f"{path} could not be changed to {pin.commit}", hint="set commit and archive in it by hand")
    if written != text:
        path.write_text(written, encoding="utf-8", newline="\n")
