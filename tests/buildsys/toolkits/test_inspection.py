from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.errors import ToolkitError
from buildsys.toolkits.inspection import inspect, release_of

from .fakes import executable, make_toolkit


def test_a_toolkit_states_its_release_its_identity_and_the_newest_gcc(tmp_path: Path) -> None:
    found = inspect(make_toolkit(tmp_path))
    assert (found.release, found.newest_gcc) == ("12.4", 13)
    assert "Build cuda_12.4.r12.4/compiler.1_0" in found.identity


def test_the_same_toolkit_elsewhere_is_the_same_and_another_cublas_is_not(tmp_path: Path) -> None:
    first, second = make_toolkit(tmp_path / "a"), make_toolkit(tmp_path / "b")
    assert inspect(first).identity == inspect(second).identity
    (second / "include" / "cublas_api.h").write_text("cublas of an update", encoding="utf-8")
    assert inspect(first).identity != inspect(second).identity


def test_a_toolkit_without_the_headers_of_cublas_is_named_as_lacking_them(tmp_path: Path) -> None:
    (make_toolkit(tmp_path) / "include" / "cublas_api.h").unlink()
    with pytest.raises(ToolkitError, match=r"lacks include/cublas_api\.h") as caught:
        inspect(tmp_path)
    assert "development packages" in caught.value.hint


def test_the_headers_of_cuda_13_have_a_folder_of_their_own_for_cccl(tmp_path: Path) -> None:
    root = make_toolkit(tmp_path, "13.1")
    (root / "include" / "cccl").mkdir()
    (root / "include" / "cub").rename(root / "include" / "cccl" / "cub")
    assert inspect(root).release == "13.1"


def test_a_compiler_that_does_not_run_is_no_release(tmp_path: Path) -> None:
    assert release_of(tmp_path) == ""
    executable(tmp_path / "bin" / "nvcc", "#!/bin/sh\nexit 3\n")
    assert release_of(tmp_path) == ""
    with pytest.raises(ToolkitError, match="no nvcc that runs"):
        inspect(tmp_path)


def test_a_toolkit_that_states_no_limit_for_gcc_has_none(tmp_path: Path) -> None:
    (make_toolkit(tmp_path) / "include" / "crt" / "host_config.h").write_text("", encoding="utf-8")
    assert inspect(tmp_path).newest_gcc is None
