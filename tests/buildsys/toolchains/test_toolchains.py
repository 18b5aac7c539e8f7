from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import msgspec
import pytest

from buildsys import toolchains
from buildsys.errors import ToolchainError
from buildsys.toolchains import Toolchain, packages

PACKAGED = {
    "summary": "s",
    "requirements": ["demo==1"],
    "openmp": {"include": "{root}/include", "library": "{root}/lib/libomp.so"},
    "launchers": {"cc": ["{root}/demo compiler", "cc", "-target", "{target}"]},
    "cmake": {"CMAKE_C_COMPILER": "{launchers}/cc"},
}
SYSTEM = {
    "summary": "s",
    "programs": {"cc": ["nowhere-99", "democc"]},
    "install_hint": "install democc",
    "openmp": {"include": "", "library": "libomp.so"},
    "cmake": {"CMAKE_C_COMPILER": "{cc}"},
}


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(toolchains, "strip_elf", lambda path: path.write_text("stripped", encoding="utf-8"))

    def install(data: dict[str, object]) -> None:
        toolchain = msgspec.convert(data, type=Toolchain)
        monkeypatch.setattr(toolchains, "listed", lambda: {"demo": toolchain})

    return install


def fake_pip(command: list[str], **_: object) -> None:
    root = Path(command[command.index("--target") + 1])
    executable(root / "demo compiler", '#!/bin/sh\necho "$@"\n')
    executable(root / "lib" / "libomp.so", "")


def test_a_packaged_toolchain_is_installed_once_and_launched_for_its_target(use: object, monkeypatch: pytest.MonkeyPatch) -> None:
    use(PACKAGED)  # type: ignore[operator]
    calls: list[list[str]] = []
    monkeypatch.setattr(packages, "run_logged", lambda command, **rest: (calls.append(command), fake_pip(command, **rest)))
    first = toolchains.prepare("demo", "x86_64-linux-gnu.2.28")
    second = toolchains.prepare("demo", "aarch64-linux-gnu.2.28")
    assert len(calls) == 1
    assert first.identity != second.identity
    compiler = first.defines["CMAKE_C_COMPILER"]
    assert Path(compiler).stat().st_mode & stat.S_IXUSR
    said = subprocess.run([compiler, "-c", "a file.c"], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "cc -target x86_64-linux-gnu.2.28 -c a file.c"
    library = Path(first.defines["OpenMP_omp_LIBRARY"])
    assert library.parts[-2:] == ("lib", "libomp.so")
    assert library.read_text(encoding="utf-8") == "stripped"


def test_what_runs_on_the_target_is_installed_for_its_platform(use: object, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"platform": "manylinux_2_28_aarch64", "requirements": ["runtime==2"]}
    openmp = {"include": "{root}/target/include", "library": "{root}/target/lib/libomp.so"}
    use({**PACKAGED, "target_packages": wanted, "openmp": openmp})  # type: ignore[operator]
    calls: list[list[str]] = []
    monkeypatch.setattr(packages, "run_logged", lambda command, **rest: (calls.append(command), fake_pip(command, **rest)))
    ready = toolchains.prepare("demo", "t")
    for_host, for_target = calls
    assert (for_host[-1], for_target[-1]) == ("demo==1", "runtime==2")
    assert "--platform" not in for_host
    assert for_target[for_target.index("--platform") + 1] == "manylinux_2_28_aarch64"
    assert for_target[for_target.index("--only-binary") + 1] == ":all:"
    library = Path(ready.defines["OpenMP_omp_LIBRARY"])
    assert library.parts[-3:] == ("target", "lib", "libomp.so")
    assert library.read_text(encoding="utf-8") == "stripped"
    assert ready.defines["OpenMP_C_FLAGS"].endswith("/target/include")
    assert "runtime==2 for manylinux_2_28_aarch64" in ready.identity
    use({**PACKAGED, "target_packages": {**wanted, "platform": "manylinux_2_34_aarch64"}, "openmp": openmp})  # type: ignore[operator]
    assert Path(toolchains.prepare("demo", "t").defines["OpenMP_omp_LIBRARY"]).parts[:-3] != library.parts[:-3]


def test_a_launcher_rewrites_its_arguments_first(use: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "run_logged", fake_pip)
    use(PACKAGED)  # type: ignore[operator]
    plain = toolchains.prepare("demo", "t").identity
    use({**PACKAGED, "rewrite": "march_to_mcpu.sh"})  # type: ignore[operator]
    ready = toolchains.prepare("demo", "t")
    said = subprocess.run([ready.defines["CMAKE_C_COMPILER"], "-march=armv8-a"], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "cc -target t -mcpu=generic+v8a"
    assert ready.identity != plain


def test_an_interrupted_installation_is_not_taken_for_a_toolchain(use: object, monkeypatch: pytest.MonkeyPatch) -> None:
    use(PACKAGED)  # type: ignore[operator]

    def interrupted(command: list[str], **_: object) -> None:
        executable(Path(command[command.index("--target") + 1]) / "demo compiler", "half")
        raise KeyboardInterrupt

    monkeypatch.setattr(packages, "run_logged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        toolchains.prepare("demo", "t")
    monkeypatch.setattr(packages, "run_logged", fake_pip)
    assert Path(toolchains.prepare("demo", "t").defines["OpenMP_omp_LIBRARY"]).is_file()


def test_a_system_toolchain_takes_the_first_program_there_and_asks_it_for_openmp(
    use: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use(SYSTEM)  # type: ignore[operator]
    executable(tmp_path / "llvm" / "libomp.so.5", "")
    (tmp_path / "llvm" / "libomp.so").symlink_to("libomp.so.5")
    executable(tmp_path / "bin" / "democc", f"#!/bin/sh\necho {tmp_path}/llvm/libomp.so\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    ready = toolchains.prepare("demo", "t")
    assert ready.defines["CMAKE_C_COMPILER"] == str(tmp_path / "bin" / "democc")
    assert ready.defines["OpenMP_omp_LIBRARY"] == str(tmp_path / "llvm" / "libomp.so.5")


def test_a_missing_compiler_is_named_with_what_to_install(use: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use(SYSTEM)  # type: ignore[operator]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="none of nowhere-99, democc is on PATH") as caught:
        toolchains.prepare("demo", "t")
    assert caught.value.hint == "install democc"


def test_a_compiler_without_openmp_is_refused(use: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use(SYSTEM)  # type: ignore[operator]
    executable(tmp_path / "bin" / "democc", "#!/bin/sh\necho libomp.so\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(ToolchainError, match=r"no libomp\.so beside it"):
        toolchains.prepare("demo", "t")


def test_an_unknown_toolchain_says_what_there_is() -> None:
    with pytest.raises(ToolchainError, match="'gcc2'") as caught:
        toolchains.prepare("gcc2", "t")
    assert "zig" in caught.value.hint


def test_a_toolchain_with_both_origins_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="either"):
        msgspec.convert({**PACKAGED, "programs": {"cc": ["x"]}}, type=Toolchain)


@pytest.mark.parametrize("key", [{"rewrite": "march_to_mcpu.sh"}, {"licences": {"runtime": "{root}/LICENSE"}}])
def test_a_system_toolchain_takes_nothing_that_needs_an_installation(key: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError, match="belong to a toolchain with requirements"):
        msgspec.convert({**SYSTEM, **key}, type=Toolchain)
