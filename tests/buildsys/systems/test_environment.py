"""Environments inside a root: made once per Python and requirements, filled offline, the wheel installed afresh each time."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from buildsys.conformance.environment import EnvironmentSetupError
from buildsys.errors import CommandFailedError
from buildsys.systems import environment
from buildsys.systems.chamber import Chamber
from buildsys.systems.environment import Facts, PackagesUnavailableError, SystemUnfitError, download, installed, look
from buildsys.systems.root import Root

FACTS = Facts(release="3.11.2", version="3.11", glibc="2.31", machine="x86_64")


class Inside:
    """Stands in for the programs inside: records what they were asked, and fails where it is told to."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.downloads: list[list[str]] = []
        self.fails_at = ""
        self.prints = ""

    def run(self, words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.calls.append(words[words.index("--") + 1 :])
        failed = bool(self.fails_at) and self.fails_at in words
        return subprocess.CompletedProcess(words, int(failed), stdout=self.prints, stderr="no matching distribution\n")

    def run_logged(self, words: list[str], *, log: Path, label: str) -> None:
        del log, label
        self.downloads.append(words)
        if self.fails_at == "download":
            raise CommandFailedError("pip failed", hint="read the log")
        Path(words[words.index("--dest") + 1]).mkdir(parents=True)

    def commands(self) -> list[str]:
        """The programs that ran, by the word that tells them apart."""
        return [next(word for word in ("venv", "check", "--force-reinstall", "--find-links") if word in call) for call in self.calls]


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Inside:
    fake = Inside()
    monkeypatch.setattr(environment.subprocess, "run", fake.run)
    monkeypatch.setattr(environment, "run_logged", fake.run_logged)
    return fake


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("thing-1.0.dist-info/METADATA", "Name: thing\nRequires-Dist: numpy>=1.24\n\n")
    (tmp_path / "requirements.txt").write_text("pytest==1.0  # pinned\n")
    return path


def install(wheel: Path, **changes: Any) -> Chamber:
    folder = wheel.parent / "old-0123"
    root = Root(folder=folder)
    chamber = Chamber(program="bwrap", root=root.tree)
    facts = Facts(**{"release": "3.11.2", "version": "3.11", "glibc": "2.31", "machine": "x86_64", **changes})
    return installed(chamber, root, facts, wheel, interpreter="/usr/bin/python3", requirements=wheel.parent / "requirements.txt")


def test_a_root_says_what_it_is(inside: Inside) -> None:
    inside.prints = json.dumps({"release": "3.11.2", "version": "3.11", "glibc": "2.31", "machine": "x86_64"})
    assert look(Chamber(program="bwrap", root=Path("/r")), "/usr/bin/python3") == FACTS


def test_a_python_that_does_not_run_is_no_fault_of_a_wheel(inside: Inside) -> None:
    inside.fails_at = "/usr/bin/python3"
    with pytest.raises(SystemUnfitError):
        look(Chamber(program="bwrap", root=Path("/old-0123/root")), "/usr/bin/python3")


def test_platforms_go_from_the_systems_glibc_down() -> None:
    assert FACTS.platforms[0] == "manylinux_2_31_x86_64"
    assert FACTS.platforms[-2:] == ["manylinux_2_17_x86_64", "manylinux2014_x86_64"]


def test_packages_are_those_of_the_system_not_of_this_machine(inside: Inside, tmp_path: Path) -> None:
    download(tmp_path / "packages", FACTS, ["numpy>=1.24"])
    (words,) = inside.downloads
    chosen = {
        name: [words[at + 1] for at, word in enumerate(words) if word == name] for name in ("--python-version", "--abi", "--platform")
    }
    assert chosen == {"--python-version": ["3.11"], "--abi": ["cp311", "abi3", "none"], "--platform": FACTS.platforms}
    assert words[words.index("--only-binary") + 1] == ":all:"
    assert words[-1] == "numpy>=1.24"


def test_packages_that_are_not_to_be_had_are_no_fault_of_a_wheel(inside: Inside, tmp_path: Path) -> None:
    inside.fails_at = "download"
    with pytest.raises(PackagesUnavailableError):
        download(tmp_path / "packages", FACTS, ["numpy"])


def test_it_is_made_once_and_the_wheel_installed_each_time(inside: Inside, wheel: Path) -> None:
    install(wheel)
    assert inside.commands() == ["venv", "--find-links", "--force-reinstall", "check"]
    assert inside.calls[1][-2:] == ["numpy>=1.24", "pytest==1.0"]
    assert "--no-index" in inside.calls[1]
    assert {"--no-index", "--no-deps"} <= set(inside.calls[2])
    inside.calls.clear()
    install(wheel)
    assert inside.commands() == ["--force-reinstall", "check"]
    assert len(inside.downloads) == 1


def test_another_python_or_requirement_is_another_environment(inside: Inside, wheel: Path) -> None:
    install(wheel)
    install(wheel, release="3.11.9")
    (wheel.parent / "requirements.txt").write_text("pytest==2.0\n")
    install(wheel)
    assert inside.commands().count("venv") == 3


def test_one_that_was_left_half_made_is_made_anew(inside: Inside, wheel: Path) -> None:
    inside.fails_at = "--find-links"
    with pytest.raises(SystemUnfitError, match="no matching distribution"):
        install(wheel)
    inside.fails_at = ""
    inside.calls.clear()
    install(wheel)
    assert inside.commands()[0] == "venv"


@pytest.mark.parametrize("step", ["--force-reinstall", "check"])
def test_a_wheel_that_does_not_install_is_at_fault(inside: Inside, wheel: Path, step: str) -> None:
    inside.fails_at = step
    with pytest.raises(EnvironmentSetupError, match="no matching distribution"):
        install(wheel)


def test_the_suite_gets_the_environment_read_only(inside: Inside, wheel: Path) -> None:
    del inside
    mounts = {str(mount.inside): mount for mount in install(wheel).mounts}
    assert not mounts["/proof/environment"].writable
    assert "/proof/packages" not in mounts
