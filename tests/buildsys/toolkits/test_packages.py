from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from buildsys import toolkits
from buildsys.errors import CommandFailedError, ToolkitError
from buildsys.toolkits import assembly, debian_archive, packages
from buildsys.toolkits.debian_archive import Archive
from buildsys.toolkits.packages import PackagesProvider
from buildsys.toolkits.request import Request

SUITE = Archive(suite="trixie", components=("main", "non-free"), packages=("first", "second"))
REQUEST = Request(release="13.1", system="linux_x86_64")
WHEELS = PackagesProvider(
    summary="s",
    releases=">=13",
    systems=("linux_x86_64",),
    wheels=("cuda-toolkit[nvcc]=={release}.*",),
    layout={".": ("nvidia/cu{major}/*",)},
)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Stands in for pip, apt-get and dpkg."""
    commands: list[list[str]] = []

    def run(command: list[str | Path], **options: object) -> None:
        words = [str(word) for word in command]
        commands.append(words)
        if "--target" in words:
            compiler = Path(words[words.index("--target") + 1], "nvidia", "cu13", "bin", "nvcc")
            compiler.parent.mkdir(parents=True)
            compiler.write_text("nvcc", encoding="utf-8")
        if "download" in words:
            configuration = Path(str(options["env"]["APT_CONFIG"])).read_text(encoding="utf-8")  # type: ignore[index]
            assert 'Dir::Etc::SourceParts "/dev/null"' in configuration
            for package in words[words.index("download") + 1 :]:
                Path(str(options["cwd"]), f"{package}_1_amd64.deb").touch()
        if words[0] == "sh":
            (Path(words[3]) / "usr" / "lib").mkdir(parents=True)
            (Path(words[3]) / "usr" / "lib" / "libm.so").symlink_to("/lib/libm.so.6")

    for module in (packages, debian_archive):
        monkeypatch.setattr(module, "run_logged", run)
    monkeypatch.setattr(assembly, "complete", lambda root, request: (root / f"complete for {request.release}").touch())
    return commands


def test_wheels_are_installed_and_laid_out_once(ran: list[list[str]], tmp_path: Path) -> None:
    place = tmp_path / "pypi"
    for _ in range(2):
        assert WHEELS.obtain(REQUEST, place) == place
    assert len(ran) == 1
    assert ran[0][-1] == "cuda-toolkit[nvcc]==13.1.*"
    assert {path.name for path in place.iterdir()} == {"bin", "complete for 13.1"}
    assert [path.name for path in tmp_path.iterdir()] == ["pypi"]


def test_an_interrupted_installation_is_no_toolkit(ran: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del ran
    working = packages.run_logged

    def interrupted(*args: object, **options: object) -> None:
        working(*args, **options)  # type: ignore[arg-type]
        raise CommandFailedError("no space left")

    monkeypatch.setattr(packages, "run_logged", interrupted)
    with pytest.raises(CommandFailedError):
        WHEELS.obtain(REQUEST, tmp_path / "pypi")
    assert not (tmp_path / "pypi").exists()
    monkeypatch.setattr(packages, "run_logged", working)
    assert (WHEELS.obtain(REQUEST, tmp_path / "pypi") / "bin" / "nvcc").is_file()


def test_debian_packages_are_unpacked_without_touching_the_system(ran: list[list[str]], tmp_path: Path) -> None:
    debian_archive.unpack(SUITE, tmp_path / "root", log=tmp_path / "log", label="x")
    assert [command[:3] for command in ran[:2]] == [["apt-get", "--quiet", "update"], ["apt-get", "--quiet", "download"]]
    assert ran[1][3:] == ["first", "second"]
    assert (tmp_path / "root" / "usr" / "lib" / "libm.so").readlink() == Path("../../lib/libm.so.6")
    assert (tmp_path / "root" / "packages.txt").read_text(encoding="utf-8") == "first_1_amd64\nsecond_1_amd64\n"
    assert {path.name for path in tmp_path.iterdir()} == {"root"}


def test_a_package_that_apt_leaves_out_is_an_error(ran: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del ran
    monkeypatch.setattr(debian_archive, "run_logged", lambda *_, **__: None)
    with pytest.raises(ToolkitError, match="delivered 0 of 2"):
        debian_archive.unpack(SUITE, tmp_path / "root", log=tmp_path / "log", label="x")


def test_without_apt_or_debians_keys_the_provider_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "dpkg" else f"/usr/bin/{name}")
    assert debian_archive.obstacle() == "needs dpkg, of a Debian-like system"
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(debian_archive, "KEYRING", tmp_path / "keys.gpg")
    assert "debian-archive-keyring" in debian_archive.obstacle()
    (tmp_path / "keys.gpg").touch()
    assert debian_archive.obstacle() == ""


def test_the_table_serves_the_releases_that_the_index_and_debian_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian_archive, "obstacle", lambda: "")
    releases = ("12.4", "12.6", "12.8", "13.0", "13.1")
    providers = toolkits.table().provider
    served = {
        name: [release for release in releases if not providers[name].obstacle(Request(release=release, system="linux_x86_64"))]
        for name in ("pypi", "debian")
    }
    assert served == {"pypi": ["13.0", "13.1"], "debian": ["12.4"]}
