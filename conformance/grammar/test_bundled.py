"""The grammars that come with the package are what their names say, by llama.cpp's reading and by a second one."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rig.gbnf import Recognizer
from rig.generation import finish_reason, text
from rig.native_grammar import NativeGrammar

from llama_cpp import llama_grammar
from llama_cpp.llama_grammar import JSON_ARR_GBNF, JSON_GBNF, LlamaGrammar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp import Llama

BUNDLED = sorted(name for name in llama_grammar.__all__ if name.endswith("_GBNF"))


class Both:
    """What both readings say; they have to agree."""

    def __init__(self, model: Llama, grammar: str, root: str = "root") -> None:
        self._recognizer, self._native = Recognizer(grammar, root), NativeGrammar(model, grammar, root)

    def accept(self, candidate: str) -> bool:
        answer = self._native.accepts(candidate)
        assert self._recognizer.accepts(candidate) == answer, candidate
        return answer

    def close(self) -> None:
        self._native.__exit__(None, None, None)


@pytest.fixture(scope="module")
def both(shared_synthetic: Llama) -> Iterator[Any]:
    made: dict[tuple[str, str], Both] = {}

    def of(grammar: str, root: str = "root") -> Both:
        if (grammar, root) not in made:
            made[grammar, root] = Both(shared_synthetic, grammar, root)
        return made[grammar, root]

    yield of
    for each in made.values():
        each.close()


@pytest.mark.parametrize("name", BUNDLED)
def test_each_is_a_grammar_that_text_can_be_made_of(synthetic: Llama, name: str) -> None:
    grammar = getattr(llama_grammar, name)
    completion = synthetic.create_completion("a", max_tokens=16, seed=3, grammar=LlamaGrammar.from_string(grammar))
    with NativeGrammar(synthetic, grammar) as native:
        begun = text(completion).rstrip("\N{REPLACEMENT CHARACTER}")  # the token limit may cut a character
        assert (native.accepts if finish_reason(completion) == "stop" else native.begins)(begun)


# ---- JSON -----------------------------------------------------------------------------------------------------------

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(CHARACTERS, max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(CHARACTERS, max_size=4), inner, max_size=3),
    max_leaves=6,
)
BLANKS = st.text(" \t\n\r", max_size=2)
SIGNS = st.sampled_from(
    [*'{}[],:"\\/.+-eE0123456789 \n\ttrufalsn', "\x01", "\x7f", "é", "\u2028", "\\u00e9", "\\x", "NaN", "Infinity", "'"]
)


@st.composite
def spelled(draw: st.DrawFn) -> str:
    value = draw(VALUES)
    written = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.none() | st.integers(0, 2)))
    return draw(BLANKS) + written + draw(BLANKS)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    written = draw(spelled())
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(written)))
        written = written[:at] + draw(SIGNS | st.just("")) + written[at + draw(st.integers(0, 1)) :]
    return written


def is_json(candidate: str) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(constant)  # NaN and infinities are no JSON

    try:
        json.loads(candidate, parse_constant=refuse)
    except ValueError:
        return False
    return True


@given(candidate=spelled())
def test_what_is_json_is_accepted(both: Any, candidate: str) -> None:
    assert both(JSON_GBNF, "text").accept(candidate)
    assert both(JSON_GBNF).accept(candidate) == isinstance(json.loads(candidate), dict)
    assert both(JSON_ARR_GBNF).accept(candidate) == isinstance(json.loads(candidate), list)


@given(candidate=damaged())
@example(candidate='"\x7f"')
@example(candidate="01")
@example(candidate="-")
@example(candidate="1.")
@example(candidate='"\\ud800"')
@example(candidate="{,}")
@example(candidate='{"a":1,}')
@example(candidate="[1 2]")
@example(candidate="")
@example(candidate="\ufeff1")
def test_what_is_accepted_is_json(both: Any, candidate: str) -> None:
    assert both(JSON_GBNF, "text").accept(candidate) == is_json(candidate)


# ---- the others -----------------------------------------------------------------------------------------------------

FOLLOWING = {
    "LIST_GBNF": ["- a\n", "- milk and eggs\n- 語\n- -\n"],
    "ARITHMETIC_GBNF": ["1 + 2 = 3\n", "-x * (y1 - 0.50) / 2^-3 = z\na = b\n"],
    "CHESS_GBNF": [
        "1. e4 e5\n",
        "1. e4 e5\n2. Nf3 Nc6\n3. Bb5 a6\n4. Bxc6 dxc6\n5. O-O f6\n",
        "1. f3 e5\n2. g4 Qh4#\n",
        "1. e4 d5\n2. exd5 Nf6\n3. Nbd2 R1a3\n4. Qh4e1+ a1=Q+\n5. dxe8=N+ O-O-O\n12. Kxe2\n",
    ],
    "JAPANESE_GBNF": ["こんにちは、世界。", "私は「カフェ」で　コーヒーを飲みました\uff01\n\uff12\uff10年…\n"],
    "ENGLISH_GBNF": ["Hello, world!", "It's a café - “really”.\n\nThe end.\n", "1 + 1"],
    "C_GBNF": [
        "int main() {\n  return 0;\n}\n",
        """long *f(int a, char **b) {
    int x[10];
    for (int i = 0; i < a; i++) {
        x[i] = b[i][0] * (a - 1);
    }
    if (!a && x[0] >= 2.5) {
        g("a\\n", 'c');
    } else {
        // nothing
    }
    return x;
}
""",
    ],
}
NOT_FOLLOWING = {
    "LIST_GBNF": ["", "a\n", "- \n", "- a", "* a\n", "-a\n", "- a\n\n- b\n"],
    "ARITHMETIC_GBNF": ["", "1 + = 2\n", "01 = 1\n", "(1 = 1\n", "1 + 2\n", "1 = 2", "1 = 2 = 3\n", "a b = c\n"],
    "CHESS_GBNF": ["1. e4 e5", "e4 e5\n", "1. e9 e5\n", "1. e8 e5\n", "1. e4=Q e5\n", "1. Ke1e2 e5\n", "1. O-O-O-O e5\n", "1. e4\n2. e5\n"],
    "JAPANESE_GBNF": ["", "hello", "こんにちは world", "한국어", "\n"],
    "ENGLISH_GBNF": ["", " a", "a\n\n\nb", "привет", "こんにちは", "a\tb"],
    "C_GBNF": ["", "int main() { return 0; }\n", "int main() {\n  return 0\n}\n", "main() {\n}\n", 'int f() {\n  x = "a;\n}\n'],
}


@pytest.mark.parametrize("name", FOLLOWING)
def test_texts_that_follow_and_texts_that_do_not(both: Any, name: str) -> None:
    grammar = both(getattr(llama_grammar, name))
    assert {candidate for candidate in FOLLOWING[name] if not grammar.accept(candidate)} == set()
    assert {candidate for candidate in NOT_FOLLOWING[name] if grammar.accept(candidate)} == set()


@pytest.mark.parametrize("seed", range(4))
def test_equations_are_arithmetic(synthetic: Llama, seed: int) -> None:
    completion = synthetic.create_completion(
        "1", max_tokens=60, seed=seed, temperature=1.5, grammar=LlamaGrammar.from_string(llama_grammar.ARITHMETIC_GBNF)
    )
    lines = text(completion).split("\n")
    for line in lines[:-1]:  # the last may be cut
        for side in line.split(" = "):
            ast.parse(re.sub(r"(?<![\w.])(?=[a-z])", "v_", side.replace("^", "**")), mode="eval")
    assert lines


@given(written=st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=3))
def test_japanese_and_english_keep_to_their_scripts(both: Any, written: str) -> None:
    foreign = ("HANGUL", "CYRILLIC", "ARABIC", "HEBREW", "DEVANAGARI", "THAI", "GREEK")
    if any(unicodedata.name(character, "").startswith(foreign) for character in written):
        assert not both(llama_grammar.ENGLISH_GBNF).accept(written)
        assert not both(llama_grammar.JAPANESE_GBNF).accept(written)
    if written.isalpha() and written.isascii():
        assert both(llama_grammar.ENGLISH_GBNF).accept(written)
        assert not both(llama_grammar.JAPANESE_GBNF).accept(written)
