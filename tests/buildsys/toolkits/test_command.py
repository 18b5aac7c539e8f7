from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from buildsys import cli, toolkits, vendor
from buildsys.audit.device_code import DeviceCode
from buildsys.errors import ToolkitError
from buildsys.pipeline import cuda
from buildsys.pipeline.cuda import PluginBuild
from buildsys.toolkits import check, command
from buildsys.toolkits.check import Compiled, compile_some
from buildsys.toolkits.host_compiler import ReadyHostCompiler


def plugin(tmp_path: Path) -> PluginBuild:
    ready = toolkits.ReadyToolkit(provider="pypi", release="13.1", root=tmp_path, defines={}, identity="t", newest_gcc=15)
    host = ReadyHostCompiler(name="gcc", defines={"CMAKE_CXX_COMPILER": "/usr/bin/g++"}, identity="h")
    flags = {"CMAKE_CUDA_ARCHITECTURES": "75-real;90-virtual"}
    return PluginBuild(name="linux_x86_64-cu131", toolkit=ready, host=host, flags=flags)


@pytest.fixture
def ninja(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Stands in for CMake and Ninja: makes the objects and Ninja's log."""
    commands: list[list[str]] = []

    def run(words: Sequence[str | Path], **_: object) -> None:
        commands.append([str(word) for word in words])
        if "--build" in words:
            tree = Path(words[2])
            targets = commands[-1][4:]
            for target in targets:
                (tree / target).parent.mkdir(parents=True, exist_ok=True)
                (tree / target).write_bytes(b"x" * 4000)
            log = [f"{100 * number}\t{100 * number + 2500}\t0\t{target}\tabc" for number, target in enumerate(targets)]
            (tree / ".ninja_log").write_text("\n".join(["# ninja log v7", *log]), encoding="utf-8")

    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(check, "SOURCES", tmp_path / "sources")
    monkeypatch.setattr(check, "device_code", lambda _name, _data: code())
    for file in ("quantize.cu", "template-instances/mmq.cu"):
        (tmp_path / "sources" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sources" / file).touch()
    for module in (check, cuda):
        monkeypatch.setattr(module, "run_logged", run)
    return commands


def code(real: str = "75", virtual: str = "") -> DeviceCode:
    return DeviceCode(real=frozenset(real.split()), virtual=frozenset(virtual.split()))


def test_only_the_named_files_are_compiled_and_nothing_stays(ninja: list[list[str]], tmp_path: Path) -> None:
    compiled = compile_some(plugin(tmp_path), ["quantize.cu", "template-instances/mmq.cu"], architectures=["75-real"])
    assert compiled == [Compiled(file=file, seconds=2.5, size=4000, code=code()) for file in ("quantize.cu", "template-instances/mmq.cu")]
    assert "-DCMAKE_CUDA_ARCHITECTURES=75-real" in ninja[0]
    assert [Path(target).name for target in ninja[1][4:]] == ["quantize.cu.o", "mmq.cu.o"]
    assert [path.suffix for path in (tmp_path / "cache" / "native" / "trees").iterdir()] == []


def test_an_object_without_the_code_that_was_asked_for_is_a_failure(ninja: list[list[str]], tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match=r"quantize\.cu has no PTX of architecture 100") as caught:
        compile_some(plugin(tmp_path), ["quantize.cu"], architectures=["75-real", "100-virtual"])
    assert "linux_x86_64-cu131-check.log" in caught.value.hint
    assert "-DCMAKE_CUDA_ARCHITECTURES=75-real;100-virtual" in ninja[0]


def test_a_file_that_llama_cpp_no_longer_has_is_named(ninja: list[list[str]], tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match=r"has no gone\.cu") as caught:
        compile_some(plugin(tmp_path), ["quantize.cu", "gone.cu"], architectures=["75-real"])
    assert "toolkits.toml" in caught.value.hint
    assert ninja == []


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, list[str], str]]:
    """What the command asks to be compiled: row, files, architectures."""
    asked: list[tuple[str, list[str], str]] = []

    def compile_none(build: PluginBuild, files: Sequence[str], *, architectures: Sequence[str]) -> list[Compiled]:
        asked.append((build.name, list(files), " ".join(architectures)))
        return [Compiled(file=file, seconds=1.0, size=1000, code=code("75 90 120a", "90 100")) for file in files]

    def prepare(row: object, *, toolkit: str) -> PluginBuild:
        del row, toolkit
        return plugin(tmp_path)

    monkeypatch.setattr(vendor, "populate", lambda **_: False)
    monkeypatch.setattr(command, "this_system", lambda: "linux_x86_64")
    monkeypatch.setattr(command, "prepare_plugin", prepare)
    monkeypatch.setattr(command, "compile_some", compile_none)
    return asked


@pytest.mark.parametrize("name", ["13.1", "linux_x86_64-cu131"])
def test_a_check_takes_a_row_or_a_release(name: str, checked: list[tuple[str, list[str], str]], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["toolkits", "check", name, "--files", "2"]) == 0
    assert checked == [("linux_x86_64-cu131", list(toolkits.table().check.files[:2]), "75-real")]
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["file", "seconds", "kB", "code", "for"]
    assert printed[1].endswith("sm_75, 90, 120a; PTX 90, 100")
    assert printed[-1] == "CUDA 13.1 (pypi) with gcc (g++) compiles for 75-real"


@pytest.mark.parametrize(
    ("option", "architectures"), [(["--all-architectures"], "75-real 90-virtual"), (["--architecture", "80-virtual"], "80-virtual")]
)
def test_a_check_compiles_for_what_it_is_told(option: list[str], architectures: str, checked: list[tuple[str, list[str], str]]) -> None:
    assert cli.main(["toolkits", "check", "13.1", "--files", "1", *option]) == 0
    assert checked == [("linux_x86_64-cu131", ["quantize.cu"], architectures)]


@pytest.mark.usefixtures("checked")
def test_a_release_without_a_row_says_what_to_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["toolkits", "check", "11.8"]) == 4
    assert "no build for linux_x86_64 has CUDA 11.8" in capsys.readouterr().err


def test_the_list_says_per_release_who_serves_it_and_why_others_do_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "this_system", lambda: "windows_amd64")
    assert cli.main(["toolkits", "list"]) == 0
    printed = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in printed.splitlines() if line}
    assert lines["nvidia-archives"][1:5] == ["yes"] * 4
    assert "serves linux_x86_64 only" in printed
    assert lines["system-gcc"][1] == "-"


def test_the_files_of_the_quick_check_exist_in_the_pinned_source() -> None:
    if not check.SOURCES.is_dir():
        pytest.skip("the llama.cpp submodule is not populated")
    assert [file for file in toolkits.table().check.files if not (check.SOURCES / file).is_file()] == []
