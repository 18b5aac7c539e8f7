"""The files below .github as the tests of this folder see them: jobs, steps, and the commands in their scripts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from buildsys.project import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ACTIONS = sorted((GITHUB / "actions").glob("*/action.yml"))
FILES = [*WORKFLOWS, *ACTIONS]

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_COMMAND = re.compile(r"(?:python -m buildsys|nox -s)[^\n)>|;]*")
_VALUES = {
    "IDENTIFIER": "linux_x86_64-cpu",
    "PYTHON": "3.12",
    "GITHUB_REF_NAME": "v0.4.0",
    "ROWS": "*",
    "jobs": "builds",
    "ASSETS": "assets",
}


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job of a workflow, or the steps of a composite action."""

    file: str
    name: str
    body: dict[str, Any]

    @property
    def steps(self) -> list[dict[str, Any]]:
        return list(self.body.get("steps", []))

    @property
    def scripts(self) -> list[str]:
        return [step["run"] for step in self.steps if "run" in step]

    @property
    def needs(self) -> list[str]:
        stated = self.body.get("needs", [])
        return [stated] if isinstance(stated, str) else list(stated)

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"


def load(path: Path) -> dict[str, Any]:
    # YAML 1.1 takes the key `on` for a boolean.
    loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in loaded.items()}


def jobs(path: Path) -> list[Job]:
    return [Job(file=path.name, name=name, body=body) for name, body in load(path).get("jobs", {}).items()]


def all_jobs() -> list[Job]:
    return [job for path in WORKFLOWS for job in jobs(path)]


def composites() -> list[Job]:
    return [Job(file=path.parent.name, name="runs", body=load(path)["runs"]) for path in ACTIONS]


def uses(path: Path) -> Iterator[str]:
    """The value of each `uses:` with the comment behind it, as the file has it."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"\s*(?:- )?uses: (.+)", line):
            yield match[1]


def expressions(text: str) -> list[str]:
    return [match.strip() for match in _EXPRESSION.findall(text)]


def commands(script: str) -> list[list[str]]:
    """What a script runs of this project, as words; shell variables get a value that a run could have."""
    joined = script.replace("\\\n", " ")
    return [shlex.split(_filled(text)) for text in _COMMAND.findall(joined)]


def _filled(text: str) -> str:
    text = text.replace('"${options[@]}"', "")
    return re.sub(r"\$\{?(\w+)\}?", lambda match: _VALUES[match[1]], text)
