"""`import llama_cpp` is silent, changes nothing, and takes native code from the wheel's own folder only."""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import sys
import sysconfig
from pathlib import Path

import pytest
from rig import child, installation

linux_only = pytest.mark.skipif(not installation.is_linux(), reason="observes the loader by LD_DEBUG and /proc")

HEAVY_MODULES = ("jinja2", "huggingface_hub", "torch", "requests", "PIL", "transformers", "pydantic", "fastapi", "asyncio", "unittest")

OBSERVE_IMPORT = """
    import json, os, sys
    def state():
        flags = sys.getdlopenflags() if hasattr(sys, "getdlopenflags") else 0
        return {"environ": dict(os.environ), "cwd": os.getcwd(), "path": list(sys.path), "flags": flags}
    before = state()
    import llama_cpp
    after = state()
    import llama_cpp.llama_cpp, llama_cpp.mtmd_cpp
    llama_cpp.system_report()
    print(json.dumps({"same": before == after == state()}))
"""

REPORT_MAPS = """
    import json
    import llama_cpp
    llama_cpp.system_report()
    with open("/proc/self/maps") as maps:
        print(json.dumps(sorted({line.split(maxsplit=5)[5].strip() for line in maps if "/" in line})))
"""


def test_import_writes_nothing() -> None:
    done = child.run(
        "import llama_cpp, llama_cpp.llama_cpp, llama_cpp.mtmd_cpp, llama_cpp.llama; llama_cpp.system_report()",
        options=("-I", "-B", "-W", "error"),
    )
    assert (done.code, done.out, done.err) == (0, "", "")


def test_import_changes_no_process_state() -> None:
    assert child.run(OBSERVE_IMPORT).json() == {"same": True}


def test_import_leaves_heavy_modules_alone() -> None:
    source = f"""
        import json, sys
        before = set(sys.modules)
        import numpy
        by_numpy = set(sys.modules)
        import llama_cpp
        print(json.dumps([name for name in {HEAVY_MODULES!r} if name in sys.modules and name not in by_numpy]))
    """
    assert child.run(source).json() == []


def test_submodules_are_modules() -> None:
    source = """
        import json, types
        from llama_cpp import llama, llama_cpp, mtmd_cpp
        print(json.dumps([isinstance(each, types.ModuleType) for each in (llama, llama_cpp, mtmd_cpp)]))
    """
    assert child.run(source).json() == [True, True, True]


def own_libraries(paths: list[str]) -> list[Path]:
    """Of loaded files, those named like one of the wheel's."""
    names = set(installation.libraries())
    return [Path(path) for path in paths if installation.stem(Path(path)) in names]


@linux_only
def test_libraries_come_from_the_wheel() -> None:
    loaded = own_libraries(child.run(REPORT_MAPS).json())
    assert {installation.stem(path) for path in loaded} >= {"ggml-base", "ggml", "llama"}
    assert {path.parent for path in loaded} == {installation.library_folder().resolve()}


@linux_only
def test_library_path_variable_replaces_the_whole_set(tmp_path: Path) -> None:
    folder = installation.copy_libraries(tmp_path / "set")
    loaded = own_libraries(child.run(REPORT_MAPS, env={"LLAMA_CPP_LIB_PATH": str(folder)}).json())
    assert len(loaded) >= 4
    assert {path.parent for path in loaded} == {folder.resolve()}


def test_library_path_variable_to_an_empty_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    source = """
        import llama_cpp
        try:
            llama_cpp.llama_cpp.llama_max_devices()
        except Exception as error:
            print(error)
    """
    done = child.run(source, env={"LLAMA_CPP_LIB_PATH": str(tmp_path)})
    assert done.code == 0, done.err
    assert str(tmp_path) in done.out
    assert "LLAMA_CPP_LIB_PATH" in done.out


def plant(folder: Path) -> None:
    """Put libraries with the names that ggml and a careless loader search for into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in installation.libraries().values():
        shutil.copy2(path, folder / path.name)
    variant = next(iter(installation.cpu_variants().values()))
    for evil in ("libggml-cpu-evil.so", "libggml-evil.so", "libggml-cuda.so", "libggml-vulkan.so", "libggml-blas.so", "libggml-cpu.so"):
        shutil.copy2(variant, folder / evil)


def opened_files(trace: Path) -> set[str]:
    """Every shared object that the loader opened, also those that were closed again, from LD_DEBUG=files."""
    files = set()
    for part in trace.parent.glob(trace.name + ".*"):
        files |= set(re.findall(r"file=(\S+) \[\d+\]", part.read_text(errors="replace")))
    return files


USE_EVERYTHING = """
    import sys
    import llama_cpp
    llama_cpp.system_report()
    llama_cpp.llama_cpp.llama_backend_init()
    import llama_cpp.mtmd_cpp
    llama_cpp.mtmd_cpp.mtmd_default_marker()
"""


def private_interpreter(folder: Path) -> dict[str, str]:
    """Copy the interpreter's executable into `folder`; returns the variables with which the copy finds its library."""
    real = Path(os.path.realpath(sys.executable))
    shutil.copy2(real, folder / real.name)
    paths = os.pathsep.join(site.getsitepackages())
    variables = {"PYTHONHOME": f"{sys.base_prefix}{os.pathsep}{sys.base_exec_prefix}", "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    library = sysconfig.get_config_var("LIBDIR")
    return {**variables, "LD_LIBRARY_PATH": library} if library else variables


@linux_only
def test_planted_libraries_are_not_opened(tmp_path: Path) -> None:
    """ggml by itself searches the executable's folder and the working directory: neither may be used."""
    beside, here, trace = tmp_path / "beside", tmp_path / "here", tmp_path / "trace"
    plant(beside)
    plant(here)
    variables = private_interpreter(beside)
    executable = beside / Path(os.path.realpath(sys.executable)).name
    done = child.run(
        USE_EVERYTHING,
        executable=executable,
        options=("-B",),
        cwd=here,
        env={**variables, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(trace)},
    )
    assert done.code == 0, done.err
    opened = opened_files(trace)
    wheel_files = {str(path.resolve()) for path in installation.libraries().values()}
    assert opened & wheel_files, "the trace shows the wheel's own libraries"
    assert not [path for path in opened if path.startswith((str(tmp_path), "./"))]
    assert not [path for path in opened if "evil" in path]


@linux_only
def test_trace_shows_a_planted_library_that_is_opened(tmp_path: Path) -> None:
    """The check above can fail: what is opened from there is in the trace."""
    plant(tmp_path / "here")
    done = child.run(
        "import ctypes; ctypes.CDLL('./libggml-base.so')",
        cwd=tmp_path / "here",
        env={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(tmp_path / "trace")},
    )
    assert done.code == 0, done.err
    assert any(path.endswith("here/libggml-base.so") or path == "./libggml-base.so" for path in opened_files(tmp_path / "trace"))


def test_command_line_report_is_a_table_of_every_variant() -> None:
    done = child.run_module("llama_cpp")
    assert (done.code, done.err) == (0, "")
    assert set(installation.cpu_variants()) <= set(re.findall(r"\w+", done.out))


def test_command_line_report_as_json() -> None:
    done = child.run_module("llama_cpp", "--json")
    assert (done.code, done.err) == (0, "")
    assert isinstance(json.loads(done.out), dict)
