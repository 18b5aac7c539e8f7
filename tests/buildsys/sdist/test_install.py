from __future__ import annotations

import sys
from pathlib import Path

import pytest

from buildsys.errors import SdistError
from buildsys.sdist import install
from buildsys.sdist.install import PROBE, installed_libraries, prove_install, unexpected

from .archives import sound_files, written

SOUND = ("ggml", "ggml-base", "ggml-cpu", "llama", "llama-common", "mtmd")
Commands = list[tuple[list[str], dict[str, str]]]


@pytest.mark.parametrize(
    ("libraries", "problem"),
    [
        (SOUND, None),
        ((*SOUND, "omp"), None),
        ((*SOUND, "ggml-rpc"), "CMake was not told"),
        ((*SOUND, "ggml-cpu-haswell"), "has the CPU backends ggml-cpu, ggml-cpu-haswell"),
        (("ggml", "ggml-base", "llama", "mtmd"), "has the CPU backends (none)"),
        (("ggml-cpu", "ggml", "ggml-base", "llama"), "lacks mtmd"),
    ],
)
def test_what_an_installation_must_consist_of(libraries: tuple[str, ...], problem: str | None) -> None:
    found = unexpected(libraries)
    assert (found is None) if problem is None else problem in str(found)


@pytest.mark.parametrize(
    ("folder", "file"),
    [("lib/python3.12/site-packages", "lib{}.so"), ("Lib/site-packages", "{}.dll"), ("lib/python3.10/site-packages", "lib{}.dylib")],
)
def test_installed_libraries_are_found_on_every_system(folder: str, file: str, tmp_path: Path) -> None:
    libraries = tmp_path / folder / "llama_cpp" / "lib"
    libraries.mkdir(parents=True)
    for name in (*map(file.format, SOUND), "abi.json"):
        (libraries / name).touch()
    assert installed_libraries(tmp_path) == SOUND


@pytest.mark.skipif(sys.platform == "win32", reason="links are left to administrators there")
def test_an_environment_with_two_names_for_its_folder_has_one_installation(tmp_path: Path) -> None:
    libraries = tmp_path / "lib" / "python3.12" / "site-packages" / "llama_cpp" / "lib"
    libraries.mkdir(parents=True)
    (libraries / "libggml.so").touch()
    (tmp_path / "lib64").symlink_to("lib")
    assert installed_libraries(tmp_path) == ("ggml",)


def test_an_environment_without_the_package_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SdistError, match="has 0 installations"):
        installed_libraries(tmp_path)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Commands:
    """Stands in for pip and venv: what would be run, in which variables; the installation makes libraries."""
    ran: Commands = []

    def run(command: list[object], *, env: dict[str, str] | None = None, **_: object) -> None:
        words = [str(word) for word in command]
        ran.append((words, env or {}))
        if "install" in words:
            rpc = [] if "GGML_RPC=OFF" in (env or {}).get("CMAKE_ARGS", "") else ["ggml-rpc"]
            folder = tmp_path / "cache" / "sdist" / "environment" / "lib" / "python3.12" / "site-packages" / "llama_cpp" / "lib"
            folder.mkdir(parents=True)
            for name in [*SOUND, *rpc]:
                (folder / f"lib{name}.so").touch()

    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    monkeypatch.setattr(install, "run_logged", run)
    monkeypatch.setattr(install, "_without_network", lambda: ["unshare", "--net"])
    monkeypatch.setattr(install.proof, "generate", lambda _python, name: f"{name} speaks")
    return ran


def test_everything_needed_is_fetched_first_and_nothing_afterwards(steps: Commands, tmp_path: Path) -> None:
    archive = written(tmp_path, sound_files())
    found = prove_install(archive)
    (fetch, _), (environment, _), (installation, variables) = steps
    assert {"scikit-build-core>=1.0", "cmake>=3.24", "ninja>=1.11", "numpy>=1.24"} <= set(fetch)
    assert not [word for word in fetch if "extra" in word]
    assert environment[:4] == [sys.executable, "-I", "-m", "venv"]
    assert installation[:2] == ["unshare", "--net"]
    assert installation[-1] == str(archive)
    assert {"--no-index", "--isolated", "--no-cache-dir"} <= set(installation)
    assert variables["CMAKE_ARGS"] == PROBE
    assert variables["https_proxy"] == variables["HTTP_PROXY"] == "http://127.0.0.1:9"
    assert (found.libraries, found.sample, found.networkless) == (SOUND, f"{archive.name} speaks", True)
    assert not (tmp_path / "cache" / "sdist").exists()


def test_the_callers_own_arguments_are_kept(steps: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_OPENMP=OFF")
    prove_install(written(tmp_path, sound_files()))
    assert steps[-1][1]["CMAKE_ARGS"] == f"-DGGML_OPENMP=OFF {PROBE}"


def test_arguments_that_had_no_effect_are_found_out(steps: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "PROBE", "-DGGML_OTHER=OFF")
    with pytest.raises(SdistError, match="CMake was not told"):
        prove_install(written(tmp_path, sound_files()))
    assert steps
