"""The vendoring against small git repositories made on the spot."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from buildsys import vendor
from buildsys.errors import DownloadError, VendorError
from buildsys.project import Pin, SourceArchive
from buildsys.vendor import checkout, sources


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    folder = tmp_path / "upstream"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    for number in (1, 2):
        (folder / "llama.txt").write_text(f"version {number}\n", encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", f"version {number}")
    return folder


def test_a_commit_is_fetched_and_then_recognised(upstream: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project" / "llama"
    commit = git(upstream, "rev-parse", "HEAD~1")
    assert not checkout.is_at(folder, commit)
    checkout.fetch(folder, upstream.as_uri(), commit, commit)
    assert checkout.is_at(folder, commit)
    assert (folder / "llama.txt").read_text(encoding="utf-8") == "version 1\n"


def test_another_commit_than_the_pinned_one_is_refused_and_not_checked_out(upstream: Path, tmp_path: Path) -> None:
    wrong = "0" * 40
    with pytest.raises(VendorError, match="the pin is 0000"):
        checkout.fetch(tmp_path / "llama", upstream.as_uri(), "HEAD", wrong)
    assert not (tmp_path / "llama" / "llama.txt").exists()


def test_changed_files_are_refused_and_named(upstream: Path, tmp_path: Path) -> None:
    commit = git(upstream, "rev-parse", "HEAD")
    checkout.fetch(tmp_path / "llama", upstream.as_uri(), "HEAD", commit)
    (tmp_path / "llama" / "llama.txt").write_text("mine\n", encoding="utf-8")
    with pytest.raises(VendorError, match=r"llama\.txt") as caught:
        checkout.is_at(tmp_path / "llama", commit)
    assert "checkout --force" in caught.value.hint


def test_a_repository_around_the_folder_is_not_taken_for_it(upstream: Path) -> None:
    inside = upstream / "llama"
    inside.mkdir()
    assert checkout.head(inside) == ""


def test_corrupt_objects_are_refused(upstream: Path, tmp_path: Path) -> None:
    commit = git(upstream, "rev-parse", "HEAD")
    blob = git(upstream, "rev-parse", "HEAD:llama.txt")
    stored = upstream / ".git" / "objects" / blob[:2] / blob[2:]
    stored.chmod(0o644)
    stored.write_bytes(stored.read_bytes()[:-3] + b"bad")
    with pytest.raises(VendorError):
        checkout.fetch(tmp_path / "llama", upstream.as_uri(), "HEAD", commit)


def test_a_checkout_becomes_a_submodule_of_the_project(upstream: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    commit = git(upstream, "rev-parse", "HEAD")
    git(project, "init", "--quiet")
    (project / ".gitmodules").write_text(
        f'[submodule "vendor/llama"]\n\tpath = vendor/llama\n\turl = {upstream.as_uri()}\n', encoding="utf-8"
    )
    git(project, "update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/llama")
    checkout.fetch(project / "vendor" / "llama", upstream.as_uri(), "HEAD", commit)
    checkout.adopt(project / "vendor" / "llama", project)
    assert git(project, "submodule", "status").split()[:2] == [commit, "vendor/llama"]
    assert checkout.is_at(project / "vendor" / "llama", commit)


def test_the_archive_source_takes_the_git_objects_and_nothing_else(upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "demo-1.0.tar.gz"
    (upstream / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tworktree = /nowhere\n", encoding="utf-8")
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(upstream / ".git", "demo-1.0/.git/modules/llama")

    def fetch(project: str, filename: str, sha256: str, target: Path) -> Path:
        assert (project, filename, sha256) == ("demo", "demo-1.0.tar.gz", "f00")
        return packed.rename(target)

    monkeypatch.setattr(sources, "fetch_package_file", fetch)
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    commit = (upstream / ".git" / "refs" / "heads" / "main").read_text(encoding="utf-8").strip()
    archive_entry = SourceArchive(project="demo", filename="demo-1.0.tar.gz", sha256="f00", git_directory=".git/modules/llama")
    repository = sources._repository_from_archive(archive_entry)
    assert not (repository / "hooks").exists()
    assert "worktree" not in (repository / "config").read_text(encoding="utf-8")
    checkout.fetch(tmp_path / "llama", repository.as_uri(), "HEAD", commit)
    assert checkout.is_at(tmp_path / "llama", commit)


def test_an_archive_without_the_git_directory_is_named(tmp_path: Path) -> None:
    packed = tmp_path / "demo-1.0.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(__file__, "demo-1.0/setup.py")
    with pytest.raises(VendorError, match=r"demo-1\.0\.tar\.gz holds no \.git/modules/llama"):
        sources._unpack_git_directory(packed, ".git/modules/llama", tmp_path / "out")


def test_when_all_sources_fail_each_is_named_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable() -> tuple[str, str]:
        raise DownloadError("index.example.org: no route to host")

    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "llama")
    monkeypatch.setattr(
        vendor.sources,
        "in_order",
        lambda _pin: iter(
            [
                sources.Source(description="first place", open=lambda: ((tmp_path / "missing").as_uri(), "HEAD")),
                sources.Source(description="second place", open=unreachable),
            ]
        ),
    )
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    with pytest.raises(VendorError) as caught:
        vendor.populate()
    assert "first place: " in caught.value.message
    assert "second place: index.example.org: no route to host" in caught.value.message


def test_files_that_git_does_not_know_are_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "llama").mkdir()
    (tmp_path / "llama" / "mine.c").write_text("int x;", encoding="utf-8")
    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "llama")
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    with pytest.raises(VendorError, match="not a git checkout"):
        vendor.populate()
    assert (tmp_path / "llama" / "mine.c").exists()


def test_without_an_archive_the_origin_is_the_only_source() -> None:
    described = [source.description for source in sources.in_order(Pin(commit="0" * 40, repository="https://example.org/llama.git"))]
    assert described == ["git repository https://example.org/llama.git"]
