"""Backends load once whatever thread asks, and a broken file is named while the others go on serving."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from rig import child, installation, material

import llama_cpp

if TYPE_CHECKING:
    from pathlib import Path

LOAD_FROM_THREADS = """
    import json, threading
    import llama_cpp
    barrier, reports, failures = threading.Barrier(8), [], []
    def load():
        barrier.wait()
        try:
            reports.append(llama_cpp.system_report())
        except Exception as error:
            failures.append(repr(error))
    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    names = [registry.name for registry in reports[0].registries]
    chosen = sorted({each.cpu_variant for each in reports})
    print(json.dumps({"failures": failures, "reports": len(reports), "names": names, "chosen": chosen}))
"""

GENERATE = """
    import json, sys
    import llama_cpp
    try:
        with llama_cpp.Llama(sys.argv[1], n_ctx=64, verbose=False) as llama:
            text = llama.create_completion("Hello", max_tokens=4, temperature=0.0)["choices"][0]["text"]
    except Exception as error:
        print(json.dumps({"error": str(error), "kinds": [kind.__name__ for kind in type(error).__mro__]}))
    else:
        report = llama_cpp.system_report()
        failures = {each.variant: each.failure for each in report.plugins if each.failure}
        print(json.dumps({"text": text, "variant": report.cpu_variant, "failures": failures}))
"""


def generate_with(folder: Path) -> dict[str, object]:
    answer = child.run(GENERATE, material.model(material.SYNTH_LLAMA), env={"LLAMA_CPP_LIB_PATH": str(folder)}).json()
    assert isinstance(answer, dict)
    return answer


@pytest.mark.every_processor
def test_eight_threads_load_once() -> None:
    answer = child.run(LOAD_FROM_THREADS).json()
    assert answer["failures"] == []
    assert answer["reports"] == 8
    assert len(answer["chosen"]) == 1
    assert sorted(answer["names"]) == sorted(set(answer["names"])), "a backend was registered twice"
    assert "CPU" in answer["names"]


@pytest.mark.every_processor
def test_registries_and_features_are_reported() -> None:
    report = llama_cpp.system_report()
    names = {registry.name for registry in report.registries}
    assert {"CPU", "RPC"} <= names
    assert any(device.name == "CPU" for registry in report.registries for device in registry.devices)
    assert report.cpu_variant in installation.cpu_variants()
    assert set(installation.cpu_variants()) == {each.variant for each in report.plugins if each.family == "cpu"}


def test_missing_openmp_is_named_with_those_who_need_it(tmp_path: Path) -> None:
    openmp = next(name for name in installation.libraries() if name.endswith(("omp", "omp5", "omp5md", "omp140")))
    folder = installation.copy_libraries(tmp_path / "lib", without=[openmp])
    message = str(generate_with(folder)["error"])
    assert f"lib{openmp}" in message or openmp in message
    assert "needed by" in message
    assert any(path.name in message for path in folder.iterdir()), message


@pytest.mark.parametrize("share", [0.5, 0.01, 0.0], ids=["half", "header", "empty"])
def test_truncated_best_variant_is_reported_and_another_serves(tmp_path: Path, share: float) -> None:
    best = llama_cpp.system_report().cpu_variant
    folder = installation.copy_libraries(tmp_path / "lib")
    damaged = folder / installation.cpu_variants()[best].name
    content = damaged.read_bytes()
    damaged.write_bytes(content[: int(len(content) * share)])
    answer = generate_with(folder)
    assert answer.get("text"), answer
    assert answer["variant"] != best
    assert set(answer["failures"]) == {best}  # type: ignore[call-overload]


@pytest.mark.every_processor
def test_garbage_in_place_of_a_variant_is_reported(tmp_path: Path) -> None:
    other = next(name for name in installation.cpu_variants() if name != llama_cpp.system_report().cpu_variant)
    folder = installation.copy_libraries(tmp_path / "lib")
    (folder / installation.cpu_variants()[other].name).write_bytes(b"no library" * 1000)
    answer = generate_with(folder)
    assert answer.get("text"), answer
    assert set(answer["failures"]) == {other}  # type: ignore[call-overload]


def test_no_cpu_backend_is_an_error_that_says_so(tmp_path: Path) -> None:
    variants = [f"{installation.CPU_PREFIX}{name}" for name in installation.cpu_variants()]
    folder = installation.copy_libraries(tmp_path / "lib", without=variants)
    answer = generate_with(folder)
    assert "BackendLoadError" in answer["kinds"], answer  # type: ignore[operator]
    assert str(folder) in str(answer["error"])


@pytest.mark.parametrize("missing", ["ggml-base", "ggml", "llama"])
def test_missing_core_library_is_named(tmp_path: Path, missing: str) -> None:
    folder = installation.copy_libraries(tmp_path / "lib", without=[missing])
    answer = generate_with(folder)
    assert installation.libraries()[missing].name in str(answer["error"]), json.dumps(answer)


def test_missing_multimodal_library_costs_only_its_feature(tmp_path: Path) -> None:
    folder = installation.copy_libraries(tmp_path / "lib", without=["mtmd"])
    assert generate_with(folder).get("text")
