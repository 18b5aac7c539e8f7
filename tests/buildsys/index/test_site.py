from __future__ import annotations

import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from buildsys.cli import main
from buildsys.index.cuda import cuda_table, gpus, minimum_driver
from buildsys.index.yanks import load_yanks
from buildsys.matrix import rows
from tests.buildsys.index.small_wheels import LINUX, make_sdist, make_wheel, metadata

RELEASE = "https://github.com/OWNER/NAME/releases/download/v{version}/"


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    make_wheel(folder / "linux", "0.4.0")
    make_wheel(folder / "linux", "0.4.0+cu131", metadata_text=metadata("0.4.0+cu131", requires=("nvidia-cublas>=13.1,<14",)))
    make_wheel(folder / "mac", "0.4.0", "macosx_14_0_arm64")
    make_sdist(folder)
    return folder


def written(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def files_of(site: Path, folder: str) -> dict[str, dict[str, object]]:
    page = json.loads((site / folder / "llama-cpp-python" / "index.json").read_bytes())
    return {file["filename"]: file for file in page["files"]}


def test_the_site_holds_pages_files_and_metadata(dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = tmp_path / "site"
    assert main(["index", str(dist), str(site)]) == 0
    assert capsys.readouterr().out == "cpu/llama-cpp-python/: 3 files\ncu131/llama-cpp-python/: 1 files\n"
    cuda = f"llama_cpp_python-0.4.0+cu131-py3-none-{LINUX}.whl"
    assert {name for name in written(site) if not name.startswith("cpu/")} == {
        "index.html",
        "cu131/index.html",
        "cu131/index.json",
        "cu131/llama-cpp-python/index.html",
        "cu131/llama-cpp-python/index.json",
        f"cu131/llama-cpp-python/{cuda}",
        f"cu131/llama-cpp-python/{cuda}.metadata",
    }
    (stated,) = files_of(site, "cu131").values()
    wheel = (dist / "linux" / cuda).read_bytes()
    core = (site / "cu131" / "llama-cpp-python" / f"{cuda}.metadata").read_bytes()
    assert core == metadata("0.4.0+cu131", requires=("nvidia-cublas>=13.1,<14",)).encode()
    assert stated == {
        "filename": cuda,
        "url": cuda.replace("+", "%2B"),
        "hashes": {"sha256": hashlib.sha256(wheel).hexdigest()},
        "size": len(wheel),
        "requires-python": ">=3.10",
        "core-metadata": {"sha256": hashlib.sha256(core).hexdigest()},
    }
    assert json.loads((site / "cu131" / "index.json").read_bytes())["projects"] == [{"name": "llama-cpp-python"}]


def test_the_same_files_give_the_same_site_byte_for_byte(dist: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert main(["index", str(dist), str(tmp_path / name)]) == 0
        for path in dist.rglob("*.whl"):
            path.touch()
    assert written(tmp_path / "one") == written(tmp_path / "two")


def test_files_may_lie_in_a_release(dist: Path, tmp_path: Path) -> None:
    site, assets = tmp_path / "site", tmp_path / "assets"
    assert main(["index", str(dist), str(site), "--files-url", RELEASE, "--metadata", str(assets)]) == 0
    (stated,) = files_of(site, "cu131").values()
    assert stated["url"] == f"https://github.com/OWNER/NAME/releases/download/v0.4.0/llama_cpp_python-0.4.0%2Bcu131-py3-none-{LINUX}.whl"
    assert {path.name.removesuffix(".metadata") for path in assets.iterdir()} == {path.name for path in dist.rglob("*.whl")}
    assert all(name.endswith(("index.html", "index.json")) for name in written(site))


def test_metadata_that_is_not_written_is_not_promised(dist: Path, tmp_path: Path) -> None:
    assert main(["index", str(dist), str(tmp_path / "site"), "--files-url", RELEASE]) == 0
    assert not any("core-metadata" in stated for stated in files_of(tmp_path / "site", "cpu").values())
    assert main(["index", str(dist), str(tmp_path / "other"), "--metadata", str(tmp_path)]) == 3


def test_earlier_releases_stay_and_may_be_withdrawn_later(dist: Path, tmp_path: Path) -> None:
    site, yanked = tmp_path / "site", tmp_path / "yanked.toml"
    assert main(["index", str(dist), str(site), "--upload-time", "2026-01-01T00:00:00Z"]) == 0
    old = files_of(site, "cpu")
    make_wheel(tmp_path / "new", "0.5.0")
    yanked.write_text('[[yank]]\nversions = "==0.4.0"\nreason = "leaks"\n', encoding="utf-8")
    options = ["--previous", str(site), "--yanked", str(yanked), "--upload-time", "2026-02-01T00:00:00Z"]
    assert main(["index", str(tmp_path / "new"), str(site), *options]) == 0
    now = files_of(site, "cpu")
    assert {name: file for name, file in now.items() if name in old} == {name: {**file, "yanked": "leaks"} for name, file in old.items()}
    assert {str(file["upload-time"]) for name, file in now.items() if name not in old} == {"2026-02-01T00:00:00Z"}
    for name, file in now.items():
        beside = site / "cpu" / "llama-cpp-python" / name
        assert {"sha256": hashlib.sha256(beside.read_bytes()).hexdigest()} == file["hashes"]
    yanked.write_text("", encoding="utf-8")
    assert main(["index", str(tmp_path / "new"), str(site), "--previous", str(site), "--yanked", str(yanked)]) == 0
    assert not any("yanked" in file for file in files_of(site, "cpu").values())


def test_a_withdrawal_needs_no_new_file(dist: Path, tmp_path: Path) -> None:
    assert main(["index", str(dist), str(tmp_path / "site"), "--files-url", RELEASE]) == 0
    yanked = tmp_path / "yanked.toml"
    yanked.write_text('[[yank]]\nversions = "==0.4.0+cu131"\nreason = "too old"\n', encoding="utf-8")
    (tmp_path / "none").mkdir()
    options = ["--previous", str(tmp_path / "site"), "--yanked", str(yanked)]
    assert main(["index", str(tmp_path / "none"), str(tmp_path / "next"), *options]) == 0
    assert [file["yanked"] for file in files_of(tmp_path / "next", "cu131").values()] == ["too old"]
    assert len(files_of(tmp_path / "next", "cpu")) == 3


def test_a_site_may_be_written_anew_without_new_files(dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", str(dist), str(tmp_path / "site")]) == 0
    (tmp_path / "none").mkdir()
    assert main(["index", str(tmp_path / "none"), str(tmp_path / "again"), "--previous", str(tmp_path / "site")]) == 0
    assert written(tmp_path / "again") == written(tmp_path / "site")
    assert main(["index", str(tmp_path / "none"), str(tmp_path / "third")]) == 8
    assert "holds no wheel" in capsys.readouterr().err


def test_a_changed_file_of_an_earlier_release_is_not_carried_on(dist: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert main(["index", str(dist), str(site)]) == 0
    published = site / "cpu" / "llama-cpp-python" / f"llama_cpp_python-0.4.0-py3-none-{LINUX}.whl"
    published.write_bytes(b"another")
    make_wheel(tmp_path / "new", "0.5.0")
    assert main(["index", str(tmp_path / "new"), str(tmp_path / "next"), "--previous", str(site)]) == 8
    assert not (tmp_path / "next").exists()


def test_a_folder_of_something_else_is_never_replaced(dist: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "letter.txt").write_text("dear", encoding="utf-8")
    assert main(["index", str(dist), str(home)]) == 3
    assert [path.name for path in home.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("previous", ["nowhere", "broken"])
def test_an_earlier_site_that_is_none_is_refused(dist: Path, tmp_path: Path, previous: str) -> None:
    page = tmp_path / "broken" / "cpu" / "llama-cpp-python" / "index.json"
    page.parent.mkdir(parents=True)
    page.write_text('{"files": 3}', encoding="utf-8")
    assert main(["index", str(dist), str(tmp_path / "site"), "--previous", str(tmp_path / previous)]) == 3


class _Reader(HTMLParser):
    """Texts, links and ids of a page, and the tags that were left open."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.links, self.ids, self.open = "", [], set(), []  # type: ignore[var-annotated]
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.add(tag)
        self.links += [found["href"]] if tag == "a" else []
        self.ids |= {found["id"]} if "id" in found else set()
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_for_people_tells_what_to_take(dist: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    make_wheel(dist, "0.4.0+cu124")
    assert main(["index", str(dist), str(site), "--address", "https://wheels.example.org"]) == 0
    page = _Reader()
    page.feed((site / "index.html").read_text(encoding="utf-8"))
    assert not page.open
    assert not page.tags & {"script", "link", "img", "iframe"}
    commands = (
        'python -m pip install "llama-cpp-python==0.4.0+cu131" --index-url https://wheels.example.org/cu131/',
        'uv pip install "llama-cpp-python==0.4.0" --index https://wheels.example.org/cpu/',
        'url = "https://wheels.example.org/cu124/"',
    )
    words = ("525.60.13 or newer", "580.65.06 or newer", "Pascal", "Hopper", "macOS 14 or newer, Apple silicon", "source code")
    for expected in (*commands, *words):
        assert expected in page.text
    for stated in [*files_of(site, "cpu").values(), *files_of(site, "cu131").values()]:
        assert stated["hashes"]["sha256"] in page.text  # type: ignore[index]
    for link in page.links:
        target = link.removeprefix("#")
        assert target in page.ids if link.startswith("#") else (site / target.replace("%2B", "+")).exists(), link


def test_a_withdrawn_file_of_the_newest_release_is_not_shown_to_people(dist: Path, tmp_path: Path) -> None:
    mac = "llama_cpp_python-0.4.0-py3-none-macosx_14_0_arm64.whl"
    yanked = tmp_path / "yanked.toml"
    yanked.write_text(f'[[yank]]\nversions = "==0.4.0"\nreason = "crashes"\nfiles = ["{mac}"]\n', encoding="utf-8")
    assert main(["index", str(dist), str(tmp_path / "site"), "--yanked", str(yanked)]) == 0
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert mac not in page
    assert f"llama_cpp_python-0.4.0-py3-none-{LINUX}.whl" in page


def test_a_reason_cannot_break_a_page(tmp_path: Path) -> None:
    make_wheel(tmp_path / "dist")
    reason = '<script>"quoted" & done</script>'
    (tmp_path / "yanked.toml").write_text(f"[[yank]]\nversions = '>=0'\nreason = '{reason}'\n", encoding="utf-8")
    assert main(["index", str(tmp_path / "dist"), str(tmp_path / "site"), "--yanked", str(tmp_path / "yanked.toml")]) == 0
    assert "<script>" not in (tmp_path / "site" / "cpu" / "llama-cpp-python" / "index.html").read_text(encoding="utf-8")
    assert "All releases here are withdrawn" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_every_cuda_release_of_the_matrix_has_its_driver_and_the_names_of_its_gpus() -> None:
    for row in rows():
        if row.cuda:
            assert minimum_driver(row.cuda.toolkit).linux
            assert row.cuda.toolkit in cuda_table().release
            assert not any("compute capability" in name for name in gpus(row.cuda))


def test_the_committed_list_of_withdrawn_releases_is_readable() -> None:
    assert isinstance(load_yanks(), tuple)
