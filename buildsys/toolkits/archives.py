"""The provider kind `archives`: NVIDIA's redistributable archives, found and verified by the manifest of a release."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urljoin

import msgspec
import requests

from buildsys import download
from buildsys.errors import ToolkitError
from buildsys.toolkits import assembly
from buildsys.toolkits.provider import Provider
from buildsys.toolkits.request import Request

_PLATFORMS = {"linux_x86_64": "linux-x86_64", "windows_amd64": "windows-x86_64"}
_NEWEST_UPDATE = 3  # NVIDIA numbers a release's updates from 0, and stops at 2 or 3
_SPLIT_SINCE = 13
_TIMEOUT = (10.0, 60.0)


class Archived(msgspec.Struct, frozen=True, kw_only=True):
    """One archive of a manifest."""

    relative_path: str
    sha256: str


class ArchivesProvider(Provider, frozen=True, kw_only=True, tag="archives"):
    """Downloads `components` of the newest update of a release from `site` and lays them over each other."""

    site: str
    components: tuple[str, ...]
    since_13: tuple[str, ...]

    def obstacle_here(self, request: Request) -> str:  # noqa: ARG002 - whether the site answers shows when it is asked
        """Nothing of the machine."""
        return ""

    def obtain(self, request: Request, place: Path) -> Path:
        """Download, verify and unpack, once."""
        if not place.is_dir():
            manifest = self._manifest(request)
            staging = place.with_name(f"{place.name}.part")
            shutil.rmtree(staging, ignore_errors=True)
            for component in (*self.components, *(self.since_13 if request.major >= _SPLIT_SINCE else ())):
                self._unpack(component, manifest, request, staging)
            assembly.complete(staging, request)
            staging.rename(place)
        return place

    def _manifest(self, request: Request) -> dict[str, object]:
        """The manifest of the release's newest update."""
        answers: list[str] = []
        for update in range(_NEWEST_UPDATE, -1, -1):
            name = f"redistrib_{request.release}.{update}.json"
            try:
                answer = requests.get(urljoin(self.site, name), timeout=_TIMEOUT)
            except requests.RequestException as error:
                answers.append(download.connection_failure(error))
                break
            if answer.status_code == requests.codes.ok:
                return msgspec.json.decode(answer.content, type=dict[str, object])
            answers.append(f"{name}: {answer.status_code}")
        raise ToolkitError(
            f"{self.site} has no manifest of CUDA {request.release}: {'; '.join(answers)}", hint="check the network and the proxy"
        )

    def _unpack(self, component: str, manifest: dict[str, object], request: Request, staging: Path) -> None:
        try:
            entry = msgspec.convert(manifest[component], type=dict[str, object])
            archived = msgspec.convert(entry[_PLATFORMS[request.system]], type=Archived)
        except (KeyError, msgspec.ValidationError) as error:
            message = f"the manifest of CUDA {request.release} has no {component} for {request.system}: {error}"
            raise ToolkitError(message, hint="correct the provider's components") from error
        file = staging.with_name(Path(archived.relative_path).name)
        download.fetch(urljoin(self.site, archived.relative_path), file, sha256=archived.sha256, label=file.name)
        unpacked = staging.with_name(f"{staging.name}.{component}")
        if file.suffix == ".zip":
            shutil.unpack_archive(file, unpacked)
        else:
            shutil.unpack_archive(file, unpacked, filter="data")
        assembly.gather({".": ("*/*",)}, unpacked, staging, request)
        shutil.rmtree(unpacked)
        file.unlink()
