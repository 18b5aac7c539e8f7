"""Model files from the Hugging Face Hub: which file is meant, and fetching it. Loading it is `Llama`'s business."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

_WILDCARDS = frozenset("*?[")


def fetch(
    repo_id: str,
    filename: str,
    *,
    additional_files: Sequence[str] | None = None,
    local_dir: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> str:
    """Download `filename` and the additional files; the local path of `filename`.

    File names may be shell patterns; each has to match exactly one file of the repository. A name without a
    wildcard that is already in the cache needs no network. Raises ImportError without huggingface-hub, and
    ValueError for a pattern that matches no file or several.
    """
    hub = _hub()
    paths = [
        str(hub.hf_hub_download(repo_id, _resolve(hub, repo_id, name), local_dir=local_dir, cache_dir=cache_dir))
        for name in (filename, *(additional_files or ()))
    ]
    return paths[0]


def _hub() -> Any:
    try:
        import huggingface_hub  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise ImportError(
            "Llama.from_pretrained needs the huggingface-hub package: pip install huggingface-hub, "
            "or download the file yourself and pass its path to Llama(model_path=...)"
        ) from error
    return huggingface_hub


def _resolve(hub: Any, repo_id: str, name: str) -> str:
    if not _WILDCARDS.intersection(name):
        return name
    files = list(hub.HfApi().list_repo_files(repo_id))
    matching = [file for file in files if fnmatch(file, name)]
    if len(matching) == 1:
        return str(matching[0])
    if matching:
        raise ValueError(
            f"{len(matching)} files of {repo_id} match {name!r}: {_listed(matching)}. "
            "Give a pattern that matches one; name the other parts of a split model in additional_files"
        )
    raise ValueError(f"no file of {repo_id} matches {name!r}; it has: {_listed(files)}")


def _listed(files: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(files[:most])
    return shown if len(files) <= most else f"{shown} and {len(files) - most} more"
