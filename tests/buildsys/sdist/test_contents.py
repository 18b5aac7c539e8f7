from __future__ import annotations

import secrets
import subprocess
from pathlib import Path

import pytest

from buildsys.errors import SdistError
from buildsys.sdist.contents import check

from .archives import sound_files, written


def test_a_sound_archive_passes(tmp_path: Path) -> None:
    assert check(written(tmp_path, sound_files()), root=tmp_path) == len(sound_files())


@pytest.mark.parametrize("name", sorted(sound_files()))
def test_nothing_required_may_be_missing(name: str, tmp_path: Path) -> None:
    files = {other: content for other, content in sound_files().items() if other != name}
    with pytest.raises(SdistError, match=f"- {name} is missing"):
        check(written(tmp_path, files), root=tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        ".git/HEAD",
        "vendor/llama.cpp/.git",
        "vendor/llama.cpp/.github/workflow.yml",
        "buildsys/__pycache__/cli.pyc",
        "package/llama_cpp/lib/libllama.so",
        "package/llama_cpp/lib/libomp.so.5",
        "models/tiny.gguf",
        "vendor/llama.cpp/tools/mtmd/test-3.mp4",
        "vendor/llama.cpp/docs/build.md",
        "vendor/llama.cpp/models/templates/x.jinja",
        "dist/llama_cpp_python-0.4.0.tar.gz",
        ".nox/tests/x",
        ".mypy_cache/x",
    ],
)
def test_what_belongs_elsewhere_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(SdistError, match="has no place in it") as caught:
        check(written(tmp_path, {**sound_files(), name: b""}), root=tmp_path)
    assert f"- {name} has no place" in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Name: llama_cpp_python", "Name: llama", "PKG-INFO says Name: llama"),
        ("Version: ", "Version: 9", "PKG-INFO says Version: 9"),
        ("Requires-Dist", "Requires", "states no requirements"),
    ],
)
def test_the_metadata_are_this_projects(old: str, new: str, message: str, tmp_path: Path) -> None:
    files = sound_files()
    files["PKG-INFO"] = files["PKG-INFO"].decode().replace(old, new).encode()
    with pytest.raises(SdistError, match=message):
        check(written(tmp_path, files), root=tmp_path)


def test_links_and_files_outside_of_the_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SdistError, match="vendor/link is a link"):
        check(written(tmp_path, sound_files(), link="vendor/link"), root=tmp_path)
    with pytest.raises(SdistError, match="/etc/passwd lies outside"):
        check(written(tmp_path, {**sound_files(), "/etc/passwd": b""}), root=tmp_path)


def test_the_size_has_a_limit(tmp_path: Path) -> None:
    with pytest.raises(SdistError, match="MB is more than 8 MB"):
        check(written(tmp_path, {**sound_files(), "noise": secrets.token_bytes(8_100_000)}), root=tmp_path)


def test_what_is_no_archive_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, sound_files())
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(SdistError, match="cannot be read"):
        check(path, root=tmp_path)


def test_files_that_no_clone_has_are_named(tmp_path: Path) -> None:
    for repository in (tmp_path, tmp_path / "vendor" / "llama.cpp"):
        repository.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "--quiet"], cwd=repository, check=True)
    for name in sound_files():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    subprocess.run(["git", "add", "--all", "."], cwd=tmp_path / "vendor" / "llama.cpp", check=True)
    subprocess.run(["git", "add", "--all", "--", ":!vendor/llama.cpp"], cwd=tmp_path, check=True)
    archive = tmp_path / "out"
    archive.mkdir()
    assert check(written(archive, sound_files()), root=tmp_path) == len(sound_files())
    with pytest.raises(SdistError, match=r"buildsys/notes\.txt is not under version control"):
        check(written(archive, {**sound_files(), "buildsys/notes.txt": b""}), root=tmp_path)
