"""The provider kind `installed`: a toolkit that this machine has already, found where toolkits are announced."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from buildsys.errors import ToolkitError
from buildsys.toolkits import inspection
from buildsys.toolkits.provider import Provider
from buildsys.toolkits.request import Request


class InstalledProvider(Provider, frozen=True, kw_only=True, tag="installed"):
    """Looks at environment `variables`, at nvcc on PATH, and into `folders`, in this order."""

    variables: tuple[str, ...]
    folders: tuple[str, ...]

    def obstacle_here(self, request: Request) -> str:
        """Which other releases are there instead."""
        if self._find(request):
            return ""
        others = sorted({f"CUDA {release} in {root}" for root in self._candidates(request) if (release := inspection.release_of(root))})
        return f"finds {'; '.join(others)}" if others else f"finds none by {', '.join(self.variables)}, on PATH or in the usual folders"

    def obtain(self, request: Request, place: Path) -> Path:  # noqa: ARG002 - nothing is made
        """The root that was found."""
        root = self._find(request)
        if root is None:
            raise ToolkitError(f"CUDA {request.release} is no longer where it was", hint="set CUDA_PATH to it")
        return root

    def _find(self, request: Request) -> Path | None:
        return next((root for root in self._candidates(request) if inspection.release_of(root) == request.release), None)

    def _candidates(self, request: Request) -> Iterator[Path]:
        """Folders with a toolkit in them, without its release being known; a bare nvcc, as Debian has it, is none."""
        for root in self._announced(request):
            if (root / "include" / "cuda_runtime_api.h").is_file():
                yield root

    def _announced(self, request: Request) -> Iterator[Path]:
        for variable in map(request.fill, self.variables):
            if value := os.environ.get(variable):
                yield Path(value)
        if nvcc := shutil.which("nvcc"):
            yield Path(nvcc).resolve().parent.parent
        yield from (Path(request.fill(folder)) for folder in self.folders)
