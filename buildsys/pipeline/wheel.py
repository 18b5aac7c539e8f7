"""The packaging stages: scikit-build-core makes the wheel, auditwheel gives it the tag that its symbols earn."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from packaging.utils import canonicalize_name, parse_wheel_filename

from buildsys.errors import WheelError
from buildsys.matrix import BuildRow
from buildsys.process import run_logged
from buildsys.project import DIST, ROOT, cache_dir, package_version


def expected_version(row: BuildRow) -> str:
    """The version that the wheel of `row` must carry."""
    return package_version() + (f"+{row.local_version}" if row.local_version else "")


def package_wheel(row: BuildRow, native: Path) -> Path:
    """Package `native` and the Python files into a not yet repaired wheel; its path is returned."""
    work = _fresh(cache_dir() / "wheels" / row.identifier / "packaged")
    command: list[str | Path] = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", work]
    settings = [f"cmake.define.LLAMA_CPP_PREBUILT={native}", f"build-dir={work / 'tree'}"]
    command += [f"--config-settings={setting}" for setting in settings]
    run_logged([*command, ROOT], log=work / "log", label=f"{row.identifier}: packaging")
    return _only_wheel(work, row)


def repair_wheel(row: BuildRow, packaged: Path) -> Path:
    """Give the wheel the platform tag that it earns, and put it into `dist/`.

    Everything it needs is already inside (the audit proves it), so nothing may be grafted: auditwheel fails
    where a library from outside would have to come in.
    """
    work = _fresh(cache_dir() / "wheels" / row.identifier / "repaired")
    options = ["--plat", "auto", "--only-plat", "-z", "9", "--wheel-dir", str(work)]
    command: list[str | Path] = [sys.executable, "-m", "auditwheel", "repair", *options, packaged]
    run_logged(command, log=work / "log", label=f"{row.identifier}: repairing")
    repaired = _only_wheel(work, row)
    DIST.mkdir(exist_ok=True)
    for stale in DIST.glob(f"{repaired.name.split('-', 1)[0]}-{expected_version(row)}-*{row.machine}.whl"):
        stale.unlink()
    return Path(shutil.move(repaired, DIST / repaired.name))


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _only_wheel(folder: Path, row: BuildRow) -> Path:
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise WheelError(f"expected one wheel in {folder}, found {len(wheels)}", hint=f"read {folder / 'log'}")
    name, version, _, tags = parse_wheel_filename(wheels[0].name)
    interpreters = {(tag.interpreter, tag.abi) for tag in tags}
    if name != canonicalize_name("llama_cpp_python") or str(version) != expected_version(row) or interpreters != {("py3", "none")}:
        raise WheelError(f"{wheels[0].name} is not a py3-none wheel of version {expected_version(row)}", hint="check pyproject.toml")
    return wheels[0]
