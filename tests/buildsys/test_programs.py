"""Programs of the system: found, installed by root, or named with what brings them."""

from __future__ import annotations

import subprocess

import pytest

from buildsys import programs
from buildsys.programs import Program, ProgramMissingError, find_program

WINE = Program(names=("wine64", "wine"), package="wine", advice="install it: `apt-get install wine`")


class OtherError(ProgramMissingError):
    """A caller's own class."""


class System:
    """Stands in for PATH and apt-get."""

    def __init__(self) -> None:
        self.present: set[str] = set()
        self.brought: set[str] = set()
        self.ran: list[list[str]] = []
        self.code = 0

    def which(self, name: str, **_: object) -> str | None:
        return f"/usr/bin/{name}" if name in self.present else None

    def run(self, words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.ran.append(words)
        if "install" in words:
            self.present |= self.brought
        return subprocess.CompletedProcess(words, self.code, stdout="no network" if self.code else "")


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    system = System()
    monkeypatch.setattr(programs.shutil, "which", system.which)
    monkeypatch.setattr(programs.subprocess, "run", system.run)
    monkeypatch.setattr(programs.os, "geteuid", lambda: 0, raising=False)
    return system


def test_any_of_its_names_will_do(system: System) -> None:
    system.present = {"wine"}
    assert find_program(WINE) == "/usr/bin/wine"
    assert system.ran == []


def test_administrators_folders_are_searched_too(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    monkeypatch.setenv("PATH", "/home/me/bin")
    monkeypatch.setattr(programs.shutil, "which", lambda name, path="": searched.append(path) or f"/usr/sbin/{name}")
    find_program(WINE)
    assert searched == ["/home/me/bin:/usr/sbin:/sbin"]


@pytest.mark.parametrize(("user", "present"), [(1000, {"apt-get"}), (0, set())], ids=["no root", "no apt-get"])
def test_what_cannot_be_installed_is_named_with_its_package(
    system: System, monkeypatch: pytest.MonkeyPatch, user: int, present: set[str]
) -> None:
    system.present = present
    monkeypatch.setattr(programs.os, "geteuid", lambda: user, raising=False)
    with pytest.raises(OtherError, match="wine64 is not on PATH") as caught:
        find_program(WINE, OtherError)
    assert caught.value.hint == WINE.advice
    assert system.ran == []


def test_root_gets_it_installed(system: System) -> None:
    system.present, system.brought = {"apt-get"}, {"wine"}
    assert find_program(WINE) == "/usr/bin/wine"
    assert [words[:2] for words in system.ran] == [["apt-get", "update"], ["apt-get", "install"]]
    assert system.ran[1][-1] == "wine"


def test_a_failed_installation_shows_its_output(system: System) -> None:
    system.present, system.code = {"apt-get"}, 100
    with pytest.raises(OtherError, match="no network"):
        find_program(WINE, OtherError)


def test_a_package_without_the_program(system: System) -> None:
    system.present = {"apt-get"}
    with pytest.raises(ProgramMissingError, match="the package wine brought no wine64"):
        find_program(WINE)
