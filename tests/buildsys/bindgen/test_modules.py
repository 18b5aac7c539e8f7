"""How declarations are cut into modules, what a module says of its origin, and constant macros."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.bindgen.catalogue import BoundHeader, Section, load_catalogue
from buildsys.bindgen.generate import generate
from buildsys.bindgen.layout import LINE_LENGTH, from_import
from buildsys.bindgen.macros import Constant, evaluate
from buildsys.errors import BindgenError, ConfigurationError

from .snippets import generated, source_tree

TWO_SECTIONS = {"sections": (Section(module="all", first="toy_first"), Section(module="more", first="toy_b"))}


@pytest.mark.parametrize(
    ("replacement", "value"),
    [
        ("7", 7),
        ("0x67676c61u", 0x67676C61),
        ("0xFFFFFFFF", 4294967295),
        ("017", 15),
        ("- 1", -1),
        ("( - 1 )", -1),
        ("64ULL", 64),
        ("1.5f", 1.5),
        ("KNOWN", 3),
        ('"general.alignment"', b"general.alignment"),
        ("__attribute__ ((deprecated))", None),
        ("( void ) ( x )", None),
        ("UNKNOWN", None),
        ("", None),
        ("1 + 1", None),
        ('- "a"', None),
    ],
)
def test_macro_values(replacement: str, value: Constant | None) -> None:
    found = evaluate(replacement.split(), {"KNOWN": 3})
    assert (found, type(found)) == (value, type(value))


def test_only_constant_macros_with_a_prefix_are_bound(tmp_path: Path) -> None:
    replacements = ("SIZE 4", "COPY TOY_SIZE", "F(x) 3", "P (5)", 'KEY "k"', "API")
    made = generated(tmp_path, "#define OTHER 1\n" + "".join(f"#define TOY_{each}\n" for each in replacements))
    constants = {name: value for name, value in vars(made.constants()).items() if name.startswith(("TOY", "OTHER"))}
    assert constants == {"TOY_SIZE": 4, "TOY_COPY": 4, "TOY_P": 5, "TOY_KEY": b"k"}


def test_functions_go_to_the_section_they_follow(tmp_path: Path) -> None:
    made = generated(tmp_path, "void toy_a(void);\nvoid toy_b(void);\nvoid toy_c(void);", header=TWO_SECTIONS)
    assert [name for name in ("toy_a", "toy_first") if f"def {name}(" in made.functions] == ["toy_a", "toy_first"]
    assert [name for name in ("toy_b", "toy_c") if f"def {name}(" in made.text("toy/more.py")] == ["toy_b", "toy_c"]


def test_a_section_that_lost_its_first_function_is_named(tmp_path: Path) -> None:
    with pytest.raises(BindgenError, match=r"toy\.h has no function toy_b"):
        generated(tmp_path, "void toy_a(void);", header=TWO_SECTIONS)


def test_a_module_that_outgrows_the_limit_is_named(tmp_path: Path) -> None:
    functions = "\n".join(f"void toy_{index}(int value);" for index in range(200))
    with pytest.raises(BindgenError, match=r"toy\.h: functions of its all section"):
        generated(tmp_path, functions)


def test_types_can_be_cut_and_find_each_other(tmp_path: Path) -> None:
    made = generated(
        tmp_path,
        "struct toy_a { int x; };\nstruct toy_b { struct toy_a a; };",
        header={"types": (Section(module="toy_late", first="toy_b"),)},
    )
    assert "class toy_b" not in made.text("declarations/toy.py")
    assert "from llama_cpp._native.bindings.declarations.toy import toy_a" in made.text("declarations/toy_late.py")


def test_only_named_things_of_an_internal_header_are_bound(tmp_path: Path) -> None:
    text = "#include <vector>\nenum toy_a { TOY_A };\nenum toy_b { TOY_B };\n#define TOY_MAX 9\nstd::vector<int> toy_list();"
    made = generated(tmp_path, text, header={"only": ("toy_b", "TOY_MAX"), "cplusplus": True})
    assert sorted(name for name in vars(made.constants()) if name.lower().startswith("toy")) == ["TOY_B", "TOY_MAX", "toy_b"]
    with pytest.raises(BindgenError, match="toy_c"):
        generated(tmp_path, text, header={"only": ("toy_c",), "cplusplus": True})


def test_a_file_says_what_made_it_and_from_what(tmp_path: Path) -> None:
    first = generated(tmp_path, "void toy_a(void);").functions
    again = generated(tmp_path, "void toy_a(void);").functions
    other = generated(tmp_path, "void toy_a(void); // a comment").functions
    assert first == again
    assert "python -m buildsys bindgen" in first
    assert first != other, "the hash is that of the whole header"
    assert "a comment" not in other


def test_line_endings_of_a_checkout_do_not_matter(tmp_path: Path) -> None:
    tree = source_tree(tmp_path, "void toy_first(void);\n")
    made = generate(tree)
    header = tmp_path / "toy.h"
    header.write_bytes(header.read_bytes().replace(b"\n", b"\r\n"))
    assert generate(tree) == made


def test_missing_header(tmp_path: Path) -> None:
    with pytest.raises(BindgenError, match=r"absent\.h does not exist"):
        generated(tmp_path, "", header={"path": "absent.h"})


def test_a_header_that_does_not_parse(tmp_path: Path) -> None:
    with pytest.raises(BindgenError, match="unknown type name"):
        generated(tmp_path, "nonsense toy_a(void);")


def test_long_imports_are_broken_and_sorted() -> None:
    assert from_import("m", ["c_int32", "c_int", "Union", "POINTER", "c_int8"]) == ["from m import POINTER, Union, c_int, c_int8, c_int32"]
    lines = from_import("m", [f"name_{index}" for index in range(40)])
    assert lines[0] == "from m import ("
    assert lines[2] == "    name_1,"
    assert all(len(line) <= LINE_LENGTH for line in lines)


def test_the_catalogue_is_valid_and_mistakes_in_it_are_named(tmp_path: Path) -> None:
    assert {header.key for header in load_catalogue().header} >= {"llama", "ggml", "mtmd", "llama_ext"}
    with pytest.raises(ValueError, match="exactly one of library and backend"):
        BoundHeader(key="x", path="x.h", sections=(Section(module="a", first="b"),))
    wrong = tmp_path / "headers.toml"
    wrong.write_text('include = []\nprefixes = []\nheader = []\nhandle = ["typo"]\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="handle"):
        load_catalogue(wrong)
