from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from llama_cpp._native import backends, cuda_driver, cuda_libraries, log_route
from llama_cpp._native.backends import BackendSet, Refusal, select_and_load
from llama_cpp._native.bindings import ggml_backend, llama
from llama_cpp._native.errors import BackendLoadError, NativeLibraryError
from llama_cpp._native.variants import Plugin, ScoredPlugin
from tests.buildsys.audit.elf_files import shared_object

FOLDER = Path("/lib")


def plugins(*stems: Any) -> Any:
    made = []
    for stem in stems:
        family, _, variant = stem.partition("-")
        made.append(Plugin(path=FOLDER / f"libggml-{stem}.so", family=family, variant=variant))
    return made


def select(stems: Any, scores: Any, failing: Any = (), present: Any = frozenset()) -> Any:
    """Run a selection where `scores` maps stems to a score or to a failure text; returns it and the load attempts."""
    attempts = []

    def probe(plugin: Any) -> Any:
        stem = plugin.path.stem.removeprefix("libggml-")
        found = scores.get(stem)
        return ScoredPlugin(plugin=plugin, failure=found) if isinstance(found, str) else ScoredPlugin(plugin=plugin, score=found)

    def load(path: Any) -> Any:
        stem = path.stem.removeprefix("libggml-")
        attempts.append(stem)
        return Refusal(reason="refused") if stem in failing else None

    return select_and_load(FOLDER, plugins(*stems), load, probe_plugin=probe, present=present), attempts


def test_the_best_variant_of_each_family_is_loaded_and_the_cpu_last() -> None:
    found, attempts = select(["cpu-x64", "cpu-haswell", "rpc", "cuda"], {"cpu-x64": 1, "cpu-haswell": 64})
    assert attempts == ["cuda", "rpc", "cpu-haswell"]
    assert found.cpu_variant.variant == "haswell"
    assert len(found.plugins) == 4
    assert found.failures == ()


def test_a_variant_that_needs_more_than_this_cpu_has_is_no_failure() -> None:
    found, attempts = select(["cpu-x64", "cpu-zen4"], {"cpu-x64": 1, "cpu-zen4": 0})
    assert attempts == ["cpu-x64"]
    assert found.failures == ()


def test_broken_variants_are_reported_and_the_others_serve() -> None:
    found, attempts = select(["cpu-x64", "cpu-zen4"], {"cpu-x64": 1, "cpu-zen4": "cut short"})
    assert attempts == ["cpu-x64"]
    assert [(each.plugin.variant, each.failure) for each in found.failures] == [("zen4", "cut short")]
    assert found.cpu_variant.variant == "x64"


def test_when_the_best_does_not_load_the_next_best_does() -> None:
    found, attempts = select(["cpu-x64", "cpu-haswell"], {"cpu-x64": 1, "cpu-haswell": 64}, failing={"cpu-haswell"})
    assert attempts == ["cpu-haswell", "cpu-x64"]
    assert found.cpu_variant.variant == "x64"
    assert [(each.plugin.variant, each.score, each.failure) for each in found.failures] == [("haswell", 64, "refused")]


def test_a_family_that_is_part_of_the_core_is_left_alone() -> None:
    found, attempts = select(["cpu-x64", "rpc"], {"cpu-x64": 1}, present=frozenset({"cpu"}))
    assert attempts == ["rpc"]
    assert found.cpu_variant is None


def test_a_library_that_the_core_links_serves_as_it_is() -> None:
    found, attempts = select(["cpu", "cpu-x64", "rpc"], {}, present=frozenset({"cpu", "rpc"}))
    assert attempts == []
    assert found.cpu_variant.path == FOLDER / "libggml-cpu.so"
    assert [plugin.family for plugin in found.loaded] == ["rpc", "cpu"]


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A fresh process-wide state over a folder, with native functions that register what they are given."""

    class Process:
        folder = tmp_path
        loaded: list[str] = []  # noqa: RUF012
        initialised = 0
        has_cpu = True

    state = Process()
    state.loaded = []

    def init() -> None:
        state.initialised += 1

    def load(path: Any) -> None:
        time.sleep(0.002)
        state.loaded.append(path.name)

    monkeypatch.setattr(backends, "_loaded", None)
    monkeypatch.setattr(backends, "_cpu_serves", False)
    monkeypatch.setattr(backends, "library", lambda _name: None)
    monkeypatch.setattr(backends, "library_folder", lambda: tmp_path)
    monkeypatch.setattr(backends, "probe", lambda plugin: ScoredPlugin(plugin=plugin, score=1))
    monkeypatch.setattr(backends, "_load_plugin", load)
    monkeypatch.setattr(log_route._Route, "listened_to", True)
    monkeypatch.setattr(ggml_backend, "ggml_backend_reg_count", lambda: 0)
    monkeypatch.setattr(ggml_backend, "ggml_backend_dev_by_type", lambda _kind: 1 if state.has_cpu else None)
    monkeypatch.setattr(llama, "llama_backend_init", init)
    monkeypatch.delenv("GGML_BACKEND_PATH", raising=False)
    return state


def test_backends_load_once_whatever_thread_asks_first(process: Any) -> None:
    (process.folder / "libggml-rpc.so").touch()
    results = []
    threads = [threading.Thread(target=lambda: results.append(backends.ensure_backends())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert process.loaded == ["libggml-rpc.so"]
    assert process.initialised == 1
    assert all(each is results[0] for each in results)


def test_without_a_cpu_backend_each_file_is_named_and_llama_is_not_initialised(process: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    process.has_cpu = False
    tried = tuple(
        ScoredPlugin(plugin=plugin, score=score, failure=failure)
        for plugin, score, failure in zip(plugins("cpu-x64", "cpu-zen4"), (None, 0), ("cut short", None), strict=True)
    )
    monkeypatch.setattr(backends, "_load_all", lambda *_: BackendSet(folder=FOLDER, plugins=tried, loaded=()))
    for _ in range(2):
        with pytest.raises(BackendLoadError) as caught:
            backends.ensure_backends()
    message = str(caught.value)
    assert "libggml-cpu-x64.so: cut short" in message
    assert "libggml-cpu-zen4.so: needs instructions that this CPU lacks" in message
    assert process.initialised == 0  # it would search the current directory
    assert backends.load_backends().plugins == tried


def test_without_any_cpu_file_the_message_says_so(process: Any) -> None:
    process.has_cpu = False
    with pytest.raises(BackendLoadError, match="has no libggml-cpu plugin"):
        backends.ensure_backends()


def test_the_users_own_backend_is_loaded_last(process: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (process.folder / "libggml-rpc.so").touch()
    monkeypatch.setenv("GGML_BACKEND_PATH", "/opt/libggml-mine.so")
    found = backends.ensure_backends()
    assert process.loaded == ["libggml-rpc.so", "libggml-mine.so"]
    assert [plugin.path.name for plugin in found.loaded] == process.loaded


def test_a_broken_plugin_is_logged_once(process: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    (process.folder / "libggml-rpc.so").touch()
    monkeypatch.setattr(backends, "_load_plugin", lambda _path: Refusal(reason="torn"))
    with caplog.at_level(logging.WARNING, "llama-cpp-python"):
        backends.ensure_backends()
        backends.ensure_backends()
    assert [record.getMessage() for record in caplog.records] == ["backend plugin libggml-rpc.so was skipped: torn"]


def test_the_cpu_variants_path_is_the_loaded_file(process: Any) -> None:
    (process.folder / "libggml-cpu-x64.so").write_bytes(b"x")
    assert backends.cpu_variant_path() == process.folder / "libggml-cpu-x64.so"


@pytest.mark.usefixtures("process")
def test_a_static_build_has_no_cpu_plugin() -> None:
    with pytest.raises(NativeLibraryError, match="no CPU plugin"):
        backends.cpu_variant_path()


def test_loading_names_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert backends._load_plugin(tmp_path / "gone.so") == Refusal(reason="there is no such file")


@pytest.fixture
def plugin_of_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CUDA plugin that no loader will open, and a driver that is there."""
    path = tmp_path / "libggml-cuda.so"
    path.write_bytes(shared_object(needed=["libcudart.so.13", "libcublas.so.13", "libcuda.so.1"]))
    monkeypatch.setattr(cuda_driver, "open_driver", object)
    monkeypatch.setattr(cuda_libraries.CudaLibraries, "preload", lambda _self, plugin: order.append(f"preload {plugin.name}"))
    order: list[str] = []

    def open_library(_path: str) -> None:
        order.append("open")
        raise OSError("libcublas.so.13: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(backends.ctypes, "CDLL", open_library)
    monkeypatch.setattr(backends, "_order", order, raising=False)
    return path


def test_a_missing_library_of_cuda_is_named_with_what_brings_it(plugin_of_cuda: Path) -> None:
    refusal = backends._load_plugin(plugin_of_cuda)
    assert refusal is not None
    assert refusal.reason == 'libcublas.so.13 not found, needed by libggml-cuda.so; python -m pip install "nvidia-cublas==13.*"'
    assert (refusal.missing, refusal.idle) == ("libcublas.so.13", False)
    assert backends._order == ["preload libggml-cuda.so", "open"]  # type: ignore[attr-defined]


def test_without_a_driver_a_cuda_plugin_is_idle_and_nothing_is_opened(plugin_of_cuda: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_driver, "open_driver", lambda: None)
    refusal = backends._load_plugin(plugin_of_cuda)
    assert refusal is not None
    assert (refusal.missing, refusal.idle) == ("libcuda.so.1", True)
    assert "NVIDIA" in refusal.reason
    assert backends._order == []  # type: ignore[attr-defined]


def test_an_idle_plugin_is_no_failure_and_is_not_logged(
    process: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (process.folder / "libggml-cuda.so").touch()
    monkeypatch.setattr(backends, "_load_plugin", lambda _path: Refusal(reason="no driver", missing="libcuda.so.1", idle=True))
    with caplog.at_level(logging.DEBUG, "llama-cpp-python"):
        found = backends.ensure_backends()
    assert (found.failures, found.loaded, caplog.records) == ((), (), [])
    (plugin,) = found.plugins
    assert (plugin.idle, plugin.failure, plugin.missing, plugin.usable) == ("no driver", None, "libcuda.so.1", False)
