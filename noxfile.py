"""Sessions for people and pipelines; each one calls `python -m buildsys` or a well-known tool, and holds no logic."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "tests"]
nox.options.default_venv_backend = "virtualenv"
nox.needs_version = ">=2025.2.9"

PROJECT = nox.project.load_toml("pyproject.toml")
THIS_PYTHON = ".".join(platform.python_version_tuple()[:2])
RUFF_TARGETS = ["buildsys", "package", "conformance", "tests", "benchmarks", "noxfile.py"]


def install_group(session: nox.Session, *groups: str) -> None:
    """Install the named dependency groups of pyproject.toml."""
    session.install("--quiet", *nox.project.dependency_groups(PROJECT, *groups))


def buildsys(session: nox.Session, *words: str, also: tuple[str, ...] = ()) -> None:
    """Run `python -m buildsys` with its packages, and the groups `also`, installed."""
    install_group(session, "build", *also)
    session.run("python", "-m", "buildsys", *words)


@nox.session
def build_wheels(session: nox.Session) -> None:
    """Build and prove wheels from the pinned source: `nox -s build_wheels -- [IDENTIFIER…] [--help]`."""
    buildsys(session, "build", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run everything: build this machine's wheel, prove it on this Python, then the unit tests (`-- ARGS` go to pytest)."""
    install_group(session, "test")
    session.run("python", "-m", "buildsys", "build", "--python", THIS_PYTHON)
    session.run("python", "-m", "pytest", *session.posargs, env={"LLAMA_CPP_TEST_WHEEL": "dist"})


@nox.session
def nightly(session: nox.Session) -> None:
    """What `tests` runs, with thousands of new examples for each property: hours rather than minutes."""
    session.env.update(LLAMA_TEST_PROFILE="nightly", PYTEST_TIMEOUT="7200")
    tests(session)


@nox.session
def cibuildwheel(session: nox.Session) -> None:
    """Build one row as a release does, in its container on Linux: `nox -s cibuildwheel -- IDENTIFIER`."""
    buildsys(session, "cibuildwheel", *session.posargs, also=("release",))


@nox.session
def conformance(session: nox.Session) -> None:
    """Prove wheels that are there already: `nox -s conformance -- [--python X.Y] [WHEEL…]`."""
    buildsys(session, "conformance", *session.posargs)


@nox.session
def clients(session: nox.Session) -> None:
    """Run programs of others that sit on `llama_cpp`, unchanged, on the wheel: `nox -s clients -- [CLIENT…] [--wheel WHEEL]`."""
    buildsys(session, "clients", *session.posargs)


@nox.session
def dispatch(session: nox.Session) -> None:
    """Run a wheel on emulated old CPUs: `nox -s dispatch -- [WHEEL] [--cpu MODEL]`."""
    buildsys(session, "dispatch", *session.posargs)


@nox.session
def systems(session: nox.Session) -> None:
    """Prove Linux wheels inside old and new Debian systems: `nox -s systems -- [SYSTEM…] [--wheel WHEEL] [--help]`."""
    buildsys(session, "systems", *session.posargs)


@nox.session
def bindgen(session: nox.Session) -> None:
    """Generate the ctypes bindings from the pinned headers (`-- --check` only compares)."""
    buildsys(session, "vendor", also=("bindgen",))
    session.run("python", "-m", "buildsys", "bindgen", *session.posargs)


@nox.session
def bump(session: nox.Session) -> None:
    """Move the pin of llama.cpp and tell what that changes: `nox -s bump -- COMMIT [--help]`."""
    buildsys(session, "bump", *session.posargs, also=("bindgen",))


@nox.session
def reproduce(session: nox.Session) -> None:
    """Build a wheel twice, differently, and compare byte for byte: `nox -s reproduce -- [--quick] [IDENTIFIER]`."""
    buildsys(session, "reproduce", *session.posargs)


@nox.session
def sdist(session: nox.Session) -> None:
    """Make the source distribution, check and reproduce it, and install it offline (`-- OPTIONS` instead of all that)."""
    buildsys(session, "sdist", *(session.posargs or ["--reproduce", "--prove"]))


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting (`-- --fix` corrects what it can)."""
    install_group(session, "lint")
    session.run("ruff", "check", *session.posargs, *RUFF_TARGETS)
    session.run("ruff", "format", *([] if "--fix" in session.posargs else ["--check"]), *RUFF_TARGETS)


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly."""
    install_group(session, "types")
    session.run("mypy", *session.posargs)


@nox.session
def workflows(session: nox.Session) -> None:
    """Check the pipelines: GitHub's schemas, zizmor's rules, and actionlint's where it is on PATH."""
    install_group(session, "workflows")
    for schema, pattern in (("workflows", "workflows/*.yml"), ("actions", "actions/*/action.yml")):
        files = [str(path) for path in sorted(Path(".github").glob(pattern))]
        session.run("check-jsonschema", "--builtin-schema", f"vendor.github-{schema}", *files)
    session.run("check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")
    session.run("zizmor", "--offline", "--persona", "pedantic", ".github")
    if shutil.which("actionlint"):
        session.run("actionlint", external=True)
    else:
        session.warn("actionlint is not on PATH, so its checks were left out")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure decoding against a native loop and the published peer, in one run: `nox -s bench -- [--help]`."""
    install_group(session, "build")
    session.run("python", "-m", "benchmarks", *session.posargs)
