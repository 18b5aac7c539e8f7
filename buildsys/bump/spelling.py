"""Declarations of :mod:`buildsys.bindgen.ir` as a C programmer writes them."""

from __future__ import annotations

from collections.abc import Sequence

from buildsys.bindgen import ir

_SCALARS = {
    "c_bool": "bool",
    "c_short": "short",
    "c_ushort": "unsigned short",
    "c_int": "int",
    "c_uint": "unsigned int",
    "c_long": "long",
    "c_ulong": "unsigned long",
    "c_longlong": "long long",
    "c_ulonglong": "unsigned long long",
    "c_size_t": "size_t",
    "c_ssize_t": "ptrdiff_t",
}


def declared(kind: ir.CType, name: str = "") -> str:
    """A declaration of `name` with this type; the bare type without a name."""
    match kind:
        case ir.Pointer(ir.FunctionType(result, params)):
            return declared(result, f"(*{name})({', '.join(map(declared, params)) or 'void'})")
        case ir.FunctionType(result, params):
            return declared(result, f"{name}({', '.join(map(declared, params)) or 'void'})")
        case ir.Array(of, length):
            return declared(of, f"{name}[{length}]")
        case ir.Pointer(ir.Pointer() as to, True):
            return declared(to, f"const *{name}")
        case ir.Pointer(to, const):
            return f"{'const ' if const else ''}{declared(to, f'*{name}')}"
        case _:
            return f"{_base(kind)} {name}".rstrip()


def _base(kind: ir.CType) -> str:
    match kind:
        case ir.Scalar(ctype):
            fixed = f"{ctype.removeprefix('c_')}_t" if ctype[-1].isdigit() else ctype.removeprefix("c_")
            return _SCALARS.get(ctype, fixed)
        case ir.EnumType(tag):
            return f"enum {tag}"
        case ir.RecordType(name) | ir.Named(name):
            return name
        case _:
            return "void"


def prototype(function: ir.Function) -> str:
    """`int f(int a, ...)`."""
    return _called(function, [declared(parameter.type, parameter.name) for parameter in function.params])


def types_of(function: ir.Function) -> str:
    """The prototype without the parameters' names: what a caller's code depends on."""
    return _called(function, [declared(parameter.type) for parameter in function.params])


def _called(function: ir.Function, params: Sequence[str]) -> str:
    inside = ", ".join([*params, *(["..."] if function.variadic else [])]) or "void"
    return declared(function.result, f"{function.name}({inside})")
