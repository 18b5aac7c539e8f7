"""Backend plugins in a folder: grouped by family, scored for this CPU, ordered for loading.

Nothing here stays loaded: a file is opened to ask its score and closed again. `backends` loads the winners.
"""

from __future__ import annotations

import _ctypes
import ctypes
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .diagnosis import explain, truncation
from .naming import FileNaming, naming_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

CPU = "cpu"
CUDA = "cuda"
# Accelerators come first because devices are offered to models in registration order; the CPU comes last.
# Same order as ggml_backend_load_all_from_path in ggml-backend-reg.cpp.
_FAMILY_ORDER = (
    "blas", "zendnn", "cann", "cuda", "hip", "metal", "rpc", "sycl", "vulkan", "virtgpu", "opencl", "hexagon", "musa", "openvino",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """One backend plugin file: `libggml-<family>[-<variant>].so`."""

    path: Path
    family: str
    variant: str


@dataclass(frozen=True, kw_only=True)
class ScoredPlugin:
    """A plugin and what became of it. `score` is None when it has no scoring function or was not asked.

    `failure` says what is broken, `missing` which library that is about, and `idle` why it has nothing to do on this
    machine, which is no fault: an accelerator's driver is not installed.
    """

    plugin: Plugin
    score: int | None = None
    failure: str | None = None
    missing: str | None = None
    idle: str | None = None

    @property
    def usable(self) -> bool:
        """Whether it may be loaded: nothing is known against it, and it supports this CPU when it says so."""
        return self.failure is None and self.idle is None and self.score != 0


def plugins_in(folder: Path, naming: FileNaming | None = None) -> list[Plugin]:
    """All backend plugins of a folder, sorted by name."""
    naming = naming or naming_for()
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        stem = naming.plugin_stem(path.name)
        if stem and path.is_file():
            family, _, variant = stem.partition("-")
            found.append(Plugin(path=path, family=family, variant=variant))
    return found


def families(plugins: Iterable[Plugin]) -> list[tuple[str, list[Plugin]]]:
    """Plugins grouped by family, in the order in which families are to be loaded."""
    groups: dict[str, list[Plugin]] = {}
    for plugin in plugins:
        groups.setdefault(plugin.family, []).append(plugin)
    return sorted(groups.items(), key=lambda item: (_family_rank(item[0]), item[0]))


def by_preference(scored: Iterable[ScoredPlugin]) -> list[ScoredPlugin]:
    """The usable plugins of one family, the best first: highest score, then those that give none."""
    usable = [each for each in scored if each.usable]
    return sorted(usable, key=lambda each: (-(each.score or 0), each.plugin.variant))


def probe(plugin: Plugin, open_library: Callable[[str], ctypes.CDLL] = ctypes.CDLL) -> ScoredPlugin:
    """Open a plugin, ask its score for this CPU, and close it again; an accelerator without variants is left to the loading."""
    if plugin.family != CPU and not plugin.variant:
        return ScoredPlugin(plugin=plugin)
    damage = truncation(plugin.path)
    if damage is not None:
        return ScoredPlugin(plugin=plugin, failure=damage)
    try:
        handle = open_library(str(plugin.path))
    except OSError as error:
        return ScoredPlugin(plugin=plugin, failure=explain(plugin.path, error))
    try:
        score = handle.ggml_backend_score
    except AttributeError:
        return ScoredPlugin(plugin=plugin)
    else:
        score.restype = ctypes.c_int
        score.argtypes = []
        return ScoredPlugin(plugin=plugin, score=int(score()))
    finally:
        _close(handle)


def _close(handle: ctypes.CDLL) -> None:
    if sys.platform == "win32":
        _ctypes.FreeLibrary(handle._handle)  # noqa: SLF001 - ctypes has no public way to close
    else:
        _ctypes.dlclose(handle._handle)  # noqa: SLF001


def _family_rank(family: str) -> int:
    if family == CPU:
        return len(_FAMILY_ORDER) + 1
    return _FAMILY_ORDER.index(family) if family in _FAMILY_ORDER else len(_FAMILY_ORDER)
