from __future__ import annotations

import pytest

from buildsys import cli
from buildsys.errors import BuildError


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_explains_itself_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    assert f"example: python -m buildsys {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_a_command_module_is_registered_under_its_own_name(name: str) -> None:
    command = cli.load_command(name)
    assert name == command.NAME


def test_a_failure_becomes_its_message_its_next_step_and_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["matrix", "plan9*"]) == 4
    printed = capsys.readouterr().err
    assert printed.startswith("error: no build matches 'plan9*'\n  next: choose from: ")


def test_each_failure_has_an_exit_code_of_its_own() -> None:
    direct = BuildError.__subclasses__()
    codes = [kind.exit_code for kind in direct if kind.__module__ == "buildsys.errors"]
    assert len(set(codes)) == len(codes)
    assert not {0, 1, 2, 130} & set(codes)
