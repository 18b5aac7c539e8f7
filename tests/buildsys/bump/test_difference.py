"""The difference of two small headers, read as the generator reads the real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.bindgen import ir
from buildsys.bump.difference import Change, compare
from buildsys.bump.words import lines, summary
from tests.buildsys.bindgen.snippets import source_tree


def read(root: Path, text: str) -> list[ir.Header]:
    return source_tree(root, f"{text}\nvoid toy_first(void);\n").read()


def change(tmp_path: Path, old: str, new: str) -> Change:
    (found,) = compare(read(tmp_path, old), read(tmp_path, new))
    return found


@pytest.mark.parametrize(
    ("old", "new", "kind", "was", "now"),
    [
        ("", "int toy_f(const char * text, bool on);", "function", "", "int toy_f(const char *text, bool on)"),
        ("void toy_f(float x);", "", "function", "void toy_f(float x)", ""),
        (
            "",
            "void toy_f(const char * const * a, const char ** b, int c[4]);",
            "function",
            "",
            "void toy_f(const char *const *a, const char **b, int *c)",
        ),
        ("int toy_f(int n);", "int64_t toy_f(uint32_t n, ...);", "function", "int toy_f(int n)", "int64_t toy_f(uint32_t n, ...)"),
        ("", "typedef void (*toy_cb)(int level, void * data);", "type", "", "typedef void (*toy_cb)(int, void *)"),
        ("typedef int32_t toy_id;", "typedef int64_t toy_id;", "type", "typedef int32_t toy_id", "typedef int64_t toy_id"),
        ("", "#define TOY_MAX 8", "macro", "", "TOY_MAX = 8"),
        ('#define TOY_NAME "a"', '#define TOY_NAME "b"', "macro", 'TOY_NAME = "a"', 'TOY_NAME = "b"'),
        ("enum { TOY_A = 1 };", "enum { TOY_A = 2 };", "constant", "TOY_A = 1", "TOY_A = 2"),
        ("", "struct toy_hidden;", "handle", "", "struct toy_hidden"),
        ("struct toy_s { int a[3]; };", "", "struct", "struct toy_s", ""),
    ],
)
def test_each_kind_of_declaration_is_compared(tmp_path: Path, *, old: str, new: str, kind: str, was: str, now: str) -> None:
    found = change(tmp_path, old, new)
    assert (found.kind, found.old, found.new) == (kind, was, now)
    assert found.verb == ("changed" if was and now else "added" if now else "removed")
    assert found.header == "toy.h"


@pytest.mark.parametrize(
    ("old", "new", "details"),
    [
        ("int a; float b;", "int a; float b; bool c;", ("+ bool c (after b)",)),
        ("int b;", "int a; int b;", ("+ int a (first)",)),
        ("int a; float b;", "float b;", ("- int a",)),
        ("int a;", "unsigned a;", ("~ a: was int a, is unsigned int a",)),
        ("int a; int b;", "int b; int a;", ("~ the order of members is another one",)),
        ("const char * p;", "char ** p;", ("~ p: was const char *p, is char **p",)),
        ("bool (*f)(int);", "bool (*f)(int, void *);", ("~ f: was bool (*f)(int), is bool (*f)(int, void *)",)),
        ("struct { int x; } in;", "struct { int x; int y; } in;", ("+ int in.y (after in.x)",)),
        ("union { int i; float f; };", "union { int i; double f; };", ("~ f: was float f, is double f",)),
    ],
)
def test_members_of_a_record_are_compared_one_by_one(tmp_path: Path, old: str, new: str, details: tuple[str, ...]) -> None:
    found = change(tmp_path, f"struct toy_s {{ {old} }};", f"struct toy_s {{ {new} }};")
    assert (found.kind, found.verb, found.details) == ("struct", "changed", details)


def test_constants_of_an_enumeration_are_compared_by_name_and_value(tmp_path: Path) -> None:
    found = change(tmp_path, "enum toy_e { TOY_A, TOY_B, TOY_D };", "enum toy_e { TOY_A, TOY_C, TOY_B };")
    assert found.details == ("+ TOY_C = 1 (after TOY_A)", "~ TOY_B: was 1, is 2", "- TOY_D = 2")


def test_names_of_parameters_and_deprecation_are_told_apart_from_types(tmp_path: Path) -> None:
    assert change(tmp_path, "int toy_f(int a);", "int toy_f(int b);").details == ("only names of parameters differ",)
    deprecated = "__attribute__((deprecated)) int toy_f(int a);"
    assert change(tmp_path, "int toy_f(int a);", deprecated).details == ("is deprecated now",)
    assert change(tmp_path, deprecated, "int toy_f(int a);").details == ("is not deprecated any more",)


def test_a_declaration_that_moved_to_another_header_is_not_new() -> None:
    function = ir.Function(name="toy_f", result=ir.Void(), params=())
    before = ir.Header(key="a", path="a.h", sha256="", declarations=[function])
    after = ir.Header(key="b", path="b.h", sha256="", declarations=[function])
    (found,) = compare([before], [after])
    assert (found.verb, found.header, found.details) == ("changed", "b.h", ("moved here from a.h",))


def test_equal_headers_and_comments_make_no_difference(tmp_path: Path) -> None:
    text = "struct toy_s { int a; }; enum toy_e { TOY_A }; int toy_f(struct toy_s * s);\n#define TOY_MAX 3"
    assert compare(read(tmp_path, text), read(tmp_path, f"// new words\n{text}")) == ()
    assert summary(()) == "nothing changed"


def test_the_text_names_old_and_new(tmp_path: Path) -> None:
    old = "int toy_f(int a); void toy_old(void); struct toy_s { int a; };"
    new = "int toy_f(long a); void toy_new(void); void toy_newer(void); struct toy_s { int a; int b; };"
    found = compare(read(tmp_path, old), read(tmp_path, new))
    assert summary(found) == "2 functions added; 1 function removed; 1 function, 1 struct changed"
    assert list(lines(found)) == [
        "",
        "toy.h",
        "  + function void toy_new(void)",
        "  + function void toy_newer(void)",
        "  - function void toy_old(void)",
        "  ~ function toy_f",
        "      was int toy_f(int a)",
        "      is  int toy_f(long a)",
        "  ~ struct toy_s",
        "      + int b (after a)",
    ]
