from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp import __main__ as command
from llama_cpp._engine import report as report_module
from llama_cpp._engine.report import AcceleratorReport, system_report
from llama_cpp._engine.report_text import _accelerator, render
from llama_cpp._native.accelerators import Accelerator
from llama_cpp._native.backends import BackendSet
from llama_cpp._native.bindings import ggml_backend
from llama_cpp._native.cuda_driver import Absence
from llama_cpp._native.errors import BackendLoadError, NativeLibraryError
from llama_cpp._native.variants import Plugin, ScoredPlugin

if TYPE_CHECKING:
    from tests.package.engine.fakes import FakeLlama

FOLDER = Path("/packaged/lib")


def scored(variant: Any, score: Any, failure: Any = None) -> Any:
    plugin = Plugin(path=FOLDER / f"libggml-cpu-{variant}.so", family="cpu", variant=variant)
    return ScoredPlugin(plugin=plugin, score=score, failure=failure)


@pytest.fixture
def installation(native: FakeLlama, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A healthy installation with four CPU variants and one CPU device."""
    plugins = (scored("haswell", 64), scored("x64", 1), scored("zen4", 0), scored("icelake", None, "cut short"))
    backends = BackendSet(folder=FOLDER, plugins=plugins, loaded=(plugins[0].plugin,))
    native.replace("llama_version", lambda: b"0.5.0-dev")
    native.replace("llama_print_system_info", lambda: b"CPU : AVX2 = 1 | ")
    answers = {
        "reg_count": 1,
        "reg_get": 5,
        "reg_name": b"CPU",
        "reg_dev_count": 1,
        "reg_dev_get": 6,
        "reg_get_proc_address": None,
        "dev_name": b"CPU",
        "dev_description": b"A Processor",
        "dev_type": 0,
        "dev_memory": None,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(ggml_backend, f"ggml_backend_{name}", lambda *_, answer=answer: answer)
    monkeypatch.setattr(report_module.logbridge, "install", lambda: None)
    monkeypatch.setattr(report_module, "load_backends", lambda: backends)
    monkeypatch.setattr(report_module, "ensure_backends", lambda: backends)
    monkeypatch.setattr(report_module, "library_folder", lambda: FOLDER)
    return monkeypatch


@pytest.mark.usefixtures("installation")
def test_a_healthy_installation(capsys: pytest.CaptureFixture[str]) -> None:
    report = system_report()
    assert (report.ok, report.cpu_variant, report.llama_version, report.library_folder) == (True, "haswell", "0.5.0-dev", str(FOLDER))
    assert [(plugin.variant, plugin.loaded) for plugin in report.plugins if plugin.loaded] == [("haswell", True)]
    assert command.main([]) == 0
    text = capsys.readouterr().out
    assert "A Processor" in text
    for line in (
        "libggml-cpu-haswell.so  64     loaded",
        "libggml-cpu-x64.so      1      works here, a better one is loaded",
        "libggml-cpu-zen4.so     0      needs instructions that this CPU lacks",
        "libggml-cpu-icelake.so  -      BROKEN: cut short",
    ):
        assert f"  {line}\n" in text


@pytest.mark.usefixtures("installation")
def test_json_holds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data == json.loads(json.dumps(system_report().as_dict()))
    assert data["registries"][0]["devices"][0]["type"] == "CPU"
    assert data["ok"] is True


@pytest.mark.usefixtures("native")
def test_an_accelerator_says_what_it_lacks(installation: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    plugin = Plugin(path=FOLDER / "libggml-cuda.so", family="cuda", variant="")
    idle = ScoredPlugin(plugin=plugin, missing="libcuda.so.1", idle="the driver is not installed")
    backends = BackendSet(folder=FOLDER, plugins=(idle,), loaded=())
    absence = Absence(reason="the driver is not installed", remedy="install it")
    libraries = {"libcudart.so.13": "/site/libcudart.so.13", "libcublas.so.13": None}
    found = Accelerator(name="CUDA", release="13.1", devices=0, libraries=libraries, absence=absence)
    installation.setattr(report_module, "load_backends", lambda: backends)
    installation.setattr(report_module, "accelerators", lambda given: (found,) if given is backends else ())
    assert command.main([]) == 0
    text = capsys.readouterr().out
    for line in (
        f"CUDA 13.1: {absence}",
        "  libcudart.so.13   /site/libcudart.so.13",
        "  libcublas.so.13   from no package: left to the search of the system",
        "libggml-cuda.so  -      not used: the driver is not installed",
    ):
        assert f"  {line}\n" in f"{text}\n"
    (accelerator,) = system_report().as_dict()["accelerators"]
    assert accelerator == {"name": "CUDA", "release": "13.1", "devices": 0, "libraries": libraries, "absence": str(absence)}


def test_an_accelerator_with_devices_counts_them() -> None:
    report = AcceleratorReport(name="CUDA", release="13.1", devices=2, libraries={}, absence=None)
    assert list(_accelerator(report)) == ["CUDA 13.1: 2 devices"]


def raising(error: Any) -> Any:
    def fail() -> None:
        raise error

    return fail


def test_broken_libraries_still_give_a_report(installation: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    installation.setattr(report_module, "load_backends", raising(NativeLibraryError("libomp.so not found, needed by libggml-base.so")))
    assert command.main([]) == 1
    text = capsys.readouterr().out
    assert "BROKEN, see the end" in text
    assert text.rstrip().endswith("libomp.so not found, needed by libggml-base.so")
    assert command.main(["--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problem"].startswith("libomp.so")


def test_without_a_cpu_backend_the_plugins_are_shown(installation: pytest.MonkeyPatch) -> None:
    installation.setattr(report_module, "ensure_backends", raising(BackendLoadError("no CPU backend\n  a: b")))
    report = system_report()
    assert not report.ok
    assert len(report.plugins) == 4
    assert "\nPROBLEM\n  no CPU backend\n    a: b" in render(report)


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(["--help"])
    assert caught.value.code == 0
    assert "python -m llama_cpp --json" in capsys.readouterr().out
