"""How C types become ctypes expressions and static types, one rule per kind of type and place.

The two published lineages of the Python API agree on most of this: handles are plain ints, buffers are typed pointers.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from buildsys.bindgen import ir
from buildsys.bindgen.handles import Handles
from buildsys.bindgen.names import Names
from buildsys.errors import BindgenError


class Place(Enum):
    """Where a type stands; pointers are treated differently in each."""

    ARGUMENT = auto()
    RESULT = auto()
    MEMBER = auto()
    CALLBACK_ARGUMENT = auto()
    CALLBACK_RESULT = auto()
    ELEMENT = auto()


@dataclass
class Uses:
    """The names that generated code refers to, by where they come from."""

    ctypes: set[str] = field(default_factory=set)
    static: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    static_names: set[str] = field(default_factory=set)
    newtype: bool = False
    checked: bool = False


class Mapper:
    """Writes types as code, noting in `uses` what that code needs imported."""

    def __init__(self, handles: Handles, names: Names, bytes_members: Iterable[str] = ()) -> None:
        self._handles = handles
        self._names = names
        self._bytes_members = frozenset(bytes_members)

    def runtime(  # noqa: PLR0911 - one return per kind of type
        self, kind: ir.CType, place: Place, uses: Uses, *, member: str = ""
    ) -> str:
        """The expression that ctypes gets; `member` is `record.field` for a member."""
        if isinstance(kind, ir.Named):
            return self._runtime_named(kind, place, uses, member)
        if isinstance(kind, ir.Void):
            return "None"
        if isinstance(kind, ir.Scalar):
            return _ctype(kind.ctype, uses)
        if isinstance(kind, ir.EnumType):
            return _ctype("c_int", uses)
        if isinstance(kind, ir.RecordType):
            if not kind.complete:
                raise BindgenError(f"{kind.name} is passed by value but never defined", hint="bind the header that defines it")
            return self._record(kind, uses.names)
        if isinstance(kind, ir.Array):
            return f"{self.runtime(kind.of, Place.ELEMENT, uses)} * {kind.length}"
        if isinstance(kind, ir.Pointer):
            return self._runtime_pointer(kind, place, uses, member)
        return self.callback(kind, uses)

    def callback(self, signature: ir.FunctionType, uses: Uses) -> str:
        """A CFUNCTYPE expression."""
        _ctype("CFUNCTYPE", uses)
        result = self.runtime(signature.result, Place.CALLBACK_RESULT, uses)
        arguments = [self.runtime(param, Place.CALLBACK_ARGUMENT, uses) for param in signature.params]
        return f"CFUNCTYPE({', '.join([result, *arguments])})"

    def static(self, kind: ir.CType, place: Place, uses: Uses) -> str:  # noqa: PLR0911 - one return per kind of type
        """The annotation: what Python code may pass there, or gets from there."""
        kind = _visible(kind)
        if isinstance(kind, ir.Void):
            return "None"
        if isinstance(kind, ir.Scalar):
            return {"c_float": "float", "c_double": "float", "c_bool": "bool", "c_char": "bytes"}.get(kind.ctype, "int")
        if isinstance(kind, ir.EnumType):
            return "int"
        if isinstance(kind, ir.RecordType):
            return self._record(kind, uses.static_names)
        if isinstance(kind, ir.Array):
            if _visible(kind.of) == ir.Scalar("c_char"):
                return "bytes"
            uses.ctypes.add("Array")
            return f"Array[{self._static_element(kind.of, uses)}]"
        if isinstance(kind, ir.Pointer):
            return self._static_pointer(kind, place, uses)
        uses.static.add("Callback")
        return "Callback"

    def _record(self, kind: ir.RecordType, into: set[str]) -> str:
        name = self._names.record(kind.name)
        into.add(name)
        return name

    def _runtime_named(self, kind: ir.Named, place: Place, uses: Uses, member: str) -> str:
        target = kind.target
        callback = target.to if isinstance(target, ir.Pointer) else target
        if isinstance(callback, ir.FunctionType) and place is not Place.ARGUMENT:
            uses.names.add(kind.name)
            return kind.name
        return self.runtime(target, place, uses, member=member)

    def _runtime_pointer(self, kind: ir.Pointer, place: Place, uses: Uses, member: str) -> str:
        target = _visible(kind.to)
        if isinstance(target, ir.FunctionType):
            # c_void_p takes a callback of any kind, an address, and None for "no callback".
            return _ctype("c_void_p", uses) if place is Place.ARGUMENT else self.callback(target, uses)
        if isinstance(target, ir.Void) or target == ir.RecordType("FILE", False):
            return _ctype("c_void_p", uses)
        if target == ir.Scalar("c_char"):
            return _ctype("c_char_p" if self._is_text(kind, place, member) else "c_void_p", uses)
        if isinstance(target, ir.RecordType):
            alias = self._handles.alias(target)
            if alias is not None:
                if place not in (Place.ARGUMENT, Place.RESULT):
                    return _ctype("c_void_p", uses)
                uses.names.add(f"{alias}_ctypes")
                return f"{alias}_ctypes"
        _ctype("POINTER", uses)
        return f"POINTER({self.runtime(kind.to, Place.ELEMENT, uses)})"

    def _is_text(self, kind: ir.Pointer, place: Place, member: str) -> bool:
        """Whether ctypes should see bytes. A member keeps the bare address: ctypes would copy, and stop at a NUL."""
        if place is Place.ARGUMENT:
            return True
        if place is Place.MEMBER:
            return member in self._bytes_members
        return kind.const and place in (Place.RESULT, Place.CALLBACK_ARGUMENT, Place.ELEMENT)

    def _static_pointer(self, kind: ir.Pointer, place: Place, uses: Uses) -> str:  # noqa: PLR0911 - one return per kind of target
        target = _visible(kind.to)
        argument = place is Place.ARGUMENT
        if isinstance(target, ir.FunctionType):
            uses.static.add("Callback")
            return "Callback | None" if argument else "Callback"
        if isinstance(target, ir.Void) or target == ir.RecordType("FILE", False):
            return _static("Address", uses) if argument else "int | None"
        if target == ir.Scalar("c_char"):
            if argument:
                return "bytes | None" if kind.const else _static("Buffer", uses)
            return "bytes | None" if kind.const and place is Place.RESULT else "int | None"
        if isinstance(target, ir.RecordType):
            alias = self._handles.alias(target)
            if alias is not None:
                if place not in (Place.ARGUMENT, Place.RESULT):
                    return "int | None"
                uses.static_names.add(alias)
                return alias if argument else f"{alias} | None"
        return f"{_static('Reference' if argument else 'Pointer', uses)}[{self._static_element(kind.to, uses)}]"

    def _static_element(self, kind: ir.CType, uses: Uses) -> str:
        """The ctypes class that a typed pointer or an array holds."""
        kind = _visible(kind)
        if isinstance(kind, ir.Array):
            uses.ctypes.add("Array")
            return f"Array[{self._static_element(kind.of, uses)}]"
        if isinstance(kind, ir.RecordType):
            return self._record(kind, uses.static_names)
        if isinstance(kind, ir.Pointer):
            runtime = self.runtime(kind, Place.ELEMENT, Uses())
            if runtime.startswith("POINTER("):
                return f"{_static('Pointer', uses)}[{self._static_element(kind.to, uses)}]"
            return _ctype(runtime, uses) if runtime.startswith("c_") else _static("Callback", uses)
        return self.runtime(kind, Place.ELEMENT, uses)


def python_name(name: str) -> str:
    """A C identifier as a Python one: keywords get a trailing underscore."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _visible(kind: ir.CType) -> ir.CType:
    while isinstance(kind, ir.Named):
        kind = kind.target
    return kind


def _ctype(name: str, uses: Uses) -> str:
    uses.ctypes.add(name)
    return name


def _static(name: str, uses: Uses) -> str:
    uses.static.add(name)
    return name
