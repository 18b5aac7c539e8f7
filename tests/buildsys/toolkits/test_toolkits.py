from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from buildsys import toolkits
from buildsys.errors import CommandFailedError, ToolkitError
from buildsys.matrix import rows
from buildsys.toolkits.provider import Provider
from buildsys.toolkits.request import Request

from .fakes import make_toolkit


class FakeProvider(Provider, frozen=True, kw_only=True, tag="fake"):
    """Serves unless it is told otherwise, and makes a toolkit that states `states`, or the release asked for."""

    absent: str = ""
    breaks: str = ""
    states: str = ""

    def obstacle_here(self, request: Request) -> str:
        del request
        return self.absent

    def obtain(self, request: Request, place: Path) -> Path:
        if self.breaks:
            raise CommandFailedError(self.breaks)
        return make_toolkit(place, self.states or request.release)


def fake(**fields: str) -> FakeProvider:
    return FakeProvider(summary="s", releases=fields.pop("releases", ">=12"), systems=("linux_x86_64",), **fields)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))

    def install(**providers: FakeProvider) -> None:
        stated = msgspec.structs.replace(toolkits.table(), provider=providers)
        monkeypatch.setattr(toolkits, "table", lambda: stated)

    return install


def prepare(release: str, provider: str = "") -> toolkits.ReadyToolkit:
    return toolkits.prepare(release, provider, system="linux_x86_64")


def test_the_first_provider_that_serves_is_taken(use: object) -> None:
    use(old=fake(releases="==12.4"), away=fake(absent="is away"), new=fake(releases=">=13"), last=fake())  # type: ignore[operator]
    assert [prepare(release).provider for release in ("12.4", "12.6", "13.1")] == ["old", "last", "new"]


def test_a_provider_that_breaks_gives_way_to_the_next(use: object) -> None:
    use(broken=fake(breaks="no network"), good=fake())  # type: ignore[operator]
    assert prepare("12.4").provider == "good"


def test_when_none_can_every_answer_is_told(use: object) -> None:
    use(old=fake(releases="==12.4"), away=fake(absent="needs dnf"), broken=fake(breaks="pip failed"))  # type: ignore[operator]
    with pytest.raises(ToolkitError) as caught:
        prepare("13.1")
    assert caught.value.message.splitlines() == [
        "no CUDA 13.1 toolkit for linux_x86_64; tried:",
        "  - old has CUDA ==12.4 only",
        "  - away needs dnf",
        "  - broken: pip failed",
    ]
    assert "CUDA_PATH" in caught.value.hint


def test_a_provider_that_is_asked_for_by_name_has_no_substitute(use: object) -> None:
    use(broken=fake(breaks="no network"), good=fake())  # type: ignore[operator]
    with pytest.raises(ToolkitError, match="no network"):
        prepare("12.4", "broken")
    with pytest.raises(ToolkitError, match="'conda'") as caught:
        prepare("12.4", "conda")
    assert caught.value.hint == "choose from: broken, good"


def test_what_is_ready_tells_cmake_where_the_compiler_and_the_stub_are(use: object) -> None:
    use(good=fake())  # type: ignore[operator]
    ready = prepare("12.4")
    assert dict(ready.defines) == {"CUDAToolkit_ROOT": str(ready.root), "CMAKE_CUDA_COMPILER": f"{ready.root}/bin/nvcc"}
    (ready.root / "lib64" / "stubs").mkdir(parents=True)
    (ready.root / "lib64" / "stubs" / "libcuda.so").touch()
    assert prepare("12.4").defines["CUDA_cuda_driver_LIBRARY"] == f"{ready.root}/lib64/stubs/libcuda.so"


def test_a_toolkit_of_another_release_than_the_table_says_is_refused(use: object) -> None:
    use(wrong=fake(states="12.6"))  # type: ignore[operator]
    with pytest.raises(ToolkitError, match=r"is CUDA 12\.6, not 12\.4"):
        prepare("12.4")


@pytest.mark.parametrize("text", ["13", "cu131", "13.1.0", ""])
def test_a_release_is_major_and_minor(text: str) -> None:
    with pytest.raises(ToolkitError, match="is no CUDA release"):
        Request(release=text, system="linux_x86_64")


def test_every_cuda_row_has_a_provider_for_its_system_that_needs_no_such_machine() -> None:
    """The one of NVIDIA's archives serves wherever there is network; for Linux containers the repository does too."""
    for row in rows():
        if row.cuda:
            request = Request(release=row.cuda.toolkit, system=row.identifier.split("-")[0])
            answers = {name: provider.obstacle(request) for name, provider in toolkits.table().provider.items()}
            assert answers["nvidia-archives"] == "", row.identifier
            assert "only inside" in answers["nvidia-repository"] or "dnf" in answers["nvidia-repository"] or row.system == "windows"


def test_a_specifier_that_is_none_is_refused_with_its_place() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"releases: .*'13 or so'"):
        msgspec.convert({"kind": "fake", "summary": "s", "releases": "13 or so", "systems": []}, type=FakeProvider)
