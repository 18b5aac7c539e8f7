"""Version and requirements per row of the matrix, and the wheels and source distributions that state them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

import pytest
from scikit_build_core.builder._load_provider import load_entry_provider

from buildsys.matrix import rows
from buildsys.metadata import wheel_metadata
from buildsys.metadata.wheel_metadata import Provider, of_row, plain_version
from buildsys.project import ROOT, package_version
from buildsys.tables import tomllib

COMMON = ["numpy>=1.24", "jinja2>=3.1", "typing-extensions>=4.8"]
SETTINGS = {"dependencies": COMMON}


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def metadata(monkeypatch: pytest.MonkeyPatch, identifier: str, state: str = "wheel") -> dict[str, Any]:
    monkeypatch.setenv("LLAMA_CPP_BUILD", identifier)
    provider = Provider()
    provider.build_state(state)
    return provider.dynamic_metadata(SETTINGS, {})


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.identifier)
def test_every_row_of_the_matrix_gets_its_label_and_requirements(row: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    label = f"+{row.local_version}" if row.local_version else ""
    requirements = list(row.cuda.requires) if row.cuda else []
    expected = {"version": package_version() + label, "dependencies": [*COMMON, *requirements]}
    assert metadata(monkeypatch, row.identifier) == expected


def test_labels_occur() -> None:
    assert of_row("linux_x86_64-cu131")[0] == "+cu131"
    assert of_row("linux_x86_64-cpu") == ("", ())


def test_without_a_row_all_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    assert metadata(monkeypatch, "") == {"version": plain_version(), "dependencies": COMMON}
    monkeypatch.delenv("LLAMA_CPP_BUILD")
    assert Provider().dynamic_metadata(SETTINGS, {})["version"] == plain_version()


def test_a_source_distribution_is_of_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert metadata(monkeypatch, "linux_x86_64-cu131", "sdist") == {"version": plain_version(), "dependencies": COMMON}


def test_an_unknown_row_is_named_with_those_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"LLAMA_CPP_BUILD=linux_x86_64-cu999 is no row of matrix\.toml: choose from linux_x86_64-cpu, "):
        metadata(monkeypatch, "linux_x86_64-cu999")


def test_the_version_is_a_plain_string(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "_version.py"
    file.write_text("__version__ = compute()\n", encoding="utf-8")
    monkeypatch.setattr(wheel_metadata, "_VERSION_FILE", file)
    with pytest.raises(ValueError, match="must assign __version__ a plain string"):
        plain_version()


def test_the_module_stands_alone() -> None:
    """In a build environment there is scikit-build-core, and nothing of the build system's own packages."""
    source = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'buildsys' / 'metadata')!r}); import wheel_metadata; "
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('buildsys', 'msgspec', 'packaging', 'scikit_build_core')))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", source], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_pyproject_names_the_provider_and_the_three_requirements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ((entry),) = pyproject()["tool"]["dynamic-metadata"]
    provider = load_entry_provider(entry["provider"])
    assert type(provider).__name__ == "Provider"
    assert entry["dependencies"] == COMMON
    assert set(pyproject()["project"]["dynamic"]) == {"version", "dependencies"}
    assert "dependencies" not in pyproject()["project"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's packaging with a package of one module, and native output of one file."""
    folder: Path = tmp_path_factory.mktemp("project")
    for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "buildsys/matrix.toml", "package/llama_cpp/_version.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    shutil.copytree(ROOT / "buildsys" / "metadata", folder / "buildsys" / "metadata", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "package" / "llama_cpp" / "__init__.py").touch()
    for name in ("llama_cpp/lib/abi.json", "licenses/x/LICENSE"):
        (folder / "native" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "native" / name).write_text("{}", encoding="utf-8")
    return folder


def build(project: Path, call: str, identifier: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have scikit-build-core build in a process of its own, as a frontend does."""
    monkeypatch.setenv("LLAMA_CPP_BUILD", identifier)
    native = (project / "native").as_posix()
    source = f"import scikit_build_core.build as b; print(b.{call}('dist', {{'cmake.define.LLAMA_CPP_PREBUILT': {native!r}}}))"
    done = subprocess.run([sys.executable, "-c", source], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return project / "dist" / done.stdout.splitlines()[-1]


@pytest.mark.parametrize(("identifier", "version"), [("linux_x86_64-cu124", "+cu124"), ("linux_x86_64-cpu", ""), ("", "")])
def test_a_wheel_says_the_same_everywhere(identifier: str, version: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stated = plain_version() + version
    wheel = build(project, "build_wheel", identifier, monkeypatch)
    assert wheel.name.startswith(f"llama_cpp_python-{stated}-py3-none-")
    with zipfile.ZipFile(wheel) as archive:
        headers = HeaderParser().parsestr(archive.read(f"llama_cpp_python-{stated}.dist-info/METADATA").decode())
        module = archive.read("llama_cpp/_version.py").decode()
        assert archive.namelist().count("llama_cpp/_version.py") == 1
    assert headers["Version"] == stated
    assert f'__version__ = "{stated}"\n' in module
    required = [text for text in headers.get_all("Requires-Dist", []) if "extra" not in text]
    nvidia = {text.split("<")[0] for text in required if text.startswith("nvidia-")}
    assert nvidia == ({"nvidia-cuda-runtime-cu12", "nvidia-cublas-cu12"} if version else set())
    assert len(required) == len(COMMON) + len(nvidia)


def test_a_source_distribution_says_what_may_differ(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = build(project, "build_sdist", "linux_x86_64-cu131", monkeypatch)
    assert archive.name == f"llama_cpp_python-{plain_version()}.tar.gz"
    with tarfile.open(archive) as members:
        info = members.extractfile(f"llama_cpp_python-{plain_version()}/PKG-INFO")
        assert info is not None
        headers = HeaderParser().parsestr(info.read().decode())
        names = {name.partition("/")[2] for name in members.getnames()}
    assert headers.get_all("Dynamic") == ["Requires-Dist"]
    assert not [text for text in headers.get_all("Requires-Dist", []) if "nvidia" in text]
    assert {"buildsys/matrix.toml", "buildsys/metadata/wheel_metadata.py"} <= names
