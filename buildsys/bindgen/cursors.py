"""Turns libclang's cursors and types into the plain declarations of :mod:`buildsys.bindgen.ir`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from clang.cindex import (  # type: ignore[import-untyped]
    AvailabilityKind,
    Cursor,
    CursorKind,
    StorageClass,
    TranslationUnit,
    Type,
    TypeKind,
)

from buildsys.bindgen import ir
from buildsys.bindgen.catalogue import Catalogue
from buildsys.bindgen.macros import Constant, evaluate
from buildsys.errors import BindgenError

_SCALARS = {
    TypeKind.BOOL: "c_bool",
    TypeKind.CHAR_S: "c_char",
    TypeKind.CHAR_U: "c_char",
    TypeKind.SCHAR: "c_int8",
    TypeKind.UCHAR: "c_uint8",
    TypeKind.SHORT: "c_short",
    TypeKind.USHORT: "c_ushort",
    TypeKind.INT: "c_int",
    TypeKind.UINT: "c_uint",
    TypeKind.LONG: "c_long",
    TypeKind.ULONG: "c_ulong",
    TypeKind.LONGLONG: "c_longlong",
    TypeKind.ULONGLONG: "c_ulonglong",
    TypeKind.FLOAT: "c_float",
    TypeKind.DOUBLE: "c_double",
}
# Widths that vary between platforms are told by the typedef's name, never by what it is on the parsing target.
_STANDARD = {
    **{f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "size_t": "c_size_t",
    "ptrdiff_t": "c_ssize_t",
    "intptr_t": "c_ssize_t",
    "uintptr_t": "c_size_t",
}
_RECORDS = (CursorKind.STRUCT_DECL, CursorKind.UNION_DECL, CursorKind.CLASS_DECL)
_SCOPES = (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL)


class UnsupportedTypeError(BindgenError):
    """A type that ctypes cannot express, such as a C++ template."""


def convert(kind: Type) -> ir.CType:
    """The plain form of a C type."""
    if kind.kind in _SCALARS:
        return ir.Scalar(_SCALARS[kind.kind])
    converter = _CONVERTERS.get(kind.kind)
    if converter is None:
        raise UnsupportedTypeError(f"no ctypes form of {kind.spelling} ({kind.kind.name})")
    return converter(kind)


def _convert_record(kind: Type) -> ir.CType:
    if "<" in kind.spelling:
        raise UnsupportedTypeError(f"{kind.spelling} is a C++ template")
    declaration = kind.get_declaration()
    if declaration.is_anonymous():
        raise UnsupportedTypeError(f"{kind.spelling} is used where it would need a name")
    return ir.RecordType(declaration.spelling, declaration.get_definition() is not None)


def _convert_pointer(kind: Type) -> ir.CType:
    pointee = kind.get_pointee()
    return ir.Pointer(convert(pointee), pointee.is_const_qualified())


def _convert_parameter(kind: Type) -> ir.CType:
    """The type of an argument: an array or a function is passed as a pointer."""
    written = convert(kind)
    passed = written.target if isinstance(written, ir.Named) else written
    if isinstance(passed, ir.Array):
        return ir.Pointer(passed.of, kind.get_canonical().element_type.is_const_qualified())
    return ir.Pointer(passed) if isinstance(passed, ir.FunctionType) else written


def _convert_function(kind: Type) -> ir.CType:
    return ir.FunctionType(convert(kind.get_result()), tuple(_convert_parameter(argument) for argument in kind.argument_types()))


def _convert_typedef(kind: Type) -> ir.CType:
    name = kind.get_typedef_name()
    if name in _STANDARD:
        return ir.Scalar(_STANDARD[name])
    if name == "FILE":
        return ir.RecordType("FILE", False)
    underlying = kind.get_declaration().underlying_typedef_type
    target = convert(underlying)
    return target if _repeats_tag(name, underlying) else ir.Named(name, target)


_CONVERTERS: dict[TypeKind, Callable[[Type], ir.CType]] = {
    TypeKind.VOID: lambda _: ir.Void(),
    TypeKind.ELABORATED: lambda kind: convert(kind.get_named_type()),
    TypeKind.TYPEDEF: _convert_typedef,
    TypeKind.RECORD: _convert_record,
    TypeKind.ENUM: lambda kind: ir.EnumType(kind.get_declaration().spelling),
    TypeKind.POINTER: _convert_pointer,
    TypeKind.CONSTANTARRAY: lambda kind: ir.Array(convert(kind.element_type), kind.element_count),
    TypeKind.INCOMPLETEARRAY: lambda kind: ir.Pointer(convert(kind.element_type), kind.element_type.is_const_qualified()),
    TypeKind.FUNCTIONPROTO: _convert_function,
}


def _repeats_tag(name: str, underlying: Type) -> bool:
    """True for `typedef struct x x;` and for a typedef that gives an unnamed struct its only name."""
    canonical = underlying.get_canonical()
    if canonical.kind not in (TypeKind.RECORD, TypeKind.ENUM):
        return False
    return bool(canonical.get_declaration().spelling == name)


class HeaderReader:
    """Collects the declarations of chosen files of a translation unit."""

    def __init__(self, files: dict[Path, ir.Header], catalogue: Catalogue) -> None:
        self._files = files
        self._catalogue = catalogue
        self._only = {bound.key: bound.only for bound in catalogue.header if bound.only}
        self._seen: set[tuple[str, str]] = set()
        self._macros: dict[str, Constant] = {}

    def read(self, unit: TranslationUnit) -> None:
        """Append each header's declarations, in its own order, to its entry."""
        found: dict[str, list[tuple[int, ir.Declaration]]] = {}
        for cursor in _flatten(unit.cursor):
            header = self._header_of(cursor)
            if header is None:
                continue
            if cursor.kind is CursorKind.TYPEDEF_DECL and self._repeated(cursor, header):
                continue
            declaration = self._declaration(cursor, header)
            if declaration is not None:
                found.setdefault(header.key, []).append((cursor.location.line, declaration))
        for header in self._files.values():
            ordered = sorted(found.get(header.key, []), key=lambda item: item[0])
            header.declarations.extend(declaration for _, declaration in ordered)

    def _header_of(self, cursor: Cursor) -> ir.Header | None:
        source = cursor.location.file
        return self._files.get(Path(source.name).resolve()) if source is not None else None

    def _first(self, kind: str, name: str) -> bool:
        if (kind, name) in self._seen:
            return False
        self._seen.add((kind, name))
        return True

    def _declaration(self, cursor: Cursor, header: ir.Header) -> ir.Declaration | None:
        only = self._only.get(header.key)
        if only is not None and cursor.spelling not in only:
            return None
        if cursor.kind in _RECORDS:
            return self._record_or_opaque(cursor, header)
        reader = {
            CursorKind.MACRO_DEFINITION: self._macro,
            CursorKind.FUNCTION_DECL: self._function,
            CursorKind.ENUM_DECL: self._enum,
            CursorKind.TYPEDEF_DECL: self._typedef,
            CursorKind.TYPE_ALIAS_DECL: self._typedef,
        }.get(cursor.kind)
        return reader(cursor) if reader is not None else None

    def _macro(self, cursor: Cursor) -> ir.Macro | None:
        if not cursor.spelling.startswith(self._catalogue.prefixes):
            return None
        name, *replacement = cursor.get_tokens()
        if replacement and replacement[0].spelling == "(" and replacement[0].extent.start.offset == name.extent.end.offset:
            return None  # a function-like macro
        value = evaluate([token.spelling for token in replacement], self._macros)
        if value is None:
            return None
        self._macros[cursor.spelling] = value
        return ir.Macro(name=cursor.spelling, value=value)

    def _function(self, cursor: Cursor) -> ir.Function | None:
        if cursor.storage_class is StorageClass.STATIC or cursor.spelling in self._catalogue.unreachable:
            return None
        if not self._first("function", cursor.spelling):
            return None
        try:
            result = convert(cursor.result_type)
            params = tuple(ir.Parameter(name=p.spelling, type=_convert_parameter(p.type)) for p in cursor.get_arguments())
        except UnsupportedTypeError as error:
            raise UnsupportedTypeError(
                f"{cursor.spelling}: {error.message}", hint="list it under [unreachable] in headers.toml, with the reason"
            ) from None
        return ir.Function(
            name=cursor.spelling,
            result=result,
            params=params,
            variadic=cursor.type.is_function_variadic(),
            deprecated=cursor.availability is AvailabilityKind.DEPRECATED,
            symbols=(cursor.mangled_name,),
        )

    def _record_or_opaque(self, cursor: Cursor, header: ir.Header) -> ir.Record | None:
        if cursor.get_definition() is None:
            if self._first("opaque", cursor.spelling):
                header.opaque.append(cursor.spelling)
            return None
        if not cursor.is_definition() or not self._first("record", cursor.spelling):
            return None
        return self._record(cursor, cursor.spelling, cursor.type.spelling)

    def _record(self, cursor: Cursor, name: str, spelling: str) -> ir.Record:
        members: list[ir.Member] = []
        plain_c = True
        for child in cursor.get_children():
            if child.kind is CursorKind.FIELD_DECL:
                members.append(self._member(child, name))
            elif child.kind in _RECORDS and child.is_anonymous() and _is_unnamed_member(child, cursor):
                label = self._catalogue.unnamed_members.get(name, f"unnamed{len(members)}")
                nested = self._record(child, f"{name}_{label}", "")
                members.append(ir.Member(name=label, type=ir.RecordType(nested.name, True), record=nested, anonymous=True))
            elif child.kind is CursorKind.CXX_METHOD:
                plain_c = False
        return ir.Record(name=name, spelling=spelling, union=cursor.kind is CursorKind.UNION_DECL, members=tuple(members), plain_c=plain_c)

    def _member(self, field: Cursor, owner: str) -> ir.Member:
        if field.is_bitfield():
            raise BindgenError(f"{owner}.{field.spelling} is a bit field", hint="teach buildsys/bindgen to lay out bit fields")
        declaration = field.type.get_canonical().get_declaration()
        if declaration.kind in _RECORDS and declaration.is_anonymous():
            nested = self._record(declaration, f"{owner}_{field.spelling}", "")
            return ir.Member(name=field.spelling, type=ir.RecordType(nested.name, True), record=nested)
        return ir.Member(name=field.spelling, type=convert(field.type))

    def _enum(self, cursor: Cursor) -> ir.Enum | None:
        if not cursor.is_definition():
            return None
        tag = "" if cursor.is_anonymous() else cursor.spelling
        if tag and not self._first("enum", tag):
            return None
        constants = tuple((c.spelling, c.enum_value) for c in cursor.get_children() if c.kind is CursorKind.ENUM_CONSTANT_DECL)
        return ir.Enum(tag=tag, constants=constants)

    def _repeated(self, cursor: Cursor, header: ir.Header) -> bool:
        """Note a typedef that an earlier header already made: this one re-exports it."""
        if ("typedef", cursor.spelling) not in self._seen:
            return False
        header.repeated.append(cursor.spelling)
        return True

    def _typedef(self, cursor: Cursor) -> ir.Typedef | None:
        if _repeats_tag(cursor.spelling, cursor.underlying_typedef_type) or not self._first("typedef", cursor.spelling):
            return None
        try:
            return ir.Typedef(name=cursor.spelling, target=convert(cursor.underlying_typedef_type))
        except UnsupportedTypeError:
            return None  # only matters to a function that uses it, and that one is reported


def _is_unnamed_member(record: Cursor, owner: Cursor) -> bool:
    """True when no member of `owner` has `record` as its type: its members belong to `owner` directly."""
    return all(
        field.type.get_canonical().get_declaration() != record for field in owner.get_children() if field.kind is CursorKind.FIELD_DECL
    )


def _flatten(cursor: Cursor) -> Iterator[Cursor]:
    """Top-level declarations, those inside `extern "C"` included."""
    for child in cursor.get_children():
        if child.kind in _SCOPES:
            yield from _flatten(child)
        else:
            yield child
