"""Reads every bound header: the C ones in one unit, the C++ one once per name-mangling scheme."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from buildsys.bindgen import ir, session
from buildsys.bindgen.catalogue import BoundHeader, Catalogue
from buildsys.bindgen.cursors import HeaderReader
from buildsys.errors import BindgenError


@dataclass(frozen=True)
class SourceTree:
    """A llama.cpp checkout and the catalogue that says what of it is bound."""

    root: Path
    catalogue: Catalogue

    def read(self) -> list[ir.Header]:
        """All bound headers, in the catalogue's order."""
        plain = self._read([header for header in self.catalogue.header if not header.cplusplus], cplusplus=False)
        extended = [
            self._merge_symbols([self._read([header], cplusplus=True, target=target)[0] for target in _TARGETS])
            for header in self.catalogue.header
            if header.cplusplus
        ]
        by_key = {header.key: header for header in (*plain, *extended)}
        for bound in self.catalogue.header:
            _require(by_key[bound.key], bound.only)
        return [by_key[header.key] for header in self.catalogue.header]

    def _read(self, bound: Sequence[BoundHeader], *, cplusplus: bool, target: str = session.REFERENCE_TARGET) -> list[ir.Header]:
        files = {(self.root / header.path).resolve(): self._empty(header) for header in bound}
        unit = session.parse_headers(
            [path.name for path in files],
            [self.root / folder for folder in self.catalogue.include],
            cplusplus=cplusplus,
            target=target,
        )
        HeaderReader(files, self.catalogue).read(unit)
        return list(files.values())

    def _empty(self, header: BoundHeader) -> ir.Header:
        path = self.root / header.path
        try:
            digest = hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
        except FileNotFoundError:
            raise BindgenError(f"{path} does not exist", hint="fetch llama.cpp with `python -m buildsys vendor`") from None
        return ir.Header(key=header.key, path=header.path, sha256=digest)

    @staticmethod
    def _merge_symbols(variants: Sequence[ir.Header]) -> ir.Header:
        """One header whose functions know their symbol under every mangling scheme."""
        symbols: dict[str, list[str]] = {}
        for header in variants:
            for function in header.of(ir.Function):
                known = symbols.setdefault(function.name, [])
                known.extend(symbol for symbol in function.symbols if symbol not in known)
        merged = variants[0]
        merged.declarations = [
            replace(item, symbols=tuple(symbols[item.name])) if isinstance(item, ir.Function) else item for item in merged.declarations
        ]
        return merged


def _require(header: ir.Header, names: Sequence[str]) -> None:
    present = {enum.tag for enum in header.of(ir.Enum)} | {macro.name for macro in header.of(ir.Macro)}
    missing = sorted(set(names) - present)
    if missing:
        raise BindgenError(
            f"{header.path} has no enumeration or macro {', '.join(missing)}",
            hint="correct `only` in buildsys/bindgen/headers.toml",
        )


_TARGETS = (session.REFERENCE_TARGET, session.MINGW_TARGET, session.MSVC_TARGET)
