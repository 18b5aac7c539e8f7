"""The clients' suite: what there is, what is run, and what counts as right."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.clients.runner import FOLDER, ClientResult, UnknownClientError, clients, commands, excuses
from buildsys.conformance.environment import Environment, stated_requirements
from buildsys.conformance.interpreters import Interpreter


def test_every_client_has_its_requirements_pinned() -> None:
    assert clients()
    assert [path.stem for path in sorted((FOLDER / "requirements").glob("*.txt"))] == clients()
    for path in (FOLDER / "requirements").glob("*.txt"):
        assert all("==" in line for line in stated_requirements(path)), path.name


def test_excuses_are_of_clients_that_exist() -> None:
    assert set(excuses()) <= set(clients())
    assert all(reason for reason in excuses().values())


def test_a_name_that_is_none() -> None:
    assert clients(["langchain"]) == ["langchain"]
    with pytest.raises(UnknownClientError, match="nonsense"):
        clients(["nonsense"])


@pytest.mark.parametrize(
    ("works", "excused", "ok", "verdict"),
    [
        (True, "", True, "works"),
        (False, "", False, "FAILED"),
        (False, "asks for torch", True, "fails, as known: asks for torch"),
        (True, "asks for torch", False, "works, but baseline.toml excuses it: remove its line"),
    ],
)
def test_verdicts(works: bool, excused: str, ok: bool, verdict: str) -> None:
    result = ClientResult(client="x", works=works, seconds=1.0, excused=excused)
    assert (result.ok, result.verdict) == (ok, verdict)


def test_the_wheel_is_installed_first_and_last() -> None:
    interpreter = Interpreter(version="3.12", release="3.12.1", path=Path("/usr/bin/python3"))
    run = commands("llm", Path("/w/llama_cpp_python-0.4.0-py3-none-any.whl"), Environment(interpreter=interpreter, root=Path("/e")))
    installs = [command[-1] for command in run if "pip" in command]
    assert installs[0] == installs[-1] == "/w/llama_cpp_python-0.4.0-py3-none-any.whl"
    assert run[-1][5].endswith("clients/test_llm.py")
