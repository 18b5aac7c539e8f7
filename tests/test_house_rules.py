"""What CONTRIBUTING.md promises of the code as a whole: sizes, directions of imports, generated files' honesty."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "package" / "llama_cpp"
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 80
LAYERS = ("_native", "_engine", "_features")
VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}


def sources() -> list[Path]:
    folders = ("buildsys", "package", "conformance", "tests", "benchmarks")
    return sorted([ROOT / "noxfile.py", *(path for folder in folders for path in (ROOT / folder).rglob("*.py"))])


def imported_modules(path: Path) -> Iterator[str]:
    """Absolute names of what `path` imports from its own package, relative imports resolved."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    package = parts if path.name == "__init__.py" else parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*(part for part in base if part != "__init__"), *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_keep_their_size(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_MODULE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < MAX_FUNCTION_LINES, f"{node.name} is too long"


def bases(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base.value if isinstance(base, ast.Subscript) else base).rpartition(".")[2] for base in node.bases]


@pytest.mark.parametrize("base", ["NamedTuple", "TypedDict"])
def test_no_class_has_bases_that_python_3_10_refuses_together(base: str) -> None:
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and base in bases(node):
                assert "Generic" not in bases(node), f"{path.relative_to(ROOT)}: {node.name}"


def test_modules_are_named_for_concepts() -> None:
    named = {path.stem for path in sources()} | {folder.name for path in sources() for folder in path.parents}
    # llama_cpp/_utils.py is a historic import path of the published API.
    assert not named & VAGUE_NAMES


@pytest.mark.parametrize("layer", range(len(LAYERS)))
def test_imports_run_one_way(layer: int) -> None:
    lower = LAYERS[: layer + 1]
    for path in (PACKAGE / LAYERS[layer]).rglob("*.py"):
        for module in imported_modules(path):
            if not module.startswith("llama_cpp."):
                continue
            allowed = (*(f"llama_cpp.{name}" for name in lower), "llama_cpp._version")
            assert module.startswith(allowed), f"{path.relative_to(ROOT)} imports {module}"


def test_every_module_says_what_it_owns() -> None:
    for path in sources():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if "tests" in path.parts or not tree.body:
            continue
        assert ast.get_docstring(tree), f"{path.relative_to(ROOT)} has no docstring"
