from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llama_cpp._native import variants
from llama_cpp._native.naming import naming_for
from llama_cpp._native.variants import Plugin, ScoredPlugin, by_preference, families, plugins_in, probe


class FakeLibrary:
    """What ctypes.CDLL would return for a plugin; without a score it lacks the scoring function."""

    def __init__(self, score: Any = None) -> None:
        if score is not None:

            def ggml_backend_score() -> Any:
                return score

            self.ggml_backend_score = ggml_backend_score


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Any:
    handles = []
    monkeypatch.setattr(variants, "_close", handles.append)
    return handles


def plugin(tmp_path: Path, name: str = "libggml-cpu-haswell.so") -> Any:
    path = tmp_path / name
    path.write_bytes(b"MZ a file")
    return Plugin(path=path, family="cpu", variant="haswell")


def test_plugins_are_grouped_by_family_with_the_cpu_last(tmp_path: Path) -> None:
    names = ("cpu-x64", "cpu-haswell", "cuda", "unheardof", "rpc", "base", "vulkan")
    for name in names:
        (tmp_path / f"libggml-{name}.so").touch()
    (tmp_path / "libllama.so").touch()
    (tmp_path / "libggml-sycl.so").mkdir()
    groups = families(plugins_in(tmp_path, naming_for("linux")))
    assert [(family, [each.variant for each in members]) for family, members in groups] == [
        ("cuda", [""]),
        ("rpc", [""]),
        ("vulkan", [""]),
        ("unheardof", [""]),
        ("cpu", ["haswell", "x64"]),
    ]


def test_a_missing_folder_has_no_plugins(tmp_path: Path) -> None:
    assert plugins_in(tmp_path / "none") == []


def test_the_highest_score_is_preferred_and_unusable_ones_are_left_out() -> None:
    def scored(variant: Any, score: Any = None, failure: Any = None) -> Any:
        made = Plugin(path=Path(variant or "plain"), family="cpu", variant=variant)
        return ScoredPlugin(plugin=made, score=score, failure=failure)

    ranked = by_preference([scored("x64", 1), scored("zen4", 0), scored(""), scored("haswell", 64), scored("icelake", 9999, "broken")])
    assert [each.plugin.variant for each in ranked] == ["haswell", "x64", ""]


@pytest.mark.parametrize("score", [0, 64])
def test_probe_reads_the_score_and_closes_the_file(tmp_path: Path, closed: Any, score: Any) -> None:
    found = probe(plugin(tmp_path), lambda _path: FakeLibrary(score))
    assert (found.score, found.failure, found.usable) == (score, None, score > 0)
    assert len(closed) == 1


@pytest.mark.usefixtures("closed")
def test_a_plugin_without_a_score_stays_usable(tmp_path: Path) -> None:
    found = probe(plugin(tmp_path), lambda _path: FakeLibrary())
    assert (found.score, found.failure, found.usable) == (None, None, True)


def test_a_plugin_that_does_not_open_is_kept_with_its_reason(tmp_path: Path, closed: Any) -> None:
    def fail(_path: Any) -> None:
        raise OSError("libomp.so: cannot open shared object file: No such file or directory")

    found = probe(plugin(tmp_path), fail)
    assert "libomp.so not found, needed by libggml-cpu-haswell.so" in found.failure
    assert not found.usable
    assert closed == []


def test_an_accelerator_without_variants_is_not_opened_to_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "libggml-cuda.so"
    path.write_bytes(b"")

    def fail(_path: Any) -> None:
        raise AssertionError("opened")

    found = probe(Plugin(path=path, family="cuda", variant=""), fail)
    assert (found.score, found.failure, found.usable) == (None, None, True)


def test_a_truncated_plugin_is_never_opened(tmp_path: Path) -> None:
    damaged = plugin(tmp_path)
    damaged.path.write_bytes(b"")

    def fail(_path: Any) -> None:
        raise AssertionError("opened")

    assert probe(damaged, fail).failure == "the file is empty"
