"""What a machine must have: rights, programs, keys, and a handler for another processor's programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from buildsys.systems import host
from buildsys.systems.host import EmulationMissingError, RightsMissingError
from buildsys.systems.table import System

if TYPE_CHECKING:
    from collections.abc import Callable

HANDLER = "enabled\ninterpreter /usr/libexec/qemu-binfmt/aarch64-binfmt-P\nflags: PF\noffset 0\n"


def system(machine: str) -> System:
    return System(name="x", suite="sid", machine=machine, packages=())  # type: ignore[arg-type]


class Machine:
    """An x86-64 Debian, seen through fakes; what apt-get brings appears when it is called."""

    def __init__(self, folder: Path) -> None:
        self.handler = folder / "qemu-aarch64"
        self.keyring = folder / "keyring.gpg"
        self.keyring.touch()
        self.has_apt = True
        self.installed: list[str] = []
        self.on_install: Callable[[], None] = lambda: None
        self.commands: list[list[str]] = []
        self.on_command: Callable[[], None] = lambda: None

    def apt_get(self, *packages: str, **_: object) -> None:
        self.installed.extend(packages)
        self.on_install()

    def run(self, words: list[str], **_: object) -> None:
        self.commands.append(words)
        self.on_command()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setattr(host.sys, "platform", "linux")
    monkeypatch.setattr(host.os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(host.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(host, "find_program", lambda program: f"/usr/sbin/{program.names[0]}")
    monkeypatch.setattr(host, "apt_get", machine.apt_get)
    monkeypatch.setattr(host, "HANDLERS", tmp_path)
    monkeypatch.setattr(host, "KEYRINGS", (tmp_path / "none.gpg", machine.keyring))
    monkeypatch.setattr(host.shutil, "which", lambda name: f"/usr/bin/{name}" if machine.has_apt else None)
    monkeypatch.setattr(host.subprocess, "run", machine.run)
    return machine


def test_its_own_processor_needs_no_emulator(machine: Machine) -> None:
    ready = host.prepare(system("x86_64"))
    assert (ready.debootstrap, ready.bubblewrap, ready.keyring) == ("/usr/sbin/debootstrap", "/usr/sbin/bwrap", machine.keyring)
    assert machine.installed == []


def test_people_without_rights_are_told_both_ways_to_have_them(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    del machine
    monkeypatch.setattr(host.os, "geteuid", lambda: 1000, raising=False)
    with pytest.raises(RightsMissingError) as caught:
        host.prepare(system("x86_64"))
    assert "sudo" in caught.value.hint
    assert "unshare --map-root-user --map-auto" in caught.value.hint


def test_other_systems_are_told_where_it_runs(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    del machine
    monkeypatch.setattr(host.sys, "platform", "win32")
    with pytest.raises(RightsMissingError, match="Linux"):
        host.prepare(system("x86_64"))


@pytest.mark.parametrize(
    ("own", "other", "foreign"),
    [("x86_64", "x86_64", False), ("AMD64", "x86_64", False), ("x86_64", "aarch64", True), ("arm64", "aarch64", False)],
)
def test_processors_by_any_of_their_names(monkeypatch: pytest.MonkeyPatch, own: str, other: str, foreign: bool) -> None:
    monkeypatch.setattr(host.platform, "machine", lambda: own)
    assert host.is_foreign(system(other)) is foreign


def test_a_registered_emulator_is_taken_as_it_is(machine: Machine) -> None:
    machine.handler.write_text(HANDLER)
    host.prepare(system("aarch64"))
    assert machine.installed == machine.commands == []


@pytest.mark.parametrize("text", [HANDLER.replace("enabled", "disabled"), HANDLER.replace("PF", "P"), ""], ids=["off", "not F", "empty"])
def test_a_handler_that_does_not_work_inside_a_root_is_none(machine: Machine, text: str) -> None:
    machine.has_apt = False
    machine.handler.write_text(text)
    with pytest.raises(EmulationMissingError) as caught:
        host.prepare(system("aarch64"))
    assert "qemu-user-static" in caught.value.hint


def test_an_emulator_is_installed(machine: Machine) -> None:
    machine.on_install = lambda: machine.handler.write_text(HANDLER) and None
    host.prepare(system("aarch64"))
    assert machine.installed == ["qemu-user-static", "binfmt-support"]
    assert machine.commands == []


def test_an_emulator_that_its_package_left_off_is_switched_on(machine: Machine) -> None:
    machine.on_command = lambda: machine.handler.write_text(HANDLER) and None
    host.prepare(system("aarch64"))
    assert machine.commands[0][0] == "mount"


def test_missing_keys_are_installed_or_named(machine: Machine) -> None:
    machine.keyring.unlink()
    machine.on_install = machine.keyring.touch
    assert host.prepare(system("x86_64")).keyring == machine.keyring
    assert machine.installed == ["debian-archive-keyring"]
    machine.keyring.unlink()
    machine.has_apt = False
    with pytest.raises(host.ProgramMissingError, match="verified") as caught:
        host.prepare(system("x86_64"))
    assert "debian-archive-keyring" in caught.value.hint
