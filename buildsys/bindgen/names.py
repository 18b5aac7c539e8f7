"""The Python names of declarations, where C's separate name spaces meet in one, and who declares them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from buildsys.bindgen import ir
from buildsys.bindgen.catalogue import BoundHeader
from buildsys.bindgen.handles import Handles
from buildsys.errors import BindgenError


class Names:
    """All names of a set of headers. A tag that is also a function's name gives way and gets a suffix."""

    def __init__(self, headers: Sequence[ir.Header], catalogue: Sequence[BoundHeader], handles: Handles) -> None:
        self._functions = {function.name for header in headers for function in header.of(ir.Function)}
        self._owners: dict[str, str] = {}
        for header, bound in zip(headers, catalogue, strict=True):
            for alias, _ in handles.owned_by(header.key):
                self._own(header.key, (alias, f"{alias}_ctypes"))
            for module, types in type_modules(header, bound).items():
                self._own(module, self._declared(types))

    def record(self, name: str) -> str:
        """The class of a record."""
        return f"{name}_struct" if name in self._functions else name

    def enum(self, tag: str) -> str:
        """The class of an enumeration."""
        return f"{tag}_enum" if tag in self._functions else tag

    def owner(self, name: str) -> str:
        """The declarations module of a type, a handle or a callback."""
        return self._owners[name]

    def _own(self, module: str, names: Iterable[str]) -> None:
        for name in names:
            self._owners.setdefault(name, module)

    def _declared(self, types: Sequence[ir.Typedef | ir.Record]) -> list[str]:
        found = [each.name for each in types if isinstance(each, ir.Typedef)]
        pending = [each for each in types if isinstance(each, ir.Record)]
        while pending:
            record = pending.pop()
            found.append(self.record(record.name))
            pending += [member.record for member in record.members if member.record is not None]
        return found


def type_modules(header: ir.Header, bound: BoundHeader) -> dict[str, list[ir.Typedef | ir.Record]]:
    """A header's types by declarations module: one, named as the header, unless the catalogue cuts it."""
    starts = {section.first: section.module for section in bound.types}
    found: dict[str, list[ir.Typedef | ir.Record]] = {header.key: []}
    current = header.key
    for declaration in header.declarations:
        if isinstance(declaration, (ir.Typedef, ir.Record)):
            current = starts.pop(declaration.name, current)
            found.setdefault(current, []).append(declaration)
    if starts:
        raise BindgenError(
            f"{header.path} declares no type {', '.join(starts)}, where a module is to start",
            hint="correct types in buildsys/bindgen/headers.toml",
        )
    return found
