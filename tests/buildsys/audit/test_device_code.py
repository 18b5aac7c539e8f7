"""Reading GPU architectures: what cuobjdump prints, and where the program comes from."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from buildsys.audit import device_code as module
from buildsys.audit.device_code import DeviceCode, device_code
from buildsys.errors import CommandFailedError

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for cuobjdump is a shell script")


def stand_in(folder: Path, elf: str, ptx: str, *, code: int = 0, error: str = "") -> str:
    """A program that lists these files, as cuobjdump does."""
    program = folder / "cuobjdump"
    cases = []
    for option, kind, names in (("--list-elf", "ELF", elf), ("--list-ptx", "PTX", ptx)):
        listing = "".join(f"{kind} file    1: {name}\\n" for name in names.split())
        cases.append(f"{option}) printf '{listing}' ;;\n")
    script = f"#!/bin/sh\ntest -f \"$2\" || exit 9\ncase $1 in\n{''.join(cases)}esac\necho '{error}' >&2\nexit {code}\n"
    program.write_text(script, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


@posix_only
def test_listed_files_are_taken_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elf = "libggml-cuda.1.sm_75.cubin libggml-cuda.2.sm_120a.cubin libggml-cuda.3.sm_75.cubin"
    monkeypatch.setattr(module, "_cuobjdump", lambda: stand_in(tmp_path, elf, "libggml-cuda.1.sm_120.ptx"))
    assert device_code("libggml-cuda.so", b"x") == DeviceCode(real=frozenset({"75", "120a"}), virtual=frozenset({"120"}))


@posix_only
def test_no_code_at_all_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = stand_in(tmp_path, "", "", code=255, error="cuobjdump info : File x does not contain device code")
    monkeypatch.setattr(module, "_cuobjdump", lambda: program)
    assert device_code("x.so", b"x") == DeviceCode(real=frozenset(), virtual=frozenset())


@posix_only
def test_a_failure_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = stand_in(tmp_path, "", "", code=255, error="cuobjdump fatal : no such format")
    monkeypatch.setattr(module, "_cuobjdump", lambda: program)
    with pytest.raises(CommandFailedError, match=r"cuobjdump failed on x\.so: cuobjdump fatal : no such format"):
        device_code("x.so", b"x")


def test_without_the_program_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise module.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(module.importlib.metadata, "files", absent)
    monkeypatch.setattr(module.shutil, "which", lambda _name: None)
    with pytest.raises(CommandFailedError, match="cuobjdump was not found") as caught:
        device_code("x.so", b"x")
    assert caught.value.hint == "pip install nvidia-cuda-cuobjdump"


@pytest.mark.skipif(sys.platform not in {"linux", "win32"}, reason="NVIDIA has no cuobjdump for this system")
def test_the_packages_program_runs() -> None:
    """On a file without GPU code, of which every machine has some."""
    assert device_code("python", Path(sys.executable).read_bytes()) == DeviceCode(real=frozenset(), virtual=frozenset())
