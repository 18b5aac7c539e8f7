"""Modules of types: handles, plain typedefs, callbacks, structs and unions. Importing one opens no library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from buildsys.bindgen import ir
from buildsys.bindgen.catalogue import BoundHeader
from buildsys.bindgen.handles import Handles
from buildsys.bindgen.layout import INDENT, call
from buildsys.bindgen.mapping import Mapper, Place, Uses, python_name
from buildsys.bindgen.names import Names, type_modules
from buildsys.bindgen.render.module import BINDINGS, frame, imports_for


def declaration_modules(header: ir.Header, bound: BoundHeader, handles: Handles, names: Names, mapper: Mapper) -> dict[str, str]:
    """Text of each declarations module of a header, by module name. The handles stand in the first."""
    found = {}
    for module, types in type_modules(header, bound).items():
        writer = _Writer(module, handles, names, mapper)
        if module == header.key:
            writer.add_handles(header)
        writer.add_types(types)
        found[module] = writer.text(header)
    return found


class _Writer:
    """Writes types in the header's order, so that each is defined before it is used."""

    def __init__(self, module: str, handles: Handles, names: Names, mapper: Mapper) -> None:
        self._module = module
        self._handles = handles
        self._names = names
        self._mapper = mapper
        self._uses = Uses()
        self._repeated: list[str] = []
        self._body: list[str] = []

    def add_handles(self, header: ir.Header) -> None:
        """The handles that a header introduces, and the names that it makes again after an earlier header."""
        for alias, _ in self._handles.owned_by(header.key):
            self._uses.newtype = True
            self._uses.ctypes.add("c_void_p")
            self._body += [f'{alias} = NewType("{alias}", int)', f"{alias}_ctypes = c_void_p"]
        for name in sorted(header.repeated):
            module = self._names.owner(name)
            handle = self._handles.is_alias(name)
            self._repeated += [
                f"from {BINDINGS}.declarations.{module} import {each} as {each}"
                for each in ((name, f"{name}_ctypes") if handle else (name,))
            ]

    def add_types(self, types: Sequence[ir.Typedef | ir.Record]) -> None:
        """Typedefs and records; a handle's typedef is written by its alias."""
        for declaration in types:
            if isinstance(declaration, ir.Record):
                self._record(declaration)
            elif not self._handles.is_alias(declaration.name):
                self._typedef(declaration)

    def text(self, header: ir.Header) -> str:
        """The whole module."""
        imports = imports_for(self._uses, self._names.owner, self._module, self._repeated)
        if not self._body and len(imports) == 1:
            imports = []
        return frame(header, f"{PurePath(header.path).name}: types.", imports, self._body)

    def _typedef(self, typedef: ir.Typedef) -> None:
        target = typedef.target
        signature = target.to if isinstance(target, ir.Pointer) else target
        if isinstance(signature, ir.FunctionType):
            self._assign(typedef.name, signature)
            return
        self._body.append(f"{typedef.name} = {self._mapper.runtime(target, Place.ELEMENT, self._uses)}")
        if isinstance(target, ir.Scalar):
            self._uses.ctypes.add("POINTER")
            self._body.append(f"{typedef.name}_p = POINTER({typedef.name})")

    def _assign(self, name: str, signature: ir.FunctionType) -> None:
        expression = self._mapper.callback(signature, self._uses)
        arguments = expression.removeprefix("CFUNCTYPE(").removesuffix(")")
        self._body += call(f"{name} = CFUNCTYPE(", _split(arguments), "")

    def _record(self, record: ir.Record) -> None:
        for member in record.members:
            if member.record is not None:
                self._record(member.record)
            elif (signature := _inline_callback(member.type)) is not None:
                self._assign(f"{record.name}_{member.name}", signature)
        name = self._names.record(record.name)
        base = "Union" if record.union else "Structure"
        self._uses.ctypes.add(base)
        self._uses.checked = True
        self._body += ["", "", f"class {name}({base}):", f"{INDENT}if TYPE_CHECKING:"]
        self._body += [f"{INDENT * 2}{python_name(m.name)}: {self._static(m)}" for m in self._visible_members(record)]
        self._body.append("")
        unnamed = [member.name for member in record.members if member.anonymous]
        if unnamed:
            self._body.append(f"{INDENT}_anonymous_ = ({', '.join(f'{chr(34)}{each}{chr(34)}' for each in unnamed)},)")
        self._body.append(f"{INDENT}_fields_ = [")
        self._body += [f'{INDENT * 2}("{python_name(member.name)}", {self._runtime(record, member)}),' for member in record.members]
        self._body += [f"{INDENT}]", "", ""]
        if self._handles.alias(ir.RecordType(record.name, True)) is None:
            self._uses.ctypes.add("POINTER")
            self._body.append(f"{name}_p = POINTER({name})")

    def _visible_members(self, record: ir.Record) -> list[ir.Member]:
        """Members by which an instance can be read: those of an unnamed union belong to its owner too."""
        found = []
        for member in record.members:
            found.append(member)
            if member.anonymous and member.record is not None:
                found += self._visible_members(member.record)
        return found

    def _static(self, member: ir.Member) -> str:
        return self._mapper.static(member.type, Place.MEMBER, self._uses)

    def _runtime(self, record: ir.Record, member: ir.Member) -> str:
        if _inline_callback(member.type) is not None:
            return f"{record.name}_{member.name}"
        return self._mapper.runtime(member.type, Place.MEMBER, self._uses, member=f"{record.name}.{member.name}")


def _inline_callback(kind: ir.CType) -> ir.FunctionType | None:
    if isinstance(kind, ir.Pointer) and isinstance(kind.to, ir.FunctionType):
        return kind.to
    return None


def _split(arguments: str) -> list[str]:
    """Split an argument list at its own commas."""
    items, depth = [""], 0
    for character in arguments:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            items.append("")
        else:
            items[-1] += character
    return [item.strip() for item in items]
