"""The provider kind `repository`: NVIDIA's rpm repository, inside a container."""

from __future__ import annotations

from pathlib import Path

from buildsys.toolkits import container
from buildsys.toolkits.provider import Provider
from buildsys.toolkits.request import Request


class RepositoryProvider(Provider, frozen=True, kw_only=True, tag="repository"):
    """Installs `packages` of `repository` with dnf; they put the toolkit into `folder`."""

    repository: str
    packages: tuple[str, ...]
    folder: str

    def obstacle_here(self, request: Request) -> str:  # noqa: ARG002 - the same for every release
        """Whether this is such a container."""
        return container.obstacle()

    def obtain(self, request: Request, place: Path) -> Path:
        """Install the packages."""
        log = place.with_name(f"{place.name}.log")
        packages = [request.fill(package) for package in self.packages]
        container.install(packages, repository=self.repository, log=log, label=f"CUDA {request.release} toolkit")
        return Path(request.fill(self.folder))
