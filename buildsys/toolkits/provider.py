"""What every provider of toolkits has: the releases and systems it serves, and how it says that it can't."""

from __future__ import annotations

from pathlib import Path

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from buildsys.toolkits.request import Request


class Provider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """A place that toolkits come from; `releases` is a version specifier, `systems` are platforms of the matrix."""

    summary: str
    releases: str
    systems: tuple[str, ...]

    def __post_init__(self) -> None:
        try:
            SpecifierSet(self.releases)
        except InvalidSpecifier as error:
            raise ValueError(f"releases: {error}") from None

    def obstacle(self, request: Request) -> str:
        """Why `request` cannot be served on this machine; empty if it can."""
        if request.system not in self.systems:
            return f"serves {' and '.join(self.systems)} only"
        if not SpecifierSet(self.releases).contains(request.release):
            return f"has CUDA {self.releases} only"
        return self.obstacle_here(request)

    def obstacle_here(self, request: Request) -> str:
        """The part of :meth:`obstacle` that depends on the machine."""
        raise NotImplementedError

    def obtain(self, request: Request, place: Path) -> Path:
        """Make the toolkit available and return its root; `place` is a folder that may be created for it, once."""
        raise NotImplementedError
