from __future__ import annotations

from pathlib import Path

import pytest

from buildsys import vendor
from buildsys.cli import main
from buildsys.errors import NotReproducibleError, SdistError
from buildsys.sdist import command, make
from buildsys.sdist.install import InstallProof
from buildsys.sdist.make import file_name

from .archives import sound_files, written


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A backend that writes a small sound archive, beside sources that are no clone."""
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(vendor, "populate", lambda **_: False)
    monkeypatch.setattr(command, "check", lambda sdist: command_check(sdist, tmp_path))
    backend(monkeypatch, file_name())


def command_check(sdist: Path, root: Path) -> int:
    from buildsys.sdist.contents import check  # noqa: PLC0415 - the command's own name is replaced

    return check(sdist, root=root)


def backend(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[dict[str, str]]:
    variables: list[dict[str, str]] = []

    def run(words: list[object], *, env: dict[str, str], **_: object) -> None:
        variables.append(env)
        for name in names:
            written(Path(str(words[words.index("--outdir") + 1])), sound_files(), name=name)

    monkeypatch.setattr(make, "run_logged", run)
    return variables


def test_the_archive_is_made_dated_checked_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    variables = backend(monkeypatch, file_name())
    assert main(["sdist", "--output", str(tmp_path / "out")]) == 0
    assert variables == [{"SOURCE_DATE_EPOCH": "1700000000"}]
    assert (tmp_path / "out" / file_name()).is_file()
    assert f"{len(sound_files())} files" in capsys.readouterr().out


@pytest.mark.parametrize("names", [(), ("other-1.tar.gz",), (file_name(), "second.tar.gz")])
def test_anything_else_than_one_archive_of_this_version_is_refused(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    backend(monkeypatch, *names)
    assert main(["sdist", "--output", str(tmp_path / "out")]) == SdistError.exit_code
    assert f"expected {file_name()}" in capsys.readouterr().err


@pytest.mark.parametrize(("changed", "code"), [({}, 0), ({"CHANGELOG.md": b"another"}, NotReproducibleError.exit_code)])
def test_an_archive_made_elsewhere_is_compared(
    changed: dict[str, bytes], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_copy(_place: object, base: Path, arguments: list[str]) -> Path:
        assert arguments[:3] == ["-m", "buildsys", "sdist"]
        (base / "dist").mkdir(parents=True)
        again = written(base / "dist", {**sound_files(), **changed})
        if not changed:
            again.write_bytes((tmp_path / "out" / file_name()).read_bytes())
        return base

    monkeypatch.setattr(command, "run_copy", run_copy)
    assert main(["sdist", "--reproduce", "--output", str(tmp_path / "out")]) == code
    told = capsys.readouterr()
    assert ("CHANGELOG.md: content" in told.out) is bool(changed)
    assert ("the same bytes" in told.out) is not bool(changed)


def test_the_proof_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "prove_install", lambda _: InstallProof(libraries=("ggml", "llama"), sample="Paris.", networkless=True))
    assert main(["sdist", "--prove", "--output", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    lines = [line.split(maxsplit=1) for line in told.splitlines()]
    assert [name for name, _ in lines[:4]] == ["file", "size", "installed", "libraries"]
    assert lines[2][1].startswith("without a network with CMAKE_ARGS=-DGGML_RPC=OFF in ")
    assert lines[4] == ["it", "says     “Paris.”"]
