"""A CUDA wheel on a machine without a GPU: it runs on the CPU, and says why in every place where one would look."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

import pytest
from rig import child, cuda, installation, material

pytestmark = cuda.cuda_wheel

GENERATE = """
    import json, sys, warnings
    import llama_cpp
    job = json.loads(sys.argv[1])
    texts, told = [], []
    for layers in job["layers"]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with llama_cpp.Llama(job["model"], n_ctx=128, n_threads=2, n_gpu_layers=layers, verbosity=job["verbosity"]) as llama:
                texts.append(llama.create_completion("Hello", max_tokens=8, temperature=0.0)["choices"][0]["text"])
        told.append([str(each.message) for each in caught])
    print(json.dumps({"texts": texts, "warnings": told, "offload": llama_cpp.llama_supports_gpu_offload()}))
"""
NOT_INSTALLED = "the NVIDIA driver is not installed (libcuda.so.1 was not found)"
NO_GPU = "is installed, but finds no GPU"


def generate(layers: list[int | str], env: dict[str, str] | None = None, verbosity: int = 1) -> child.Child:
    job = {"model": str(material.model(material.SYNTH_LLAMA)), "layers": layers, "verbosity": verbosity}
    return child.run(GENERATE, json.dumps(job), env=env)


def plugin(report: dict[str, object]) -> dict[str, object]:
    plugins = report["plugins"]
    assert isinstance(plugins, list)
    (found,) = [each for each in plugins if each["family"] == "cuda"]
    assert isinstance(found, dict)
    return found


def release() -> str:
    return f"{cuda.major()}.{cuda.label()[-1]}"


@cuda.without_driver
class TestWithoutDriver:
    def test_report_says_why(self) -> None:
        report = cuda.report()
        found = cuda.accelerator(report)
        assert report["ok"] is True
        assert (found["name"], found["release"], found["devices"]) == ("CUDA", release(), 0)
        if installation.is_linux():
            assert NOT_INSTALLED in found["absence"]
        assert "Models run on the CPU" in found["absence"]
        assert "install NVIDIA's driver" in found["absence"]

    def test_the_plugin_is_idle_and_not_broken(self) -> None:
        found = plugin(cuda.report())
        assert (found["loaded"], found["failure"]) == (False, None)
        assert "NVIDIA driver" in str(found["idle"])

    def test_the_libraries_it_would_use_are_those_of_the_packages(self) -> None:
        libraries = cuda.accelerator(cuda.report())["libraries"]
        packaged = cuda.package_files()
        assert libraries
        assert {name: str(packaged.get(name)) for name in libraries} == libraries

    def test_the_command_says_it_and_succeeds(self) -> None:
        done = child.run_module("llama_cpp")
        assert (done.code, done.err) == (0, "")
        assert f"CUDA {release()}: no CUDA device: the NVIDIA driver" in done.out

    def test_generation_is_that_of_the_cpu_and_only_a_wish_for_a_gpu_warns(self) -> None:
        done = generate([0, "auto", -1, "all", 5])
        assert done.err == ""
        answer = done.json()
        assert len(set(answer["texts"])) == 1
        assert answer["offload"] is False
        nothing, automatic, *wishes = answer["warnings"]
        assert (nothing, automatic) == ([], [])
        for (warning,), asked in zip(wishes, ("-1", "'all'", "5"), strict=True):
            assert warning.startswith(f"Llama: n_gpu_layers={asked} has no effect: no CUDA device: the NVIDIA driver")

    def test_the_log_says_it_once(self) -> None:
        done = generate(["auto", "auto"], verbosity=2)
        assert done.code == 0
        assert done.err.count("no CUDA device") == 1

    def test_nothing_of_cuda_is_loaded(self) -> None:
        assert mapped(None) == {}


MAPS = """
    import json
    import llama_cpp
    llama_cpp.system_report()
    with open("/proc/self/maps") as maps:
        print(json.dumps(sorted({line.split(maxsplit=5)[5].strip() for line in maps if "/" in line})))
"""


REPORT_FROM = """
    import json, sys
    sys.path.insert(0, sys.argv[1])
    import llama_cpp
    print(json.dumps(llama_cpp.system_report().as_dict()))
"""


def mapped(env: dict[str, str] | None) -> dict[str, str]:
    """The CUDA libraries that a process has loaded once its backends are, by file name."""
    if not installation.is_linux():
        pytest.skip("reads /proc")
    paths = child.run(MAPS, env=env).json()
    return {name: path for path in paths if re.match(r"lib(cu|nv)\w+\.so", name := path.rpartition("/")[2])}


class TestWithDriverOfNoDevice:
    def test_the_plugin_enumerates_no_device(self) -> None:
        report = cuda.report(cuda.with_driver(cuda.DRIVER_STUB))
        assert report["ok"] is True
        assert plugin(report)["loaded"] is True
        (registry,) = [each for each in report["registries"] if each["name"] == "CUDA"]
        assert registry["devices"] == []
        found = cuda.accelerator(report)
        assert found["devices"] == 0
        assert NO_GPU in found["absence"]

    def test_libraries_come_from_the_packages(self) -> None:
        env = cuda.with_driver(cuda.DRIVER_STUB)
        loaded, packaged = mapped(env), cuda.package_files()
        assert loaded.pop("libcuda.so.1") == f"{env['LD_LIBRARY_PATH']}/libcuda.so.1"
        for stem in ("cudart", "cublas", "cublasLt"):
            assert f"lib{stem}.so.{cuda.major()}" in loaded
        assert loaded == {name: str(packaged[name]) for name in loaded}

    def test_packages_come_before_what_the_loader_would_find(self, tmp_path: Path) -> None:
        env = cuda.with_driver(cuda.DRIVER_STUB)
        runtime = f"libcudart.so.{cuda.major()}"
        shutil.copy2(cuda.package_files()[runtime], tmp_path / runtime)
        planted = {"LD_LIBRARY_PATH": f"{tmp_path}:{env['LD_LIBRARY_PATH']}"}
        assert mapped(planted)[runtime] == str(cuda.package_files()[runtime])

    def test_generation_is_that_of_the_cpu_and_silent(self) -> None:
        done = generate([0, "auto", -1], cuda.with_driver(cuda.DRIVER_STUB))
        assert done.err == ""
        answer = done.json()
        assert len(set(answer["texts"])) == 1
        assert answer["texts"] == generate([0, "auto", -1]).json()["texts"]
        assert answer["offload"] is False
        assert [len(each) for each in answer["warnings"]] == [0, 0, 1]
        assert NO_GPU in answer["warnings"][2][0]

    def test_hidden_devices_are_named_as_the_cause(self) -> None:
        env = {**cuda.with_driver(cuda.DRIVER_STUB), "CUDA_VISIBLE_DEVICES": ""}
        assert "unset CUDA_VISIBLE_DEVICES" in cuda.accelerator(cuda.report(env))["absence"]

    def test_a_driver_of_an_older_cuda_is_too_old(self) -> None:
        absence = cuda.accelerator(cuda.report(cuda.with_driver(cuda.OLD_DRIVER_STUB)))["absence"]
        assert "the NVIDIA driver is too old" in absence
        assert f"this build is of CUDA {cuda.major()}" in absence

    def test_a_missing_package_is_named_with_what_brings_it(self, tmp_path: Path) -> None:
        """A copy of the package lies apart from those of NVIDIA, which no search path reaches then."""
        env = cuda.with_driver(cuda.DRIVER_STUB)
        apart = copy_apart(tmp_path)
        options = ("-I", "-S", "-B")
        done = child.run(REPORT_FROM, apart, env={**env, "LLAMA_CPP_LIB_PATH": str(apart / "lib")}, options=options)
        report = done.json()
        assert report["ok"] is True
        found = cuda.accelerator(report)
        brings = "nvidia-cublas-cu12" if cuda.major() == "12" else "nvidia-cublas=="
        assert "was not found" in found["absence"]
        assert brings in found["absence"]
        assert "not found, needed by libggml-cuda.so" in str(plugin(report)["failure"])
        assert "libggml-cuda.so was skipped" in done.err


def copy_apart(folder: Path) -> Path:
    """A copy of the package without its libraries, which lie beside it, and links to the packages that it imports."""
    shutil.copytree(installation.package_folder(), folder / "llama_cpp", ignore=shutil.ignore_patterns("lib", "__pycache__"))
    for name in ("numpy", "typing_extensions"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        target = origin.parent if origin.name == "__init__.py" else origin
        (folder / target.name).symlink_to(target)
    installation.copy_libraries(folder / "lib")
    return folder
