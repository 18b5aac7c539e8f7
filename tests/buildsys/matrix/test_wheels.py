from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.errors import WheelError
from buildsys.matrix import BuildRow, rows
from buildsys.matrix.wheels import row_of_wheel
from buildsys.pipeline.wheel import expected_version, host_platform


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.identifier)
def test_every_row_is_found_again_by_the_names_of_its_wheels(row: BuildRow) -> None:
    for platform in (row.platform_tag, host_platform(row).replace("-", "_").replace(".", "_")):
        name = Path(f"llama_cpp_python-{expected_version(row)}-py3-none-{platform}.whl")
        assert row_of_wheel(name, rows()) is row


@pytest.mark.parametrize(
    "name",
    [
        "llama_cpp_python-0.4.0-py3-none-any.whl",
        "llama_cpp_python-0.4.0+cu118-py3-none-manylinux_2_28_x86_64.whl",
        "llama_cpp_python-0.4.0-py3-none-musllinux_1_2_x86_64.whl",
        "llama_cpp_python.whl",
    ],
)
def test_a_wheel_that_no_row_makes_is_refused(name: str) -> None:
    with pytest.raises(WheelError):
        row_of_wheel(Path(name), rows())
