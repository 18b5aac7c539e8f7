"""What changed between two readings of the headers. Pure: declarations in, changes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from buildsys.bindgen import ir
from buildsys.bump.spelling import declared, prototype, types_of

Kind: TypeAlias = Literal["function", "struct", "union", "enumeration", "constant", "type", "handle", "macro"]
Verb: TypeAlias = Literal["added", "removed", "changed"]


@dataclass(frozen=True, kw_only=True)
class Change:
    """One declaration that is not what it was.

    Attributes:
        header: path of the header that has it, or had it.
        old: how it was written; empty for a new one.
        new: how it is written; empty for one that is gone.
        details: what differs beyond the two, in words: members, parameter names, deprecation, another header.
    """

    kind: Kind
    name: str
    header: str
    old: str = ""
    new: str = ""
    details: tuple[str, ...] = ()

    @property
    def verb(self) -> Verb:
        """What happened to it."""
        if self.old and self.new:
            return "changed"
        return "added" if self.new else "removed"


@dataclass(frozen=True, kw_only=True)
class _Item:
    """A declaration in the one form that all kinds are compared in."""

    kind: Kind
    name: str
    header: str
    text: str
    types: str = ""
    deprecated: bool = False
    members: tuple[tuple[str, str], ...] = ()  # a dict would be equal to one in another order


def compare(old: Sequence[ir.Header], new: Sequence[ir.Header]) -> tuple[Change, ...]:
    """Every change of the interface, in the order of the new headers; what is gone comes last."""
    before = {(item.kind, item.name): item for item in _items(old)}
    after = {(item.kind, item.name): item for item in _items(new)}
    changes = (_change(before.get(key), after.get(key)) for key in dict.fromkeys([*after, *before]))
    return tuple(change for change in changes if change is not None)


def _change(was: _Item | None, now: _Item | None) -> Change | None:
    item = now or was
    if item is None or was == now:
        return None
    details: tuple[str, ...] = ()
    if was is not None and now is not None:
        details = tuple(_details(was, now))
    return Change(
        kind=item.kind, name=item.name, header=item.header, old=was.text if was else "", new=now.text if now else "", details=details
    )


def _details(was: _Item, now: _Item) -> Iterator[str]:
    if was.header != now.header:
        yield f"moved here from {was.header}"
    if was.text != now.text and was.types == now.types != "":
        yield "only names of parameters differ"
    if was.deprecated != now.deprecated:
        yield "is deprecated now" if now.deprecated else "is not deprecated any more"
    yield from _member_details(dict(was.members), dict(now.members))


def _member_details(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    previous = ""
    for name, text in now.items():
        if name not in was:
            yield f"+ {text}" + (f" (after {previous})" if previous else " (first)")
        elif was[name] != text:
            shown = [each.removeprefix(f"{name} = ") for each in (was[name], text)]
            yield f"~ {name}: was {shown[0]}, is {shown[1]}"
        previous = name
    yield from (f"- {text}" for name, text in was.items() if name not in now)
    if [name for name in was if name in now] != [name for name in now if name in was]:
        yield "~ the order of members is another one"


def _items(headers: Sequence[ir.Header]) -> Iterator[_Item]:
    for header in headers:
        for declaration in header.declarations:
            yield from _items_of(declaration, header.path)
        for name in header.opaque:
            yield _Item(kind="handle", name=name, header=header.path, text=f"struct {name}")


def _items_of(declaration: ir.Declaration, header: str) -> Iterator[_Item]:
    match declaration:
        case ir.Function(name=name):
            yield _Item(
                kind="function",
                name=name,
                header=header,
                text=prototype(declaration),
                types=types_of(declaration),
                deprecated=declaration.deprecated,
            )
        case ir.Record(name=name, union=union):
            kind: Kind = "union" if union else "struct"
            yield _Item(kind=kind, name=name, header=header, text=f"{kind} {name}", members=tuple(_fields(declaration)))
        case ir.Enum(tag="", constants=constants):
            for name, value in constants:
                yield _Item(kind="constant", name=name, header=header, text=f"{name} = {value}")
        case ir.Enum(tag=tag, constants=constants):
            members = tuple((name, f"{name} = {value}") for name, value in constants)
            yield _Item(kind="enumeration", name=tag, header=header, text=f"enum {tag}", members=members)
        case ir.Typedef(name=name, target=target):
            yield _Item(kind="type", name=name, header=header, text=f"typedef {declared(target, name)}")
        case ir.Macro(name=name, value=value):
            shown = f'"{value.decode(errors="replace")}"' if isinstance(value, bytes) else str(value)
            yield _Item(kind="macro", name=name, header=header, text=f"{name} = {shown}")


def _fields(record: ir.Record, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Members by name, those of nested records dotted, as a caller reaches them."""
    for member in record.members:
        if member.record is None:
            name = f"{prefix}{member.name}"
            yield name, declared(member.type, name)
        else:
            yield from _fields(member.record, prefix if member.anonymous else f"{prefix}{member.name}.")
