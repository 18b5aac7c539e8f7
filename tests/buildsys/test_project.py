from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from buildsys.errors import ConfigurationError
from buildsys.project import CACHE_VARIABLE, ROOT, Pin, cache_dir, package_version, pin
from buildsys.tables import load_toml


def test_the_submodule_is_recorded_at_the_pinned_commit() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: there is no gitlink to compare")
    recorded = subprocess.run(["git", "ls-files", "-s", "vendor/llama.cpp"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert recorded.split()[:2] == ["160000", pin().commit]


def test_the_cache_can_be_put_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.delenv(CACHE_VARIABLE)
    assert cache_dir() != tmp_path


def test_the_version_is_a_plain_release() -> None:
    assert package_version().count(".") == 2
    assert "+" not in package_version()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("commit = 'abc'\nrepository = 'r'\n[archive]\nproject='p'\nfilename='f'\nsha256='s'\ngit_directory='g'", "40-digit"),
        ("commit = 5", "commit"),
        ("not toml at all", "Expected"),
    ],
)
def test_a_bad_table_is_named_with_its_file(tmp_path: Path, text: str, word: str) -> None:
    file = tmp_path / "pin.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=word) as caught:
        load_toml(file, Pin)
    assert str(file) in caught.value.message


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere\.toml does not exist"):
        load_toml(tmp_path / "nowhere.toml", Pin)
