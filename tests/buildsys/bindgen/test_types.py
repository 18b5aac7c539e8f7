"""Every type that ctypes makes easy to get wrong."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from buildsys.bindgen import session
from buildsys.bindgen.cursors import UnsupportedTypeError
from buildsys.errors import BindgenError

from .snippets import PROLOGUE, generated


@pytest.mark.parametrize(
    ("c_type", "argument"),
    [
        ("bool", "c_bool"),
        ("size_t", "c_size_t"),
        ("int8_t", "c_int8"),
        ("uint64_t", "c_uint64"),
        ("float", "c_float"),
        ("enum toy_mode", "c_int"),
        ("const char *", "c_char_p"),
        ("char *", "c_char_p"),
        ("const char **", "POINTER(c_char_p)"),
        ("char **", "POINTER(c_void_p)"),
        ("const char * const *", "POINTER(c_char_p)"),
        ("void *", "c_void_p"),
        ("void **", "POINTER(c_void_p)"),
        ("FILE *", "c_void_p"),
        ("const float *", "POINTER(c_float)"),
        ("int32_t **", "POINTER(POINTER(c_int32))"),
        ("enum toy_mode *", "POINTER(c_int)"),
        ("struct toy_point", "toy_point"),
        ("struct toy_point *", "POINTER(toy_point)"),
        ("struct toy_hidden *", "toy_hidden_p_ctypes"),
        ("struct toy_hidden **", "POINTER(c_void_p)"),
        ("toy_hidden_t", "toy_hidden_p_ctypes"),
        ("toy_callback", "c_void_p"),
        ("int32_t sizes[4]", "POINTER(c_int32)"),
        ("const float weights[]", "POINTER(c_float)"),
        ("toy_guid", "POINTER(c_uint8)"),
        ("toy_guid *", "POINTER(c_uint8 * 16)"),
        ("toy_plain_callback", "c_void_p"),
    ],
)
def test_argument(tmp_path: Path, c_type: str, argument: str) -> None:
    name = "" if "[" in c_type else " value"
    made = generated(
        tmp_path,
        f"""
        enum toy_mode {{ TOY_A }};
        struct toy_point {{ float x; }};
        struct toy_hidden;
        typedef struct toy_hidden * toy_hidden_t;
        typedef void (*toy_callback)(int);
        typedef void toy_plain_callback(int);
        typedef uint8_t toy_guid[16];
        void toy_take({c_type}{name});
        """,
    )
    expected = argument.replace("toy_hidden_p", "toy_hidden_t")
    assert made.decorator("toy_take") == f'@c_function("llama", [{expected}], None)'


@pytest.mark.parametrize(
    ("c_type", "result", "static"),
    [
        ("bool", "c_bool", "bool"),
        ("const char *", "c_char_p", "bytes | None"),
        ("char *", "c_void_p", "int | None"),
        ("float *", "POINTER(c_float)", "Pointer[c_float]"),
        ("struct toy_hidden *", "toy_hidden_p_ctypes", "toy_hidden_p | None"),
        ("void", "None", "None"),
        ("enum toy_mode", "c_int", "int"),
    ],
)
def test_result(tmp_path: Path, c_type: str, result: str, static: str) -> None:
    made = generated(tmp_path, f"enum toy_mode {{ TOY_A }};\nstruct toy_hidden;\n{c_type} toy_give(void);")
    assert made.decorator("toy_give") == f'@c_function("llama", [], {result})'
    assert made.signature("toy_give") == f") -> {static}"


def test_member_strings_stay_addresses_unless_callers_write_them(tmp_path: Path) -> None:
    made = generated(
        tmp_path, "struct toy_texts { const char * owned_by_c; const char * given; char key[8]; };", bytes_members=("toy_texts.given",)
    )
    texts = made.types().toy_texts(owned_by_c=ctypes.addressof(ctypes.c_int(1)), given=b"x", key=b"k")
    assert isinstance(texts.owned_by_c, int)
    assert texts.given == b"x"
    assert texts.key == b"k"


def test_an_enum_with_negative_members_is_signed(tmp_path: Path) -> None:
    made = generated(tmp_path, "enum toy_mode { TOY_UNSET = -1, TOY_NONE, TOY_ALL = 1 << 4 };\nvoid toy_set(enum toy_mode mode);")
    constants = made.constants()
    assert [(member.name, member.value) for member in constants.toy_mode] == [("TOY_UNSET", -1), ("TOY_NONE", 0), ("TOY_ALL", 16)]
    assert constants.TOY_UNSET == -1
    assert type(constants.TOY_UNSET) is int
    assert "[c_int]" in made.decorator("toy_set")


def test_a_tag_that_is_also_a_function_gives_way(tmp_path: Path) -> None:
    made = generated(
        tmp_path,
        """
        enum toy_kind { TOY_K };
        enum toy_kind toy_kind(int of);
        struct toy_copy { int a; };
        struct toy_copy toy_copy(struct toy_copy * from);
        """,
    )
    assert "class toy_kind_enum(IntEnum):" in made.text("constants/toy.py")
    assert made.types().toy_copy_struct(a=3).a == 3
    assert made.decorator("toy_copy") == '@c_function("llama", [POINTER(toy_copy_struct)], toy_copy_struct)'


def test_unnamed_union_members_belong_to_their_owner(tmp_path: Path) -> None:
    made = generated(
        tmp_path,
        "struct toy_override { int tag; union { int64_t as_int; double as_float; bool as_bool; }; };",
        unnamed_members={"toy_override": "value"},
    )
    override = made.types().toy_override
    value = override(tag=1)
    value.as_int = 7
    assert value.value.as_int == 7
    assert (ctypes.sizeof(override), override.as_float.offset) == (16, 8)


def test_nested_structs_without_a_tag(tmp_path: Path) -> None:
    made = generated(tmp_path, "struct toy_params { struct { float rate; int steps; } slow; struct { double rate; } fast; };")
    params = made.types().toy_params
    assert ctypes.sizeof(params) == 16
    value = params()
    value.fast.rate = 0.5
    value.slow.steps = 3
    assert (value.fast.rate, value.slow.steps) == (0.5, 3)


def test_a_typedef_of_an_unnamed_struct(tmp_path: Path) -> None:
    made = generated(tmp_path, "typedef struct { uint16_t bits; } toy_half;\nfloat toy_widen(toy_half half);")
    assert ctypes.sizeof(made.types().toy_half) == 2
    assert made.decorator("toy_widen") == '@c_function("llama", [toy_half], c_float)'


def test_callbacks(tmp_path: Path) -> None:
    made = generated(
        tmp_path,
        """
        struct toy_hidden;
        typedef bool (*toy_progress)(float done, void * data);
        struct toy_table {
            const char * (*name)(const struct toy_hidden * self);
            toy_progress progress;
        };
        """,
    )
    types = made.types()
    seen: list[float] = []
    progress = types.toy_progress(lambda done, _data: seen.append(done) or True)
    table = types.toy_table(progress=progress)
    assert table.progress(0.5, None) is True
    assert seen == [0.5]
    # An owner hands out an address that it keeps alive; bytes would be freed under C's hands.
    assert types.toy_table_name._restype_ is ctypes.c_void_p
    assert types.toy_table_name._argtypes_ == (ctypes.c_void_p,)


def test_complete_structs_can_be_handles(tmp_path: Path) -> None:
    made = generated(
        tmp_path, "struct toy_node { struct toy_node * next; };\nstruct toy_node * toy_next(struct toy_node *);", handles=("toy_node",)
    )
    assert made.decorator("toy_next") == '@c_function("llama", [toy_node_p_ctypes], toy_node_p_ctypes)'
    assert made.types().toy_node._fields_ == [("next", ctypes.c_void_p)]


def test_python_keywords(tmp_path: Path) -> None:
    made = generated(tmp_path, "struct toy_caps { bool async; };\nvoid toy_move(int from, int, bool lambda);")
    assert made.types().toy_caps(async_=True).async_ is True
    assert made.signature("toy_move") == "from_: int, arg1: int, lambda_: bool, /) -> None"


def test_variadic_functions_bind_their_fixed_part(tmp_path: Path) -> None:
    made = generated(tmp_path, "void toy_print(const char * format, ...);")
    assert made.decorator("toy_print") == '@c_function("llama", [c_char_p], None)'
    assert made.signature("toy_print") == "format: bytes | None, /, *args: object) -> None"


@pytest.mark.parametrize("form", ["DEPRECATED(API void toy_old(int))", "API DEPRECATED(void toy_old(int))"])
def test_deprecated_functions_are_bound(tmp_path: Path, form: str) -> None:
    macros = '#define API __attribute__((visibility("default")))\n#define DEPRECATED(f) f __attribute__((deprecated("")))\n'
    assert "[c_int]" in generated(tmp_path, f"{macros}{form};").decorator("toy_old")


def test_inline_functions_are_not(tmp_path: Path) -> None:
    made = generated(tmp_path, "static inline int toy_inline(void) { return 1; }")
    assert "toy_inline" not in made.functions


def test_a_bit_field_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BindgenError, match=r"toy_bits\.a is a bit field"):
        generated(tmp_path, "struct toy_bits { int a : 3; };")


def test_cplusplus_symbols_under_every_mangling(tmp_path: Path) -> None:
    text = "struct toy_hidden;\nvoid toy_grow(struct toy_hidden * self, size_t by);\n"
    made = generated(tmp_path, text, header={"cplusplus": True})
    symbols = ["_Z8toy_growP10toy_hiddenm", "_Z8toy_growP10toy_hiddeny", "?toy_grow@@YAXPEAUtoy_hidden@@_K@Z"]
    assert re.findall(r'"([_?][^"]+)"', made.decorator("toy_grow")) == symbols


def test_what_ctypes_cannot_call_is_named_and_can_be_left_out(tmp_path: Path) -> None:
    text = "#include <map>\nstd::map<int, int> toy_sizes(void);"
    with pytest.raises(UnsupportedTypeError, match="toy_sizes"):
        generated(tmp_path, text, header={"cplusplus": True})
    made = generated(tmp_path, text, header={"cplusplus": True}, unreachable={"toy_sizes": "returns a std::map"})
    assert "toy_sizes" not in made.functions


_SCALARS = ("bool", "char", "int8_t", "uint16_t", "int", "int64_t", "size_t", "float", "double", "void *", "const char *", "enum toy_mode")
_members = st.recursive(
    st.tuples(st.sampled_from(_SCALARS), st.integers(0, 3)),
    lambda inner: st.tuples(st.sampled_from(["struct", "union"]), st.lists(inner, min_size=1, max_size=4)),
    max_leaves=8,
)


def _c_member(member: tuple[str, int | list[object]], name: str) -> str:
    kind, detail = member
    if isinstance(detail, int):
        return f"{kind} {name}{f'[{detail}]' if detail else ''};"
    inner = " ".join(_c_member(each, f"m{index}") for index, each in enumerate(detail))  # type: ignore[arg-type]
    return f"{kind} {{ {inner} }} {name};"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(members=st.lists(_members, min_size=1, max_size=6))
def test_layouts_are_those_of_the_compiler(tmp_path: Path, members: list[tuple[str, int | list[object]]]) -> None:
    fields = " ".join(_c_member(member, f"f{index}") for index, member in enumerate(members))
    text = f"enum toy_mode {{ TOY_A = -1 }};\nstruct toy_any {{ {fields} }};"
    made = generated(tmp_path, text).types().toy_any
    (tmp_path / "toy.h").write_text(PROLOGUE + text, encoding="utf-8")
    unit = session.parse_headers(["toy.h"], [tmp_path])
    compiled = next(cursor.type for cursor in unit.cursor.get_children() if cursor.spelling == "toy_any")
    assert (ctypes.sizeof(made), ctypes.alignment(made)) == (compiled.get_size(), compiled.get_align())
    for index in range(len(members)):
        assert getattr(made, f"f{index}").offset * 8 == compiled.get_offset(f"f{index}")
