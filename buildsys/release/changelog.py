"""The changelog's sections, and whether the repository is in the state in which a tag may be cut."""

from __future__ import annotations

import re

from packaging.version import InvalidVersion, Version

from buildsys.errors import ConfigurationError
from buildsys.project import ROOT, package_version

CHANGELOG = ROOT / "CHANGELOG.md"
_HEADING = re.compile(r"^## \[(?P<name>[^\]]+)\](?: - (?P<date>\d{4}-\d\d-\d\d))?(?: \[YANKED\])?\s*$", re.MULTILINE)


class NotReleasableError(ConfigurationError):
    """The tag, the version and the changelog don't agree."""


def check_tag(tag: str, changelog: str, *, version: str | None = None) -> str:
    """The version that `tag` releases.

    Raises:
        NotReleasableError: the tag is not `v` and the package's version, the changelog's dated section of it is missing or
            empty, or a newer one stands above it.
    """
    version = package_version() if version is None else version
    if tag != f"v{version}":
        raise NotReleasableError(f"the tag is {tag}, the package's version {version}", hint=f"tag v{version}, or change _version.py")
    try:
        Version(version)
    except InvalidVersion as error:
        raise NotReleasableError(f"{version} is no version by PEP 440", hint="correct package/llama_cpp/_version.py") from error
    released = [match["name"] for match in _HEADING.finditer(changelog) if match["name"] != "Unreleased"]
    if released[:1] != [version]:
        newest = released[0] if released else "none"
        raise NotReleasableError(f"the changelog's newest release is {newest}, not {version}", hint="move [Unreleased] under its heading")
    notes(version, changelog)
    return version


def notes(version: str, changelog: str) -> str:
    """The changelog's text for `version`, without its heading."""
    headings = list(_HEADING.finditer(changelog))
    place = next((index for index, match in enumerate(headings) if match["name"] == version), None)
    if place is None:
        raise NotReleasableError(f"the changelog has no section [{version}]", hint="add one, in the form of Keep a Changelog")
    heading = headings[place]
    if heading["date"] is None:
        raise NotReleasableError(f"the changelog's section [{version}] has no date", hint=f"write `## [{version}] - YYYY-MM-DD`")
    end = headings[place + 1].start() if place + 1 < len(headings) else len(changelog)
    text = changelog[heading.end() : end].strip()
    if not text:
        raise NotReleasableError(f"the changelog says nothing about {version}", hint="say what was added, changed and fixed")
    return text
