"""The packaging stages: scikit-build-core makes the wheel, the system's repair tool gives it the tag that it earns."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from packaging.utils import canonicalize_name, parse_wheel_filename

from buildsys.errors import WheelError
from buildsys.matrix import BuildRow
from buildsys.process import run_logged
from buildsys.project import DIST, ROOT, cache_dir, package_version
from buildsys.repair import repair

BUILD_VARIABLE = "LLAMA_CPP_BUILD"
"""Names the row to the provider of the wheel's version and requirements."""


def expected_version(row: BuildRow) -> str:
    """The version that the wheel of `row` must carry."""
    return package_version() + (f"+{row.local_version}" if row.local_version else "")


def host_platform(row: BuildRow) -> str:
    """The platform of `row` as `sysconfig.get_platform` spells it on such a machine."""
    if row.system == "windows":
        return f"win-{row.machine}"
    if row.system == "macos":
        major, minor = row.platform_tag.split("_")[1:3]
        return f"macosx-{major}.{minor}-{row.machine}"
    return f"linux-{row.machine}"


def packaging_variables(row: BuildRow) -> dict[str, str]:
    """Environment variables by which the packaging learns what wheel it makes, whatever machine it runs on."""
    return {BUILD_VARIABLE: row.identifier, "_PYTHON_HOST_PLATFORM": host_platform(row)}


def package_wheel(row: BuildRow, native: Path, destination: Path | None = None) -> Path:
    """Make the wheel of `row`, not yet repaired, out of `native` and the Python files; its path is returned."""
    work = cache_dir() / "wheels" / row.identifier
    folder = destination or _fresh(work / "packaged")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="package-") as temporary:
        made = Path(temporary, "made")
        command: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--no-deps",
            "--no-build-isolation",
            "--quiet",
            "--wheel-dir",
            made,
        ]
        settings = [f"cmake.define.LLAMA_CPP_PREBUILT={native}", f"build-dir={temporary}/tree"]
        command += [f"--config-settings={setting}" for setting in settings]
        run_logged([*command, ROOT], log=work / "log", label=f"{row.identifier}: packaging", env=packaging_variables(row))
        return publish(row, only_wheel(made, row), folder)


def repair_wheel(row: BuildRow, packaged: Path, destination: Path = DIST) -> Path:
    """Put the repaired form of `packaged` into `destination`, in place of the same build's earlier wheel."""
    work = cache_dir() / "wheels" / row.identifier
    repaired = _fresh(work / "repaired")
    repair(row, packaged, repaired, log=work / "log")
    return publish(row, only_wheel(repaired, row), destination)


def publish(row: BuildRow, wheel: Path, destination: Path) -> Path:
    """Move `wheel` into `destination` in place of the same build's earlier one, whatever tag that one earned."""
    destination.mkdir(parents=True, exist_ok=True)
    for stale in destination.glob(f"{wheel.name.split('-', 1)[0]}-{expected_version(row)}-*{row.machine}.whl"):
        stale.unlink()
    return Path(shutil.move(os.fspath(wheel), destination / wheel.name))


def only_wheel(folder: Path, row: BuildRow) -> Path:
    """The one wheel in `folder`, which is the one that `row` makes.

    Raises:
        WheelError: there is none, several, or another one.
    """
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise WheelError(f"expected one wheel in {folder}, found {len(wheels)}", hint="the stage's log says what happened")
    name, version, _, tags = parse_wheel_filename(wheels[0].name)
    interpreters = {(tag.interpreter, tag.abi) for tag in tags}
    if name != canonicalize_name("llama_cpp_python") or str(version) != expected_version(row) or interpreters != {("py3", "none")}:
        raise WheelError(f"{wheels[0].name} is not a py3-none wheel of version {expected_version(row)}", hint="check pyproject.toml")
    return wheels[0]


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
