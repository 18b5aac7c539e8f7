from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from buildsys import toolchains
from buildsys.errors import CommandFailedError
from buildsys.matrix import select
from buildsys.pipeline import native
from buildsys.toolchains import ReadyToolchain

ROW = select(["linux_x86_64-cpu"])[0]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Stands in for the compiler: each command that was run, with an install that makes one library."""
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> None:
        words = [str(word) for word in command]
        commands.append(words)
        if "--install" in words:
            library = Path(words[words.index("--prefix") + 1]) / "llama_cpp" / "lib" / "libllama.so"
            library.parent.mkdir(parents=True)
            library.write_text("library", encoding="utf-8")

    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(native, "run_logged", run)
    monkeypatch.setattr(
        toolchains, "prepare", lambda name, target: ReadyToolchain(name=name, defines={"A": f"{tmp_path}/cache/x"}, identity=target)
    )
    return commands


def test_the_second_build_comes_from_the_cache(compiled: list[list[str]]) -> None:
    first = native.build_native(ROW)
    ran = len(compiled)
    second = native.build_native(ROW)
    assert (first.cached, second.cached) == (False, True)
    assert first.folder == second.folder
    assert len(compiled) == ran == 3


@pytest.mark.usefixtures("compiled")
def test_another_toolchain_or_flag_or_native_file_is_another_output(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {native.build_native(ROW).folder, native.build_native(ROW, toolchain="clang").folder}
    folders.add(native.build_native(msgspec.structs.replace(ROW, cmake={"GGML_X": "ON"})).folder)
    monkeypatch.setattr(native, "_project_files", lambda: iter(["CMakeLists.txt:changed"]))
    folders.add(native.build_native(ROW).folder)
    assert len(folders) == 4


@pytest.mark.usefixtures("compiled")
def test_the_place_of_the_cache_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = native.build_native(ROW).folder.name
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(
        toolchains, "prepare", lambda name, target: ReadyToolchain(name=name, defines={"A": f"{tmp_path}/elsewhere/x"}, identity=target)
    )
    assert native.build_native(ROW).folder.name == name


@pytest.mark.usefixtures("compiled")
def test_a_failed_compilation_leaves_no_output_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    working = native.run_logged

    def failing(command: list[str], **rest: object) -> None:
        if "--install" in [str(word) for word in command]:
            raise CommandFailedError("no space left")
        working(command, **rest)

    monkeypatch.setattr(native, "run_logged", failing)
    with pytest.raises(CommandFailedError):
        native.build_native(ROW)
    monkeypatch.setattr(native, "run_logged", working)
    assert not native.build_native(ROW).cached


def test_python_files_of_the_runtime_are_no_part_of_the_key() -> None:
    named = [entry.split(":")[0] for entry in native._project_files()]
    assert "CMakeLists.txt" in named
    assert not [name for name in named if name.startswith("package/")]
