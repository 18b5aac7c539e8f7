"""Which GPU architectures a library has code for, as NVIDIA's `cuobjdump` lists it."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from buildsys.errors import CommandFailedError

PACKAGE = "nvidia-cuda-cuobjdump"
_LISTED = re.compile(r"\.sm_(\d+[af]?)\.(?:cubin|ptx)$", re.MULTILINE)
_NONE = "does not contain device code"


@dataclass(frozen=True, kw_only=True)
class DeviceCode:
    """Architectures as NVIDIA spells them, `90` or `120a`: machine code, and PTX that the driver compiles."""

    real: frozenset[str]
    virtual: frozenset[str]

    def __str__(self) -> str:
        machine, ptx = (", ".join(sorted(names, key=lambda name: (len(name.rstrip("af")), name))) for names in (self.real, self.virtual))
        return "; ".join(part for part in (machine and f"sm_{machine}", ptx and f"PTX {ptx}") if part) or "none"


def device_code(name: str, data: bytes) -> DeviceCode:
    """What `data`, the content of the library called `name`, holds for GPUs.

    Raises:
        CommandFailedError: cuobjdump isn't there, or cannot read the file.
    """
    program = _cuobjdump()
    with tempfile.TemporaryDirectory(prefix="device-code-") as folder:
        file = Path(folder, name)
        file.write_bytes(data)
        real, virtual = (frozenset(_list(program, option, file)) for option in ("--list-elf", "--list-ptx"))
    return DeviceCode(real=real, virtual=virtual)


def _list(program: str, option: str, file: Path) -> Iterator[str]:
    done = subprocess.run([program, option, str(file)], capture_output=True, text=True, check=False)
    if done.returncode and _NONE not in done.stdout + done.stderr:
        raise CommandFailedError(f"cuobjdump failed on {file.name}: {done.stderr.strip()[-500:]}", hint=f"pip install --upgrade {PACKAGE}")
    yield from _LISTED.findall(done.stdout)


def _cuobjdump() -> str:
    """The program that the package brings, or one of an installed toolkit."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    packaged = [Path(str(file.locate())) for file in files if file.name in {"cuobjdump", "cuobjdump.exe"}]
    program = next((str(path) for path in packaged if path.is_file()), None) or shutil.which("cuobjdump")
    if program is None:
        raise CommandFailedError("cuobjdump was not found, which lists the GPU code of a library", hint=f"pip install {PACKAGE}")
    return program
