"""Runs libclang over a set of headers, with nothing of the machine's own headers, and insists on a clean parse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clang import cindex  # type: ignore[import-untyped]

from buildsys.errors import BindgenError

SYSROOT = Path(__file__).with_name("sysroot")
REFERENCE_TARGET = "x86_64-unknown-linux-gnu"
MSVC_TARGET = "x86_64-pc-windows-msvc"
MINGW_TARGET = "x86_64-w64-windows-gnu"


def parse_headers(
    headers: Sequence[str], include: Sequence[Path], *, cplusplus: bool = False, target: str = REFERENCE_TARGET
) -> cindex.TranslationUnit:
    """Parse a unit that includes `headers`, looked up in `include`; the target decides sizes and mangling only."""
    name = "bindgen.cpp" if cplusplus else "bindgen.c"
    source = "".join(f'#include "{header}"\n' for header in headers)
    arguments = ["-target", target, "-nostdinc", "-isystem", str(SYSROOT)]
    arguments += ["-x", "c++", "-std=c++17", "-nostdinc++"] if cplusplus else ["-x", "c", "-std=c11"]
    for folder in include:
        arguments += ["-I", str(folder)]
    unit = cindex.Index.create().parse(
        name,
        args=arguments,
        unsaved_files=[(name, source)],
        options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES,
    )
    problems = [str(diagnostic) for diagnostic in unit.diagnostics if diagnostic.severity >= cindex.Diagnostic.Error]
    if problems:
        raise BindgenError(
            "the headers do not parse: " + "; ".join(problems[:5]),
            hint="fetch llama.cpp with `python -m buildsys vendor`; a new system header needs a stub in buildsys/bindgen/sysroot",
        )
    return unit
