"""All generated files as a mapping from path to text, from one reading of the headers."""

from __future__ import annotations

from pathlib import Path

from buildsys.bindgen.handles import Handles
from buildsys.bindgen.mapping import Mapper
from buildsys.bindgen.names import Names
from buildsys.bindgen.places import BINDINGS, PROBE
from buildsys.bindgen.probe import probe_source
from buildsys.bindgen.read import SourceTree
from buildsys.bindgen.render.constants import constant_modules
from buildsys.bindgen.render.declarations import declaration_modules
from buildsys.bindgen.render.functions import function_modules
from buildsys.bindgen.render.package import header_package, plain_package

_PACKAGES = {
    "": "The C interfaces of the pinned llama.cpp, one package per header. C names stay verbatim.",
    "constants": "Enumerations and constant macros, by header. Importing them opens no library.",
    "declarations": "Handles, callbacks, structs and unions, by header. Importing them opens no library.",
}


def generate(tree: SourceTree) -> dict[Path, str]:
    """Text of every generated file, by path within the project."""
    catalogue = tree.catalogue
    headers = tree.read()
    handles = Handles(headers, catalogue.handles)
    names = Names(headers, catalogue.header, handles)
    mapper = Mapper(handles, names, catalogue.bytes_members)
    bindings = {Path(folder, "__init__.py"): plain_package(title) for folder, title in _PACKAGES.items()}
    for header, bound in zip(headers, catalogue.header, strict=True):
        constants = constant_modules(header, bound, names)
        bindings |= {Path("constants", f"{module}.py"): text for module, text in constants.items()}
        if bound.only:
            continue
        declarations = declaration_modules(header, bound, handles, names, mapper)
        functions = function_modules(header, bound, names, mapper)
        for folder, modules in (("declarations", declarations), (header.key, functions)):
            bindings |= {Path(folder, f"{module}.py"): text for module, text in modules.items()}
        bindings[Path(header.key, "__init__.py")] = header_package(header, list(constants), list(declarations), list(functions))
    plain_c = [header for header, bound in zip(headers, catalogue.header, strict=True) if not bound.cplusplus]
    return {**{BINDINGS / path: text for path, text in bindings.items()}, PROBE: probe_source(plain_c, names)}
