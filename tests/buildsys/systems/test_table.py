"""The table of systems: what it may state, and selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from buildsys.conformance import runner
from buildsys.matrix import rows
from buildsys.systems.table import System, Systems, UnknownSystemError, select, table
from buildsys.tables import load_toml

if TYPE_CHECKING:
    from pathlib import Path

PLAIN: dict[str, Any] = {"name": "old", "suite": "bullseye", "machine": "x86_64", "packages": ["python3"]}


def test_the_oldest_system_comes_first_and_each_linux_machine_has_one() -> None:
    systems = table().system
    stated = [tuple(map(int, system.glibc.split("."))) for system in systems if system.glibc and system.machine == "x86_64"]
    assert stated == sorted(stated)
    assert {system.machine for system in systems} == {row.machine for row in rows() if row.system == "linux"}


def test_processors_are_due_variants_that_the_matrix_builds() -> None:
    built = {row.machine: set(row.cpu_variants) for row in rows() if row.system == "linux"}
    for system in table().system:
        assert {processor.variant for processor in system.processors} <= built[system.machine], system.name


def test_only_emulated_systems_run_the_tests_for_processors_alone() -> None:
    markers = (runner.SUITE / "pytest.ini").read_text(encoding="utf-8")
    assert {f"{name}:" in markers for name in (runner.ONCE_PER_WHEEL, runner.EVERY_PROCESSOR)} == {True}
    assert {system.extent for system in table().system if system.machine == "x86_64"} == {"short", "whole"}
    assert {system.extent for system in table().system if system.processors} == {"processor"}


def test_selection_keeps_the_order_of_the_table() -> None:
    assert [system.name for system in select(["sid", "bullseye"])] == ["bullseye", "sid"]
    assert select([]) == table().system
    with pytest.raises(UnknownSystemError, match="potato") as caught:
        select(["potato"])
    assert "bookworm" in caught.value.hint


def test_a_compiled_python_is_the_one_to_prove_with() -> None:
    source = {"archive": "pool/x.tar.gz", "size": 1, "sha256": "0", "packages": ["gcc"]}
    assert msgspec.convert(PLAIN, System).interpreter == "/usr/bin/python3"
    assert msgspec.convert({**PLAIN, "python": "3.11", "python_source": source}, System).interpreter == "/opt/python/bin/python3"
    with pytest.raises(msgspec.ValidationError, match="version"):
        msgspec.convert({**PLAIN, "python_source": source}, System)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"name": "../etc"}, "lower-case"), ({"patience": 0}, "patience"), ({"keep_days": -1}, "keep_days"), ({"machine": "mips"}, "machine")],
)
def test_values_that_cannot_be_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert({**PLAIN, **change}, System)


def test_names_are_given_once(tmp_path: Path) -> None:
    row = '[[system]]\nname = "a"\nsuite = "sid"\nmachine = "x86_64"\npackages = []\n'
    path = tmp_path / "systems.toml"
    path.write_text(f'mirror = "x"\n{row}{row}')
    with pytest.raises(Exception, match="share a name"):
        load_toml(path, Systems)
