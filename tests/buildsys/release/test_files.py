from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from buildsys import cli
from buildsys.matrix import BuildRow, rows, select
from buildsys.pipeline.wheel import expected_version
from buildsys.project import package_version
from buildsys.release.files import CHECKSUMS, IncompleteReleaseError, UnpublishableError, collect, write_checksums
from buildsys.sbom.wheel import SBOM_PATH

VERSION = package_version()
SDIST = f"llama_cpp_python-{VERSION}.tar.gz"


def wheel_name(row: BuildRow) -> str:
    return f"llama_cpp_python-{expected_version(row)}-py3-none-{row.platform_tag}.whl"


def make_wheel(folder: Path, row: BuildRow, *, sbom: bool = True, component: str = "ggml") -> Path:
    path = folder / wheel_name(row)
    materials = f'{{"for": "{row.identifier}", "components": [{{"name": "{component}"}}]}}'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("llama_cpp/__init__.py", "")
        if sbom:
            archive.writestr(f"llama_cpp_python-{expected_version(row)}.dist-info/{SBOM_PATH}", materials)
    return path


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    folder.mkdir()
    for row in rows():
        make_wheel(folder, row)
    (folder / SDIST).write_bytes(b"sources")
    return folder


def test_a_complete_release_is_sorted_by_where_it_is_published(dist: Path, tmp_path: Path) -> None:
    folders = collect(dist, tmp_path / "out", rows())
    names = {wheel_name(row) for row in rows()} | {SDIST}
    assets = {path.name for path in folders.assets.iterdir()}
    assert names <= assets
    assert len(assets - names) == len(rows()), "an SBOM beside each wheel"
    assert {path.name for path in folders.sboms.iterdir()} == {f"{row.identifier}.cdx.json" for row in rows()}
    assert (folders.sboms / "macos_arm64-metal.cdx.json").read_text(encoding="utf-8").startswith('{"for": "macos_arm64-metal"')


def test_no_file_with_a_local_version_goes_to_the_package_index(dist: Path, tmp_path: Path) -> None:
    names = {path.name for path in collect(dist, tmp_path / "out", rows()).package_index.iterdir()}
    assert not [name for name in names if "+" in name]
    assert names == {wheel_name(row) for row in rows() if not row.cuda} | {SDIST}


def test_collecting_again_leaves_nothing_of_the_time_before(dist: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "package-index").mkdir(parents=True)
    (tmp_path / "out" / "package-index" / "old.whl").touch()
    collect(dist, tmp_path / "out", rows())
    assert not (tmp_path / "out" / "package-index" / "old.whl").exists()


def test_a_missing_row_is_named(dist: Path, tmp_path: Path) -> None:
    for row in select(["*cu128"]):
        (dist / wheel_name(row)).unlink()
    with pytest.raises(IncompleteReleaseError, match="linux_x86_64-cu128, windows_amd64-cu128"):
        collect(dist, tmp_path / "out", rows())


def test_two_wheels_of_one_row_are_refused(dist: Path, tmp_path: Path) -> None:
    name = wheel_name(select(["linux_x86_64-cpu"])[0])
    (dist / name.replace("2_28", "2_27")).write_bytes((dist / name).read_bytes())
    with pytest.raises(IncompleteReleaseError, match="two wheels"):
        collect(dist, tmp_path / "out", rows())


def test_a_wheel_of_another_version_is_refused(dist: Path, tmp_path: Path) -> None:
    name = wheel_name(select(["linux_x86_64-cpu"])[0])
    (dist / name).rename(dist / name.replace(VERSION, "0.0.1"))
    with pytest.raises(IncompleteReleaseError, match=f"not of version {VERSION}"):
        collect(dist, tmp_path / "out", rows())


@pytest.mark.parametrize("name", ["llama_cpp_python-0.0.1.tar.gz", "other-1.tar.gz", "sources.tar.gz"])
def test_sources_of_another_version_are_refused(dist: Path, tmp_path: Path, name: str) -> None:
    (dist / SDIST).rename(dist / name)
    with pytest.raises(IncompleteReleaseError, match=r"tar\.gz"):
        collect(dist, tmp_path / "out", rows())


def test_a_release_without_sources_or_with_two_is_refused(dist: Path, tmp_path: Path) -> None:
    (dist / "again.tar.gz").touch()
    with pytest.raises(IncompleteReleaseError, match="found 2"):
        collect(dist, tmp_path / "out", rows())
    (dist / "again.tar.gz").unlink()
    (dist / SDIST).unlink()
    with pytest.raises(IncompleteReleaseError, match="found 0"):
        collect(dist, tmp_path / "out", rows())


def test_a_file_that_nobody_expects_is_refused(dist: Path, tmp_path: Path) -> None:
    (dist / "notes.txt").touch()
    with pytest.raises(IncompleteReleaseError, match="notes"):
        collect(dist, tmp_path / "out", rows())


def test_a_wheel_without_a_bill_of_materials_is_refused(dist: Path, tmp_path: Path) -> None:
    make_wheel(dist, select(["linux_aarch64-cpu"])[0], sbom=False)
    with pytest.raises(IncompleteReleaseError, match=r"aarch64\.whl has no bill of materials"):
        collect(dist, tmp_path / "out", rows())


def test_a_wheel_with_a_component_that_may_not_be_passed_on_is_refused(dist: Path, tmp_path: Path) -> None:
    make_wheel(dist, select(["windows_amd64-cpu"])[0], component="Intel OpenMP runtime")
    with pytest.raises(UnpublishableError, match=r"win_amd64\.whl has Intel OpenMP runtime in it: Intel's licence") as caught:
        collect(dist, tmp_path / "out", rows())
    assert "pipeline" in caught.value.hint
    assert not (tmp_path / "out").exists()


def test_checksums_are_those_of_the_files_and_never_their_own(tmp_path: Path) -> None:
    for name in ("b+cu131.whl", "a.whl"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    write_checksums(tmp_path)
    lines = write_checksums(tmp_path).read_text(encoding="utf-8").splitlines()
    assert lines == [f"{hashlib.sha256(name.encode()).hexdigest()}  {name}" for name in ("a.whl", "b+cu131.whl")]


def test_the_commands_do_both(dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert cli.main(["release", "collect", str(dist), str(out)]) == 0
    assert cli.main(["release", "checksums", str(out / "assets")]) == 0
    assert f"assets: {2 * len(rows()) + 1} files" in capsys.readouterr().out
    assert len((out / "assets" / CHECKSUMS).read_text(encoding="utf-8").splitlines()) == 2 * len(rows()) + 1
