"""pip and uv install from a written site over HTTP, as a user's machine does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from uv import find_uv_bin

from buildsys.cli import main
from buildsys.project import ROOT
from tests.buildsys.index.small_wheels import LINUX, make_wheel, metadata
from tests.buildsys.index.static_server import StaticServer, static_server

YANKED = '[[yank]]\nversions = "==0.4.2"\nreason = "crashes at start; use 0.4.1"\n'
HTML_OR_JSON = pytest.mark.parametrize("server", [False, True], ids=["static", "negotiating"], indirect=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index")
    for version in ("0.4.0", "0.4.1", "0.4.2", "0.4.1+cu124", "0.4.0+cu131", "0.4.1+cu131"):
        make_wheel(folder / "dist", version)
    make_wheel(folder / "dist", "0.4.3", metadata_text=metadata("0.4.3", requires_python=">=3.99"))
    make_wheel(folder / "dist", "0.4.1", "win_amd64")
    (folder / "yanked.toml").write_text(YANKED, encoding="utf-8")
    assert main(["index", str(folder / "dist"), str(folder / "site"), "--yanked", str(folder / "yanked.toml")]) == 0
    return folder / "site"


@pytest.fixture
def server(site: Path, request: pytest.FixtureRequest) -> Iterator[StaticServer]:
    with static_server(site, negotiating=getattr(request, "param", False)) as running:
        yield running


class Installer:
    """One of the programs, kept away from the machine's configuration and caches."""

    def __init__(self, home: Path) -> None:
        self.target = home / "target"
        self.cache = home / "cache"

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        own = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "UV_", "PYTHON"))}
        clean = {**own, "PIP_CONFIG_FILE": os.devnull, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=clean)

    def installed(self) -> str:
        (init,) = self.target.glob("llama_cpp/__init__.py")
        return init.read_text(encoding="utf-8").split('"')[1]


class Pip(Installer):
    def install(self, index: str, requirement: str, *options: str) -> subprocess.CompletedProcess[str]:
        fixed = ["--isolated", "--no-cache-dir", "--disable-pip-version-check"]
        place = ["--target", str(self.target), "--platform", LINUX, "--only-binary", ":all:", "--no-deps", "--index-url", index]
        return self.run(sys.executable, "-m", "pip", *fixed, "install", *place, *options, requirement)


class Uv(Installer):
    def install(self, index: str, requirement: str, *options: str) -> subprocess.CompletedProcess[str]:
        fixed = ["--no-config", "--cache-dir", str(self.cache), "--python", sys.executable]
        place = ["--target", str(self.target), "--python-platform", "x86_64-manylinux_2_28", "--no-deps", "--default-index", index]
        return self.run(find_uv_bin(), "pip", "install", *fixed, *place, *options, requirement)


@pytest.fixture(params=[Pip, Uv], ids=["pip", "uv"])
def installer(request: pytest.FixtureRequest, tmp_path: Path) -> Pip | Uv:
    made: Pip | Uv = request.param(tmp_path)
    return made


@pytest.mark.parametrize(
    ("folder", "requirement", "expected"),
    [
        ("cpu", "llama-cpp-python==0.4.0", "0.4.0"),
        ("cu131", "llama-cpp-python", "0.4.1+cu131"),
        ("cu131", "llama-cpp-python==0.4.0+cu131", "0.4.0+cu131"),
        ("cu131", "llama-cpp-python==0.4.0", "0.4.0+cu131"),
        ("cu124", "Llama.Cpp_Python>=0.4", "0.4.1+cu124"),
    ],
)
def test_the_folder_decides_the_accelerator(
    server: StaticServer, installer: Pip | Uv, folder: str, requirement: str, expected: str
) -> None:
    done = installer.install(f"{server.url}/{folder}/", requirement)
    assert done.returncode == 0, done.stderr
    assert installer.installed() == expected


@HTML_OR_JSON
def test_the_newest_release_is_neither_withdrawn_nor_for_a_later_python(server: StaticServer, installer: Pip | Uv) -> None:
    done = installer.install(f"{server.url}/cpu/", "llama_cpp_python")
    assert done.returncode == 0, done.stderr
    assert installer.installed() == "0.4.1"


@pytest.mark.parametrize("requirement", ["llama-cpp-python==0.4.1+cu124", "llama-cpp-python==0.4.3", "llama-cpp-python==0.9"])
def test_what_a_folder_has_not_is_not_installed(server: StaticServer, installer: Pip | Uv, requirement: str) -> None:
    assert installer.install(f"{server.url}/cu131/", requirement).returncode != 0
    assert not list(installer.target.glob("*/*"))


@HTML_OR_JSON
def test_a_withdrawn_release_comes_only_by_its_exact_version_and_says_why(server: StaticServer, installer: Pip | Uv) -> None:
    done = installer.install(f"{server.url}/cpu/", "llama-cpp-python==0.4.2")
    assert done.returncode == 0, done.stderr
    assert installer.installed() == "0.4.2"
    assert "crashes at start; use 0.4.1" in done.stdout + done.stderr


def test_pip_refuses_a_file_that_was_changed_on_the_server(site: Path, server: StaticServer, tmp_path: Path) -> None:
    with changed(site / "cu131" / "llama-cpp-python", "0.4.1+cu131"):
        done = Pip(tmp_path).install(f"{server.url}/cu131/", "llama-cpp-python")
    assert done.returncode != 0
    assert "HASHES" in done.stderr


def test_uv_refuses_it_with_locked_hashes(site: Path, server: StaticServer, tmp_path: Path) -> None:
    uv = Uv(tmp_path)
    locked = compiled(uv, f"{server.url}/cu131/", "--generate-hashes")
    (tmp_path / "locked.txt").write_text(locked, encoding="utf-8")
    with changed(site / "cu131" / "llama-cpp-python", "0.4.1+cu131"):
        done = uv.install(f"{server.url}/cu131/", f"-r{tmp_path / 'locked.txt'}", "--require-hashes")
    assert done.returncode != 0
    assert "Hash mismatch" in done.stderr


@HTML_OR_JSON
def test_uv_resolves_from_the_metadata_file_alone(server: StaticServer, tmp_path: Path) -> None:
    assert "llama-cpp-python==0.4.1+cu131" in compiled(Uv(tmp_path), f"{server.url}/cu131/")
    assert server.asked_for(".metadata") == [f"/cu131/llama-cpp-python/llama_cpp_python-0.4.1+cu131-py3-none-{LINUX}.whl.metadata"]
    assert not server.asked_for(".whl")
    assert not any("+" in path for path in server.paths)


@HTML_OR_JSON
def test_pip_resolves_from_the_metadata_file_alone(server: StaticServer, tmp_path: Path) -> None:
    done = Pip(tmp_path).install(f"{server.url}/cu131/", "llama-cpp-python", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "Would install llama-cpp-python-0.4.1+cu131" in done.stdout.replace("llama_cpp_python", "llama-cpp-python")
    assert server.asked_for(".metadata")
    assert not server.asked_for(".whl")


def test_the_guides_project_table_locks_one_index_per_platform(server: StaticServer, tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guide" / "which-wheel.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    named = table.replace("[project]\n", '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.10,<3.99"\n', 1)
    (tmp_path / "pyproject.toml").write_text(named.replace("https://wheels.example.org", server.url), encoding="utf-8")
    uv = Uv(tmp_path)
    done = uv.run(find_uv_bin(), "lock", "--project", str(tmp_path), "--cache-dir", str(uv.cache), "--python", sys.executable)
    assert done.returncode == 0, done.stderr
    locked = set(
        re.findall(r'^version = "([^"]+)"\nsource = \{ registry = "[^"]+/(\w+)/"', (tmp_path / "uv.lock").read_text("utf-8"), re.MULTILINE)
    )
    assert locked == {("0.4.1", "cpu"), ("0.4.1+cu131", "cu131")}


def compiled(uv: Uv, index: str, *options: str) -> str:
    """A requirements file that uv resolves from `index`."""
    uv.cache.parent.joinpath("in.txt").write_text("llama-cpp-python\n", encoding="utf-8")
    fixed = ["--no-config", "--cache-dir", str(uv.cache), "--python", sys.executable, "--python-platform", "x86_64-manylinux_2_28"]
    done = uv.run(find_uv_bin(), "pip", "compile", *fixed, "--default-index", index, *options, str(uv.cache.parent / "in.txt"))
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def changed(folder: Path, version: str) -> Iterator[None]:
    """The wheel of a version has other content on the server while the block runs."""
    (path,) = folder.glob(f"llama_cpp_python-{version}-*.whl")
    right = path.read_bytes()
    make_wheel(folder, version, content="print('not what was audited')\n")
    assert path.read_bytes() != right
    try:
        yield
    finally:
        path.write_bytes(right)
