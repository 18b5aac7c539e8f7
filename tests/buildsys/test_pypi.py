from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pypi_simple
import pytest

from buildsys import pypi
from buildsys.pypi import (
    IndexSettings,
    PackageFile,
    PackageFileNotFoundError,
    fetch_package_file,
    locate,
    parse_pip_config,
    settings_from,
)
from tests.buildsys.file_server import FileServer, Served, file_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "demo_pkg-1.0-py3-none-any.whl"
CONTENT = b"a wheel, nearly"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as running:
        yield running


def html_page(sha256: str = SHA256, href: str = f"../../files/{NAME}") -> Served:
    return Served(f'<html><body><a href="{href}#sha256={sha256}">{NAME}</a></body></html>'.encode(), content_type="text/html")


def json_page(sha256: str = SHA256) -> Served:
    file = {"filename": NAME, "url": f"/files/{NAME}", "hashes": {"sha256": sha256}}
    page = {"meta": {"api-version": "1.0"}, "name": "demo-pkg", "files": [file]}
    return Served(json.dumps(page).encode(), content_type="application/vnd.pypi.simple.v1+json")


def index(server: FileServer) -> IndexSettings:
    return IndexSettings(indexes=(f"{server.url}/simple",))


@pytest.mark.parametrize("page", [html_page(), json_page()], ids=["html", "json"])
def test_both_forms_of_an_index_are_understood(server: FileServer, page: Served) -> None:
    server.files["/simple/demo-pkg/"] = page
    found = locate("Demo_Pkg", NAME, configured=index(server))
    assert found == PackageFile(url=f"{server.url}/files/{NAME}", sha256=SHA256)


def test_the_file_is_fetched_once(server: FileServer, tmp_path: Path) -> None:
    server.files["/simple/demo-pkg/"] = json_page()
    server.files[f"/files/{NAME}"] = Served(CONTENT)
    for _ in range(2):
        fetch_package_file("demo-pkg", NAME, SHA256, tmp_path / NAME, configured=index(server))
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert len(server.requests) == 2


def test_every_index_is_named_with_its_answer(server: FileServer, tmp_path: Path) -> None:
    server.files["/simple/demo-pkg/"] = json_page("0" * 64)
    server.files["/broken/demo-pkg/"] = Served(b"", statuses=[403])
    server.files["/odd/demo-pkg/"] = Served(b"\x00", content_type="image/png")
    asked = (
        f"{server.url}/simple/",
        f"{server.url}/empty/",
        f"{server.url}/broken/",
        f"{server.url}/odd/",
        (tmp_path / "nowhere").as_uri(),
        "http://user:secret@127.0.0.1:9/simple",
    )
    with pytest.raises(PackageFileNotFoundError) as caught:
        locate("demo-pkg", NAME, sha256=SHA256, configured=IndexSettings(indexes=asked))
    message = caught.value.message
    for reason in ("not the pinned one", "no such project", "answered 403", "not answer as a package index", "no connection"):
        assert reason in message
    assert "secret" not in message


def test_a_busy_index_is_asked_again(server: FileServer) -> None:
    page = server.files["/simple/demo-pkg/"] = json_page()
    page.statuses = [503, 502]
    assert locate("demo-pkg", NAME, configured=index(server)).sha256 == SHA256
    page.statuses = [503] * 9
    with pytest.raises(PackageFileNotFoundError, match="answered 503"):
        locate("demo-pkg", NAME, configured=index(server))


def test_a_project_without_the_file_says_so(server: FileServer) -> None:
    server.files["/simple/demo-pkg/"] = json_page()
    with pytest.raises(PackageFileNotFoundError, match="the project is there, the file is not"):
        locate("demo-pkg", "demo_pkg-2.0-py3-none-any.whl", configured=index(server))


def test_a_later_index_serves_where_the_first_has_another_file(server: FileServer) -> None:
    server.files["/simple/demo-pkg/"] = json_page("0" * 64)
    server.files["/extra/demo-pkg/"] = html_page(href="/right.whl")
    both = IndexSettings(indexes=(f"{server.url}/simple/", f"{server.url}/extra/"))
    assert locate("demo-pkg", NAME, sha256=SHA256, configured=both).url == f"{server.url}/right.whl"


def test_an_index_may_be_a_folder(tmp_path: Path) -> None:
    page = tmp_path / "simple" / "demo-pkg" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_bytes(html_page().content)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / NAME).write_bytes(CONTENT)
    configured = IndexSettings(indexes=((tmp_path / "simple").as_uri(),))
    fetch_package_file("demo-pkg", NAME, SHA256, tmp_path / "target", configured=configured)
    assert (tmp_path / "target").read_bytes() == CONTENT


def test_loose_files_serve_without_any_index(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(CONTENT)
    for place in (str(tmp_path), tmp_path.as_uri()):
        found = locate("demo-pkg", NAME, sha256=SHA256, configured=IndexSettings(indexes=(), find_links=(place,)))
        assert found.url == (tmp_path / NAME).as_uri()


def test_a_login_of_the_index_counts_for_files_on_its_host_only(server: FileServer) -> None:
    host = server.url.removeprefix("http://")
    server.files["/simple/demo-pkg/"] = html_page(href="/files/x.whl")
    server.files["/other/demo-pkg/"] = html_page(href="http://files.example/x.whl")
    here = IndexSettings(indexes=(f"http://me:pw@{host}/simple",))
    elsewhere = IndexSettings(indexes=(f"http://me:pw@{host}/other",))
    assert locate("demo-pkg", NAME, configured=here).url == f"http://me:pw@{host}/files/x.whl"
    assert locate("demo-pkg", NAME, configured=elsewhere).url == "http://files.example/x.whl"
    assert all(request["Authorization"].startswith("Basic ") for request in server.requests)


LISTING = """\
:env:.cert='/from/env.pem'
download.proxy='http://proxy:3128'
global.cert='/global.pem'
global.extra-index-url='https://one.example/simple\\nhttps://two.example/simple'
global.index-url='https://main.example/simple'
global.proxy='http://ignored:1'
install.no-index='true'
"""


def test_pip_options_are_merged_as_pip_does() -> None:
    options = parse_pip_config(LISTING, {"PIP_INDEX_URL": "https://env.example/simple", "PIP_FIND_LINKS": ""})
    settings = settings_from(options)
    assert settings.indexes == ("https://env.example/simple", "https://one.example/simple", "https://two.example/simple")
    assert settings.proxy == "http://proxy:3128"
    assert settings.certificates == "/from/env.pem"
    assert settings.find_links == ()


def test_the_session_connects_as_pip_would() -> None:
    options = {"cert": "/c.pem", "client-cert": "/k.pem", "proxy": "http://proxy:3128"}
    with settings_from(options).session() as session:
        assert session.verify == "/c.pem"
        assert session.cert == "/k.pem"
        assert session.proxies == {"http": "http://proxy:3128", "https": "http://proxy:3128"}


def test_without_configuration_pips_default_index_counts() -> None:
    assert settings_from({}).indexes == (pypi_simple.PYPI_SIMPLE_ENDPOINT,)


def test_no_index_means_none(tmp_path: Path) -> None:
    settings = settings_from({"no-index": "true", "index-url": "https://x.example", "find-links": str(tmp_path)})
    assert settings == IndexSettings(indexes=(), find_links=(str(tmp_path),))


def test_this_pythons_pip_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_QUIET", "3")
    monkeypatch.setenv("PIP_INDEX_URL", "https://env.example/simple")
    assert pypi.pip_options()["index-url"] == "https://env.example/simple"
