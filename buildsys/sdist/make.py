"""Making the source distribution with the project's own build backend."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from buildsys.errors import SdistError
from buildsys.process import run_logged
from buildsys.project import DIST, ROOT, cache_dir, package_version
from buildsys.reproduce.dates import VARIABLE, source_date_epoch


def file_name() -> str:
    """What the source distribution of this version is called."""
    return f"llama_cpp_python-{package_version()}.tar.gz"


def make_sdist(destination: Path = DIST) -> Path:
    """Write the source distribution into `destination`; its path is returned.

    Raises:
        SdistError: the backend made something else.
    """
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sdist-") as temporary:
        command: list[str | Path] = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", temporary, ROOT]
        variables = {VARIABLE: str(source_date_epoch())}
        run_logged(command, log=cache_dir() / "sdist.log", label="source distribution", env=variables)
        made = [path.name for path in Path(temporary).iterdir()]
        if made != [file_name()]:
            raise SdistError(f"expected {file_name()}, the build backend made {', '.join(made) or 'nothing'}", hint="check pyproject.toml")
        return Path(shutil.move(Path(temporary, file_name()), destination / file_name()))
