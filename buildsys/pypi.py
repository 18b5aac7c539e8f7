"""Finding and fetching pinned files on the package indexes that the user's pip is configured with."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit, urlunsplit
from urllib.request import url2pathname

import pypi_simple
import requests
import urllib3
from packaging.utils import canonicalize_name

from buildsys import download
from buildsys.errors import DownloadError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TIMEOUT = (10.0, 60.0)
PAGE_RETRIES = urllib3.Retry(total=2, backoff_factor=0.2, status_forcelist=download.RETRIED_STATUS, raise_on_status=False)


class PackageFileNotFoundError(DownloadError):
    """No configured index offers the pinned file."""


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """What pip would use: index URLs in order, folders with loose files, and how to connect."""

    indexes: tuple[str, ...]
    find_links: tuple[str, ...] = ()
    certificates: str = ""
    client_certificate: str = ""
    proxy: str = ""

    def session(self) -> requests.Session:
        """A session that trusts and connects as pip does; proxies and .netrc of the environment count too."""
        session = requests.Session()
        if self.certificates:
            session.verify = self.certificates
        if self.client_certificate:
            session.cert = self.client_certificate
        if self.proxy:
            session.proxies = {"http": self.proxy, "https": self.proxy}
        return session


@dataclass(frozen=True, kw_only=True)
class PackageFile:
    """Where one file of a project can be had, and the hash that the index states for it."""

    url: str
    sha256: str | None = None


def pip_options() -> dict[str, str]:
    """The options of pip as its files and environment set them, by their long names without dashes."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    loud = {**os.environ, "PIP_QUIET": "0"}  # a quiet pip lists nothing
    listed = subprocess.run(command, capture_output=True, text=True, check=False, env=loud)
    return parse_pip_config(listed.stdout if listed.returncode == 0 else "", os.environ)


def parse_pip_config(listing: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Merge the output of `pip config list`: the environment goes over the download command's section, that over global."""
    sections: dict[str, dict[str, str]] = {"global": {}, "download": {}, ":env:": {}}
    for line in listing.splitlines():
        key, separator, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if separator and section in sections:
            sections[section][option] = str(ast.literal_eval(value))
    for name, value in environ.items():
        if name.startswith("PIP_") and value:
            sections[":env:"][name.removeprefix("PIP_").lower().replace("_", "-")] = value
    return {**sections["global"], **sections["download"], **sections[":env:"]}


@cache
def settings() -> IndexSettings:
    """The settings of this Python's pip; read once."""
    return settings_from(pip_options())


def settings_from(options: Mapping[str, str]) -> IndexSettings:
    """Interpret pip's options; without an index URL pip's own default counts."""
    main = options.get("index-url") or pypi_simple.PYPI_SIMPLE_ENDPOINT
    extra = options.get("extra-index-url", "").split()
    without_index = options.get("no-index", "").lower() in {"1", "true", "yes", "on"}
    return IndexSettings(
        indexes=() if without_index else (main, *extra),
        find_links=tuple(options.get("find-links", "").split()),
        certificates=options.get("cert", ""),
        client_certificate=options.get("client-cert", ""),
        proxy=options.get("proxy", ""),
    )


def locate(project: str, filename: str, *, sha256: str | None = None, configured: IndexSettings | None = None) -> PackageFile:
    """The first place that offers `filename`; one whose stated hash contradicts `sha256` is passed over.

    Raises :class:`PackageFileNotFoundError`, which names every place that was asked and its answer.
    """
    using = configured or settings()
    reasons: list[str] = []
    with using.session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=PAGE_RETRIES))
        for name, found in _answers(using, session, project, filename):
            if isinstance(found, str):
                reasons.append(f"{name}: {found}")
            elif sha256 and found.sha256 and found.sha256 != sha256:
                reasons.append(f"{name}: has the file with sha256 {found.sha256}, not the pinned one")
            else:
                return found
    raise PackageFileNotFoundError(
        f"{filename} of {project} was not found: " + ("; ".join(reasons) or "pip is configured with no index"),
        hint="check `pip config list`, the network and the proxy; `pip download` of the same package must work",
    )


def fetch_package_file(project: str, filename: str, sha256: str, target: Path, *, configured: IndexSettings | None = None) -> Path:
    """Make `target` that file of that project, verified; a target that already is needs no network."""
    if download.matches(target, sha256=sha256):
        return target
    using = configured or settings()
    found = locate(project, filename, sha256=sha256, configured=using)
    with using.session() as session:
        return download.fetch(found.url, target, sha256=sha256, label=filename, session=session)


def _answers(using: IndexSettings, session: requests.Session, project: str, filename: str) -> Iterator[tuple[str, PackageFile | str]]:
    """Each place with the file there, or the reason why it has none. pip prefers neither kind; loose files cost nothing."""
    for place in using.find_links:
        folder = _local_path(place)
        if folder is not None and (folder / filename).is_file():
            yield place, PackageFile(url=(folder / filename).resolve().as_uri())
    for index in using.indexes:
        yield urlsplit(index).hostname or index, _ask(index, session, project, filename)


def _ask(index: str, session: requests.Session, project: str, filename: str) -> PackageFile | str:
    try:
        page = _local_page(index, project) if index.startswith("file:") else _remote_page(index, session, project)
    except pypi_simple.NoSuchProjectError:
        return "no such project"
    except OSError as error:  # requests' exceptions are OSErrors too
        return _connection_failure(error)
    except (pypi_simple.UnsupportedContentTypeError, pypi_simple.UnsupportedRepoVersionError, ValueError):
        return "did not answer as a package index does"
    for package in page.packages:
        if package.filename == filename:
            return PackageFile(url=_with_credentials(package.url, index), sha256=package.digests.get("sha256"))
    return "the project is there, the file is not"


def _remote_page(index: str, session: requests.Session, project: str) -> pypi_simple.ProjectPage:
    client = pypi_simple.PyPISimple(index.rstrip("/") + "/", session=session)
    return client.get_project_page(project, timeout=TIMEOUT)


def _local_page(index: str, project: str) -> pypi_simple.ProjectPage:
    """An index that is a folder: its pages are the index.html files that a web server would answer with."""
    url = f"{index.rstrip('/')}/{canonicalize_name(project)}/index.html"
    page = Path(url2pathname(urlsplit(url).path))
    if not page.is_file():
        raise pypi_simple.NoSuchProjectError(project, url)
    return pypi_simple.ProjectPage.from_html(project, page.read_bytes(), base_url=urljoin(url, "."))


def _local_path(place: str) -> Path | None:
    if place.startswith("file:"):
        return Path(url2pathname(urlsplit(place).path))
    return None if "://" in place else Path(place).expanduser()


def _with_credentials(url: str, index: str) -> str:
    """As pip does, a login in the index URL counts for files on the same host."""
    of_file, of_index = urlsplit(url), urlsplit(index)
    login = of_index.netloc.rpartition("@")[0]
    if not login or of_file.netloc != of_index.netloc.rpartition("@")[2]:
        return url
    return urlunsplit(of_file._replace(netloc=of_index.netloc))


def _connection_failure(error: OSError) -> str:
    """One line without the URL, which may hold a login."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.RequestException):
        return download.connection_failure(error)
    return error.strerror or type(error).__name__
