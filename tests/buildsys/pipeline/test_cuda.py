from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from buildsys import toolchains, toolkits
from buildsys.errors import CommandFailedError, ToolkitError
from buildsys.matrix import BuildRow, select_one
from buildsys.pipeline import cuda, native
from buildsys.toolchains import ReadyToolchain
from buildsys.toolkits.host_compiler import ReadyHostCompiler

ROW = select_one("linux_x86_64-cu131")
REDUCED = msgspec.structs.replace(ROW, cuda=msgspec.structs.replace(ROW.cuda, architectures=("75-virtual",)))

Prepare = Callable[..., None]


@pytest.fixture
def provide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Prepare:
    """Sets what the toolkit and the host compiler are."""

    def given(*, toolkit: str = "toolkit", host: str = "host", place: str = "here") -> None:
        root = tmp_path / place
        ready = toolkits.ReadyToolkit(
            provider="p", release="13.1", root=root, defines={"CUDAToolkit_ROOT": str(root)}, identity=toolkit, newest_gcc=15
        )
        compiler = ReadyHostCompiler(name="h", defines={"CMAKE_CUDA_HOST_COMPILER": f"{root}/g++"}, identity=host)
        monkeypatch.setattr(toolkits, "prepare", lambda *_: ready)
        monkeypatch.setattr(cuda, "prepare_host", lambda *_, **__: compiler)

    given()
    return given


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, provide: Prepare) -> list[list[str]]:
    """Stands in for CMake: each command, with installs that make one library and say what it was made with."""
    del provide
    commands: list[list[str]] = []

    def run(command: Sequence[str | Path], **_: object) -> None:
        words = [str(word) for word in command]
        commands.append(words)
        if "--install" in words:
            prefix, plugin = Path(words[words.index("--prefix") + 1]), "plugin" in words[words.index("--install") + 1]
            library = prefix / "llama_cpp" / "lib" / ("libggml-cuda.so" if plugin else "libllama.so")
            library.parent.mkdir(parents=True)
            library.write_text(library.name, encoding="utf-8")
            tools: dict[str, object] = {"compilers": {"CUDA": {"id": "NVIDIA"}}, "cccl": "3.1.4"}
            if not plugin:
                tools = {"compilers": {"C": {"id": "Clang"}}, "toolchain": "zig"}
            (prefix / "build-tools.json").write_text(json.dumps(tools), encoding="utf-8")

    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cuda, "this_system", lambda: "linux_x86_64")
    monkeypatch.setattr(cuda, "run_logged", run)
    monkeypatch.setattr(native, "run_logged", run)
    monkeypatch.setattr(toolchains, "prepare", lambda name, target: ReadyToolchain(name=name, defines={}, identity=target))
    return commands


def builds(ran: list[list[str]]) -> list[str]:
    return ["plugin" if cuda.TARGET in words else "libraries" for words in ran if "--build" in words]


def test_a_cuda_row_is_the_cpu_rows_output_and_the_plugin(ran: list[list[str]]) -> None:
    output = native.build_native(ROW)
    assert not output.cached
    assert sorted(path.name for path in (output.folder / "llama_cpp" / "lib").iterdir()) == ["libggml-cuda.so", "libllama.so"]
    assert json.loads((output.folder / "build-tools.json").read_bytes()) == {
        "compilers": {"C": {"id": "Clang"}, "CUDA": {"id": "NVIDIA"}},
        "toolchain": "zig",
        "cccl": "3.1.4",
    }
    assert builds(ran) == ["libraries", "plugin"]


def test_the_cpu_libraries_are_compiled_once_for_all_rows(ran: list[list[str]]) -> None:
    cpu = native.build_native(select_one("linux_x86_64-cpu"))
    first, second = native.build_native(ROW), native.build_native(select_one("linux_x86_64-cu124"))
    again = native.build_native(ROW)
    assert builds(ran) == ["libraries", "plugin", "plugin"]
    assert len({cpu.folder, first.folder, second.folder}) == 3
    assert (first.folder, first.cached, again.folder, again.cached) == (first.folder, False, first.folder, True)


def test_the_plugin_is_a_project_of_its_own_with_the_rows_architectures(ran: list[list[str]]) -> None:
    native.build_native(msgspec.structs.replace(REDUCED, cmake={"GGML_CUDA_FA_ALL_QUANTS": "ON"}))
    configure = next(words for words in ran if str(cuda.PROJECT) in words)
    assert {"-DCMAKE_CUDA_ARCHITECTURES=75-virtual", "-DGGML_CUDA_FA_ALL_QUANTS=ON", "-DCMAKE_BUILD_TYPE=Release"} <= set(configure)
    libraries = next(words for words in ran if "-DGGML_CPU_ALL_VARIANTS=ON" in words)
    assert not [word for word in libraries if "CUDA" in word]


@pytest.mark.usefixtures("ran")
def test_toolkit_host_architectures_and_project_files_make_another_plugin(provide: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    def built(row: BuildRow = ROW) -> Path:
        return cuda.build_plugin(cuda.prepare_plugin(row))[0]

    folders = [built(), built(REDUCED)]
    provide(place="moved")
    assert built() == folders[0]  # where the tools lie doesn't count
    provide(toolkit="13.1 update 1")
    folders.append(built())
    provide(host="gcc 15")
    folders.append(built())
    provide()
    monkeypatch.setattr(cuda, "_project_files", lambda: iter(["CudaPlugin.cmake:changed"]))
    folders.append(built())
    assert len(set(folders)) == len(folders) == 5


def test_the_cuda_project_is_no_part_of_the_cpu_librarys_key() -> None:
    of_libraries = {entry.split(":")[0] for entry in native._project_files()}
    of_plugin = {entry.split(":")[0] for entry in cuda._project_files()}
    assert {"buildsys/native/cuda/CMakeLists.txt", "buildsys/native/backend.map", "licenses/cuda/CCCL.txt"} <= of_plugin
    shared = ("WindowsLibraries.cmake", "backend.map", "library.map")
    assert of_libraries & of_plugin == {f"buildsys/native/{name}" for name in shared}


@pytest.mark.usefixtures("ran")
def test_an_interrupted_compilation_keeps_its_tree_and_leaves_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    working, plugin = cuda.run_logged, cuda.prepare_plugin(ROW)

    def failing(command: Sequence[str | Path], **rest: object) -> None:
        if "--build" in command:
            cuda.tree_of(plugin).mkdir(parents=True)
            raise CommandFailedError("out of memory")
        working(command, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(cuda, "run_logged", failing)
    with pytest.raises(CommandFailedError):
        cuda.build_plugin(plugin)
    assert cuda.tree_of(plugin).is_dir()
    monkeypatch.setattr(cuda, "run_logged", working)
    assert not cuda.build_plugin(plugin)[1]
    assert not cuda.tree_of(plugin).exists()


@pytest.mark.usefixtures("ran")
def test_a_row_of_another_system_is_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "this_system", lambda: "linux_aarch64")
    with pytest.raises(ToolkitError, match="can only be compiled on linux_x86_64"):
        native.build_native(ROW)
    with pytest.raises(ToolkitError, match="is no CUDA row"):
        cuda.prepare_plugin(select_one("linux_x86_64-cpu"))
