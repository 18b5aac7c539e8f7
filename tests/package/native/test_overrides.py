"""Functions that load the packaged backends first."""

from __future__ import annotations

import pytest

from llama_cpp._native import accelerators, backends, overrides


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    monkeypatch.setattr(backends, "ensure_backends", lambda: seen.append("backends"))
    return seen


def test_backends_come_before_the_call(steps: list[str]) -> None:
    def llama_anything(*args: object) -> str:
        steps.append(f"called with {args}")
        return "result"

    function = overrides.after_backends(llama_anything)
    assert steps == []
    assert function(1, b"x") == "result"
    assert steps == ["backends", "called with (1, b'x')"]
    assert function.__name__ == "llama_anything"


def test_load_all_never_searches_by_itself(steps: list[str]) -> None:
    overrides.ggml_backend_load_all()
    assert steps == ["backends"]


@pytest.mark.parametrize(("gpus", "offered"), [(0, False), (1, True)])
def test_offloading_is_offered_where_a_device_takes_layers(
    steps: list[str], monkeypatch: pytest.MonkeyPatch, gpus: int, offered: bool
) -> None:
    monkeypatch.setattr(accelerators, "gpu_devices", lambda: steps.append("devices") or gpus)
    assert overrides.llama_supports_gpu_offload() is offered
    assert steps == ["backends", "devices"]


def test_a_failure_to_load_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise backends.BackendLoadError("no CPU backend")

    monkeypatch.setattr(backends, "ensure_backends", fail)
    with pytest.raises(backends.BackendLoadError):
        overrides.after_backends(lambda: None)()


@pytest.mark.parametrize("name", [name for name in overrides.__all__ if name.startswith("llama_")])
def test_overrides_keep_the_names_they_replace(name: str) -> None:
    assert getattr(overrides, name).__name__ == name
