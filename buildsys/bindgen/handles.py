"""Which pointers Python sees as opaque ints, and under which alias."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from buildsys.bindgen import ir


class Handles:
    """Pointers to structs whose members are hidden, or that callers hold by address only.

    The alias is C's own pointer typedef where there is one (`llama_memory_t`), else the tag with `_p`.
    """

    def __init__(self, headers: Sequence[ir.Header], chosen: Iterable[str]) -> None:
        self._chosen = frozenset(chosen)
        self._typedefs: dict[str, str] = {}
        self._owned: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for header in headers:
            for typedef in header.of(ir.Typedef):
                if isinstance(typedef.target, ir.Pointer) and isinstance(typedef.target.to, ir.RecordType):
                    tag = typedef.target.to.name
                    if tag not in self._typedefs:
                        self._typedefs[tag] = typedef.name
                        self._owned[header.key].append((typedef.name, tag))
        seen = set(self._typedefs)
        for header in headers:
            records = [record.name for record in header.of(ir.Record) if record.name in self._chosen]
            for tag in (*header.opaque, *records):
                if tag not in seen:
                    seen.add(tag)
                    self._owned[header.key].append((f"{tag}_p", tag))

    def owned_by(self, header: str) -> list[tuple[str, str]]:
        """Aliases that a header introduces, each with the tag that it points to."""
        return self._owned[header]

    def is_alias(self, name: str) -> bool:
        """Whether a typedef is some handle's alias."""
        return name in self._typedefs.values()

    def alias(self, record: ir.RecordType) -> str | None:
        """The alias of a pointer to `record`; None when its members are for callers to see."""
        if record.complete and record.name not in self._chosen:
            return None
        return self._typedefs.get(record.name, f"{record.name}_p")
