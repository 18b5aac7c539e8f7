"""Pages for all file names: HTML and JSON say the same, and every name survives its URL."""

from __future__ import annotations

import string
from urllib.parse import urljoin

import msgspec
import pypi_simple
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buildsys.errors import ConfigurationError
from buildsys.index.command import checked_files_url, checked_upload_time
from buildsys.index.distribution import PROJECT, FileRefusedError
from buildsys.index.entries import FileEntry, escaped, filename_in, merged, page_of
from buildsys.index.home import newest
from buildsys.index.pages import project_page
from buildsys.index.yanks import UnknownYankError, Yank, with_yanks

PAGE = "https://wheels.example.org/cu131/llama-cpp-python/"
SHA256 = "0" * 64

numbers = st.integers(0, 400)
locals_ = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=6)
versions = st.builds(
    "{}.{}.{}{}{}".format,
    numbers,
    numbers,
    numbers,
    st.sampled_from(["", "rc1", ".post2", ".dev3"]),
    locals_.map("+{}".format) | st.just(""),
)
platforms = st.sampled_from(["manylinux_2_28_x86_64", "win_amd64", "macosx_14_0_arm64"])
filenames = st.builds("llama_cpp_python-{}-py3-none-{}.whl".format, versions, platforms)
one_line = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=40).filter(str.strip)
digests = st.text("0123456789abcdef", min_size=64, max_size=64)
entries = st.builds(
    lambda filename, base, **rest: FileEntry(filename=filename, url=base + escaped(filename), **rest),
    filename=filenames,
    base=st.sampled_from(["", "https://files.example.org/download/v1/"]),
    hashes=digests.map(lambda digest: {"sha256": digest}),
    size=st.integers(1, 1 << 40),
    requires_python=st.sampled_from([">=3.10", ">=3.10,<4", "!=3.9.*"]) | st.just(msgspec.UNSET),
    upload_time=st.just("2026-01-31T12:00:00Z") | st.just(msgspec.UNSET),
    core_metadata=digests.map(lambda digest: {"sha256": digest}) | st.just(msgspec.UNSET),
    yanked=one_line | st.just(msgspec.UNSET),
)


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(entries, max_size=6, unique_by=lambda entry: entry.filename))
def test_both_forms_of_a_page_say_the_same(files: list[FileEntry]) -> None:
    page = page_of(files)
    from_html = pypi_simple.ProjectPage.from_html(PROJECT, project_page("cu131", page), base_url=PAGE)
    from_json = pypi_simple.ProjectPage.from_json_data(msgspec.to_builtins(page), base_url=PAGE)
    assert from_html.repository_version == from_json.repository_version == "1.1"
    assert sorted(entry.filename for entry in files) == sorted(package.filename for package in from_json.packages)
    for html, json in zip(from_html.packages, from_json.packages, strict=True):
        for field in ("filename", "url", "digests", "requires_python", "is_yanked", "yanked_reason", "has_metadata", "metadata_digests"):
            assert getattr(html, field) == getattr(json, field), field
    assert from_json.versions == [str(version) for version in sorted({entry.version for entry in files})]


@settings(deadline=None)  # a busy machine is no failure
@given(filenames)
def test_a_file_name_survives_its_url(filename: str) -> None:
    url = urljoin(PAGE, escaped(filename))
    assert filename_in(url) == filename
    assert "+" not in url


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(entries, max_size=6), st.lists(entries, max_size=6))
def test_releases_add_up_to_each_file_once(previous: list[FileEntry], new: list[FileEntry]) -> None:
    known = {entry.filename: entry.sha256 for entry in previous}
    new = [entry for entry in new if known.setdefault(entry.filename, entry.sha256) == entry.sha256]
    together = merged(previous, new)
    names = [entry.filename for entry in together]
    assert len(names) == len(set(names))
    assert set(names) == {entry.filename for entry in [*previous, *new]}


def entry(version: str, *, sha256: str = SHA256, platform: str = "win_amd64") -> FileEntry:
    filename = f"llama_cpp_python-{version}-py3-none-{platform}.whl"
    return FileEntry(filename=filename, url=escaped(filename), hashes={"sha256": sha256}, size=1)


def test_a_published_file_never_changes() -> None:
    with pytest.raises(FileRefusedError, match="was published with sha256 000"):
        merged([entry("0.4.0")], [entry("0.4.0", sha256="1" * 64)])


FOLDERS = {"cpu": [entry("0.4.0"), entry("0.4.1")], "cu131": [entry("0.4.0+cu131"), entry("0.4.0+cu131", platform="manylinux_2_28_x86_64")]}


@pytest.mark.parametrize(
    ("yank", "withdrawn"),
    [
        (Yank(versions="==0.4.0", reason="r"), {("cpu", 0), ("cu131", 0), ("cu131", 1)}),
        (Yank(versions="==0.4.0+cu131", reason="r"), {("cu131", 0), ("cu131", 1)}),
        (Yank(versions="==0.4.0+cu131", reason="r", files=(FOLDERS["cu131"][0].filename,)), {("cu131", 0)}),
        (Yank(versions=">=0.4.1", reason="r"), {("cpu", 1)}),
    ],
)
def test_a_yank_covers_versions_or_files_of_them(yank: Yank, withdrawn: set[tuple[str, int]]) -> None:
    marked = with_yanks(FOLDERS, [yank], complete=True)
    assert {(name, at) for name, entries in marked.items() for at, each in enumerate(entries) if each.yanked == "r"} == withdrawn


def test_a_yank_of_nothing_is_an_error_where_all_releases_are_known() -> None:
    misspelt = Yank(versions="==0.4.00.1", reason="r")
    assert with_yanks(FOLDERS, [misspelt], complete=False) == FOLDERS
    with pytest.raises(UnknownYankError, match=r"0\.4\.00\.1"):
        with_yanks(FOLDERS, [misspelt], complete=True)


@pytest.mark.parametrize(
    ("stated", "word"),
    [
        ({"versions": "", "reason": "r"}, "everything"),
        ({"versions": "0.4", "reason": "r"}, "Invalid"),
        ({"versions": "==0.4", "reason": " "}, "why"),
    ],
)
def test_a_yank_that_says_too_little_is_refused(stated: dict[str, str], word: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=word):
        msgspec.convert(stated, type=Yank)


def test_the_release_to_show_is_final_and_not_withdrawn() -> None:
    withdrawn = msgspec.structs.replace(entry("0.5.0"), yanked="broken")
    assert str(newest([entry("0.4.0"), entry("0.6.0rc1"), withdrawn])) == "0.4.0"
    assert str(newest([entry("0.6.0rc1"), withdrawn])) == "0.6.0rc1"
    assert newest([withdrawn]) is None


@pytest.mark.parametrize("url", ["dist", "file:///dist/", "https://example.org/{tag}/", "https://example.org/{version/"])
def test_an_address_of_files_that_leads_nowhere_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="no address of files"):
        checked_files_url(url)


def test_the_time_of_publication_is_stated_or_that_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert checked_upload_time("") == ""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert checked_upload_time("") == "2023-11-14T22:13:20Z"
    assert checked_upload_time("2026-01-31T12:00:00.5Z") == "2026-01-31T12:00:00.5Z"
    with pytest.raises(ConfigurationError, match="UTC"):
        checked_upload_time("2026-01-31 12:00")
