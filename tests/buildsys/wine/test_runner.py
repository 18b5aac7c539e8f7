from __future__ import annotations

import zipfile
from collections.abc import Callable
from functools import partialmethod
from pathlib import Path

import pytest

from buildsys.errors import WheelError
from buildsys.matrix import select_one
from buildsys.wine import command, runner
from buildsys.wine.emulator import Ending
from buildsys.wine.probe import Decoding, Probe, ProbeFailedError, Step
from buildsys.wine.runner import CASES, LEFT_OUT, Comparison, WineProof, run_wine

VARIANTS = select_one("windows_amd64-cpu").cpu_variants
WINDOWS = "llama_cpp_python-1.0-py3-none-win_amd64.whl"
WITHOUT_OPENMP = Ending(
    code=3, stdout="", stderr='err:module:import_dll Library libomp.dll (which is needed by L"Z:\\\\x\\\\ggml-base.dll") not found'
)
LINUX = "llama_cpp_python-1.0-py3-none-manylinux_2_28_x86_64.whl"


def decoding(*tokens: int, variant: str = "haswell", logit: float = 1.0, prompt: tuple[int, ...] = (1,)) -> Decoding:
    steps = tuple(Step(token=token, logit=logit, lead=1.0, piece=b"x") for token in tokens)
    return Decoding(variant=variant, prompt=prompt, steps=steps)


@pytest.mark.parametrize(
    ("windows", "fault"),
    [
        (decoding(1, 2), ""),
        (decoding(1, 2, logit=1.0005), ""),
        (decoding(1, 2, logit=1.01), "differs from Linux by 0.01 in a logit"),
        (decoding(1, 3), "continued with (1, 3), where Linux continues with (1, 2)"),
        (decoding(1), "continued with (1,)"),
        (decoding(1, 2, variant="x64"), "chose x64, where Linux chooses haswell"),
        (decoding(1, 2, variant=""), "chose no variant"),
        (decoding(1, 2, prompt=(2,)), "made (2,) of the prompt"),
    ],
)
def test_both_systems_have_to_agree(windows: Decoding, fault: str) -> None:
    comparison = Comparison(model="m", windows=windows, linux=decoding(1, 2))
    assert comparison.fault.startswith(fault)
    assert bool(comparison.fault) == bool(fault)


class Machine:
    """Stands in for both probes: libraries are files, and a decoding is the name of the best variant there."""

    def __init__(self) -> None:
        self.decoded: list[tuple[str, str]] = []
        self.odd_variant = ""
        self.opens_without_openmp = False

    def open(self, _probe: Probe, folder: Path, names: list[str]) -> dict[str, int]:
        assert {f"{name}.dll" for name in names} <= {file.name for file in folder.iterdir()}
        return {name: VARIANTS.index(name[9:]) + 1 if name.startswith("ggml-cpu-") else -1 for name in names} | {"ggml-cpu-zen4": 0}

    def decode(self, probe: Probe, folder: Path, model: Path, _prompt: str, n_tokens: int) -> Decoding:
        there = [variant for variant in VARIANTS if (folder / probe.library(f"ggml-cpu-{variant}")).is_file()]
        self.decoded.append((probe.system, there[-1]))
        assert model.name
        odd = probe.system == "windows" and there[-1] == self.odd_variant
        return decoding(*[5 if odd else 4] * n_tokens, variant=there[-1])

    def run(self, _probe: Probe, folder: Path, *_: object) -> Ending:
        assert not (folder / "libomp.dll").exists()
        if self.opens_without_openmp:
            return Ending(code=0, stdout="opened ggml-base.dll -1", stderr="")
        return WITHOUT_OPENMP


def _hand_over(probe: Probe, method: Callable[..., object], *args: object) -> object:
    return method(probe, *args)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    stand_in = Machine()
    for name in ("open", "decode", "run"):
        monkeypatch.setattr(Probe, name, partialmethod(_hand_over, getattr(stand_in, name)))
    monkeypatch.setattr(runner.models, "resolve", lambda names: {name: Path(f"{name}.gguf") for name in names})
    return stand_in


@pytest.fixture
def wheel(tmp_path: Path) -> Callable[[str], Path]:
    def write(name: str) -> Path:
        pattern = "{}.dll" if "win" in name else "lib{}.so"
        plain = ["ggml-base", "ggml", "ggml-rpc", "llama", "llama-common", "mtmd"]
        libraries = [pattern.format(stem) for stem in (*plain, *(f"ggml-cpu-{variant}" for variant in VARIANTS))]
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for library in [*libraries, "libomp.dll", "abi.json"]:
                archive.writestr(f"llama_cpp/lib/{library}", b"x")
            archive.writestr("llama_cpp/elsewhere.dll", b"x")
        return tmp_path / name

    return write


def test_every_usable_variant_decodes_on_both_sides(machine: Machine, wheel: Callable[[str], Path]) -> None:
    proof = run_wine(wheel(WINDOWS), reference=wheel(LINUX))
    assert proof.ok
    usable = [variant for variant in VARIANTS if variant not in {*LEFT_OUT, "zen4"}]
    best = [variant for variant in VARIANTS if variant not in LEFT_OUT][-1]
    expected = [best] * len(CASES) + usable
    assert machine.decoded == [(system, variant) for variant in expected for system in ("windows", "linux")]
    assert proof.refusal == "ggml-base.dll needs libomp.dll"
    assert proof.chosen == best
    lines = list(proof.lines())
    assert len(lines) == 2 + 1 + len(LEFT_OUT) + len(expected) + 2
    assert "not run    zen4: this processor lacks what they need" in lines


def test_one_variant_that_decodes_otherwise_fails_the_proof(
    machine: Machine, wheel: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.odd_variant = "sse42"
    proof = run_wine(wheel(WINDOWS), reference=wheel(LINUX))
    assert [comparison.windows.variant for comparison in proof.comparisons if comparison.fault] == ["sse42"]
    assert not proof.ok
    monkeypatch.setattr(command, "run_wine", lambda *_, **__: proof)
    arguments = type("Arguments", (), {"wheels": [Path(WINDOWS)], "reference": None})
    assert command.run(arguments) == 10  # type: ignore[arg-type]
    assert "FAIL       synthetic-llama on sse42" in capsys.readouterr().out


def test_a_wheel_that_opens_without_its_openmp_runtime_is_a_failure(machine: Machine, wheel: Callable[[str], Path]) -> None:
    machine.opens_without_openmp = True
    with pytest.raises(ProbeFailedError, match="without its OpenMP runtime"):
        run_wine(wheel(WINDOWS), reference=wheel(LINUX))


def test_the_wheels_have_to_be_for_their_systems(wheel: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="for linux, not for windows"):
        run_wine(wheel(LINUX))
    with pytest.raises(WheelError, match="for windows, not for linux"):
        run_wine(wheel(WINDOWS), reference=wheel(WINDOWS))
    with pytest.raises(WheelError, match="does not exist"):
        run_wine(tmp_path / "gone" / WINDOWS)


def test_without_a_linux_wheel_it_says_how_to_get_one(
    wheel: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(runner, "DIST", tmp_path / "dist")
    with pytest.raises(WheelError, match="no Linux wheel") as caught:
        run_wine(wheel(WINDOWS))
    assert "build linux_x86_64-cpu" in caught.value.hint


def test_the_newest_plain_linux_wheel_is_compared_with(
    machine: Machine, wheel: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    windows, linux = wheel(WINDOWS), wheel(LINUX)
    wheel(LINUX.replace("1.0", "1.0+cu131"))
    monkeypatch.setattr(runner, "DIST", tmp_path)
    proof: WineProof = run_wine(windows)
    assert proof.reference == linux
    assert machine.decoded
