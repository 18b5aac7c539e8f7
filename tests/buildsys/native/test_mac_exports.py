"""The version scripts of Linux, as Apple's linker is handed them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from buildsys.project import NATIVE


@pytest.mark.parametrize("name", ["library", "backend"])
def test_every_global_name_of_the_version_script_is_exported(name: str, tmp_path: Path) -> None:
    script, listed = tmp_path / "list.cmake", tmp_path / "exports.txt"
    map_file = NATIVE / f"{name}.map"
    script.write_text(f'include("{NATIVE}/MacLibraries.cmake")\nwrite_exported_symbols("{map_file}" "{listed}")\n', encoding="utf-8")
    subprocess.run(["cmake", "-P", script], check=True)
    text = re.sub(r"/\*.*?\*/", "", map_file.read_text(encoding="utf-8"), flags=re.DOTALL)
    names = re.findall(r"[^\s;]+(?=;)", text.partition("global:")[2].partition("local:")[0])
    assert len(names) > 5
    assert listed.read_text(encoding="utf-8").split() == [f"_{symbol}" for symbol in names]
