"""The licences that CMake collects for a wheel, from trees that bundle more or less."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from buildsys.project import NATIVE, ROOT, VENDOR

TEXT = (NATIVE / "Licenses.cmake").read_text(encoding="utf-8")
NAMED = re.findall(r"\$\{THIRD_PARTY\}/([\w./-]+)", TEXT)
pytestmark = pytest.mark.skipif(not (VENDOR / "LICENSE").is_file(), reason="vendor/llama.cpp is not populated")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that has nothing but the licences, and the files of llama.cpp that have them."""
    (tmp_path / "CMakeLists.txt").write_text(
        f'cmake_minimum_required(VERSION 3.24)\nproject(licences LANGUAGES NONE)\ninclude("{(NATIVE / "Licenses.cmake").as_posix()}")\n',
        encoding="utf-8",
    )
    shutil.copytree(ROOT / "licenses", tmp_path / "licenses")
    for name in NAMED:
        copy = tmp_path / "vendor" / "llama.cpp" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(VENDOR / name, copy)
    return tmp_path


def collected(project: Path) -> set[str]:
    """The components whose licence is installed."""
    subprocess.run(["cmake", "-S", project, "-B", project / "build"], check=True, capture_output=True)
    command = ["cmake", "--install", project / "build", "--prefix", project / "out", "--component", "runtime"]
    subprocess.run(command, check=True, capture_output=True)
    return {path.stem for path in (project / "out" / "licenses").iterdir()}


def test_every_licence_that_is_named_is_collected(project: Path) -> None:
    assert collected(project) >= {"llama.cpp", "nlohmann-json", "sha256", "xxhash", "sha1", "stb_image", "miniaudio", "LLVM", "zig"}


def test_what_an_older_llama_cpp_does_not_bundle_is_left_out(project: Path) -> None:
    complete = collected(project)
    shutil.rmtree(project / "vendor" / "llama.cpp" / "vendor" / "hash")
    shutil.rmtree(project / "out")
    assert complete - collected(project) == {"sha256", "xxhash", "sha1", "rotate-bits"}


def test_a_bundled_component_without_its_licence_stops_the_build(project: Path) -> None:
    (project / "vendor" / "llama.cpp" / "vendor" / "stb" / "stb_image.h").unlink()
    (project / "vendor" / "llama.cpp" / "vendor" / "stb" / "README").touch()
    with pytest.raises(subprocess.CalledProcessError):
        collected(project)
