"""What is a grammar: the package and llama.cpp agree, and what llama.cpp would not survive never reaches it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rig.gbnf import Recognizer
from rig.native_grammar import NativeGrammar, parses

from llama_cpp.errors import GrammarError, GrammarSyntaxError
from llama_cpp.llama_grammar import LlamaGrammar

if TYPE_CHECKING:
    from llama_cpp import Llama

ACCEPTED = (
    'root ::= "a"',
    'root::="a"',
    "root ::=",
    "root ::= \n",
    'root ::=\n  "a"\n',
    'root ::= "a" |\n "b"',
    'root ::= ("a"\n | "b"\r\n)\t# comment\nb ::= "c"',
    '# only\n\nroot ::= "a"\r\n# a comment\r\n',
    'root ::= "a"\rb ::= "c"',
    'root ::= "line\nfeed" [^\n]',
    r'root ::= "\x41\u00e9\U0001F600\t\r\n\\\"\[\]\-"',
    r"root ::= [\x41-\x5A] [^\u00e9-\U0001F600] [\]\-] [a-] [--9] [^^]",
    "root ::= [] [^] [z-a]",
    "root ::= . .* .+ .? .{2} .{2,} .{2,3} .{ 2 , 3 }",
    'root ::= (a\n{\n2\n,#c\n3\n})\na ::= "x"',
    'root ::= "a"+? "b"{2}*',
    'root ::= 1 - -- a\n1 ::= "x"\n- ::= "y"\n-- ::= "z"\na ::= "b"',
    'root ::= "a"{0} "b"{0,0}',
    "root ::= <[7]> !<[8]> <[4294967295]> <[0000000000000000000000000000007]>",
    "root ::= <|im_start|> !<|im_end|>*",
    'root ::= ("a"?)*',
    'root ::= "a"\nroot ::= "b"',
    'root ::= a*\na ::= "x" root "y"',
    f"root ::= {'(' * 400}.{')' * 400}",
    "root ::= .{2000}",
    "root ::= (a b c){500}\na ::= .\nb ::= .\nc ::= .",
    r'root ::= "a\U7FFFFFFF" [\U00110000-\UFFFFFFFF]',
)
REFUSED = (
    ("rule ::=", 1, 1),
    ("# nothing", 1, 10),
    ("root", 1, 1),
    ("root = 'a'", 1, 1),
    ('my_rule ::= "a"', 1, 1),
    ('root ::= "a', 1, 10),
    ("root ::= [a", 1, 10),
    (r'root ::= "\q"', 1, 11),
    (r'root ::= "\x4"', 1, 11),
    (r"root ::= [\u12]", 1, 11),
    ('root ::= "a"\n  | "b"', 2, 3),
    ('root ::= ("a"', 1, 10),
    ('root ::= "a")', 1, 13),
    ("root ::= *", 1, 10),
    ("root ::= | +", 1, 12),
    ('root ::= ""*', 1, 12),
    ("root ::= []?", 1, 12),
    ('root ::= "a"{}', 1, 13),
    ('root ::= "a"{,3}', 1, 13),
    ('root ::= "a"{2;3}', 1, 13),
    ('root ::= "a"{2001}', 1, 13),
    ('root ::= "a"{99999999999999999999}', 1, 13),
    ('root ::= "a"{50}{50}', 1, 17),
    ("root ::= (a b c){700}\na ::= .\nb ::= .\nc ::= .", 1, 17),
    ("root ::= a\nb ::= .", 1, 10),
    ("root ::= <[]>", 1, 10),
    ("root ::= <[4294967296]>", 1, 10),
    ("root ::= ! <[1]>", 1, 10),
    ("root ::= <[1] >", 1, 10),
    ("root ::= root", 1, 1),
    ("\nroot ::= a\na ::= b | .\nb ::= a .", 3, 1),
    ('root ::= ("a" | )*', 1, 1),
    ('root ::= "a" ? ? & "b"', 1, 18),
)
KILLING = (
    """root ::= "a"{3,2}""",
    "root ::= empty root .\nempty ::= nothing?\nnothing ::= .",
    'root ::= a a\na ::= (b | "x") a "y" | "z"\nb ::= "q"*',
    "root ::= empty root\nempty ::= none\nnone ::= |",
    f"root ::= {'(' * 30000}.{')' * 30000}",
    "root ::= a0\n" + "".join(f"a{n} ::= a{n + 1}\n" for n in range(30000)) + "a30000 ::= .",
    "root ::= a0\n" + "".join(f"a{n} ::= a{n + 1} | a{n + 1} .\n" for n in range(60)) + "a60 ::= .",
    f'root ::= "{"a" * 100_000}"{{2000}}',
)


@pytest.mark.parametrize("grammar", ACCEPTED)
def test_what_both_take(synthetic: Llama, grammar: str) -> None:
    assert LlamaGrammar.from_string(grammar).grammar == grammar
    assert parses(synthetic, grammar)


@pytest.mark.logs_native_errors
@pytest.mark.parametrize(("grammar", "line", "column"), REFUSED)
def test_what_both_refuse(synthetic: Llama, grammar: str, line: int, column: int) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        LlamaGrammar.from_string(grammar)
    assert (caught.value.line, caught.value.column) == (line, column), str(caught.value)
    assert not parses(synthetic, grammar)


@pytest.mark.parametrize("grammar", KILLING, ids=range(len(KILLING)))
def test_what_llama_cpp_would_not_survive(grammar: str) -> None:
    with pytest.raises(GrammarSyntaxError):
        LlamaGrammar.from_string(grammar)


@pytest.mark.parametrize("wrong", ["", " \n", "root ::= \0", 'root ::= "\ud800"'])
def test_what_is_no_text(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"empty|NUL|Unicode"):
        LlamaGrammar.from_string(wrong)


def test_a_cycle_is_named() -> None:
    with pytest.raises(GrammarError, match=r"line 2, column 1 .*left recursion: a → b → a$"):
        LlamaGrammar.from_string('root ::= "x" a\na ::= b\nb ::= a "y" | "z"')


def test_an_upper_bound_that_llama_cpp_does_not_keep_is_warned_about(synthetic: Llama) -> None:
    grammar = 'root ::= "a"{0,3000}'
    with pytest.warns(UserWarning, match="line 1, column 13 .* 3000 repetitions for none"):
        LlamaGrammar.from_string(grammar)
    assert parses(synthetic, grammar)


def test_a_token_that_the_model_lacks_is_named(synthetic: Llama) -> None:
    grammar = LlamaGrammar.from_string("root ::=\n <two words>")
    with pytest.raises(GrammarError, match=r"line 2, column 2 .*'<two words>'"):
        synthetic.create_completion("a", grammar=grammar)


# ---- random grammars ------------------------------------------------------------------------------------------------

RULES = ("root", "first", "b-2", "3")
CHARACTERS = st.sampled_from(["a", "b", "c", " ", "é", "語", "😀", "\n"])
SPELLED = CHARACTERS.map(lambda character: {"\n": r"\n", "é": r"\u00e9"}.get(character, character))
CLASSES = st.sampled_from(["[a-c]", "[^a]", "[^ -b]", "[ab-]", "[\\n é-ü]", "[語😀]", "."])
BLANKS = st.sampled_from([" ", "  ", "\t"])
REPETITIONS = st.sampled_from([""] * 6 + ["*", "+", "?", "{2}", "{0,2}", "{1,}", "{ 1 , 3 }"])


def terminals() -> st.SearchStrategy[str]:
    return st.lists(SPELLED, min_size=1, max_size=3).map(lambda each: f'"{"".join(each)}"') | CLASSES


def items(rule: int, depth: int) -> st.SearchStrategy[str]:
    """Something of which every beginning takes a character, so that rules may refer to themselves behind it."""
    simple = terminals() | st.sampled_from(RULES[rule + 1 :]) if rule + 1 < len(RULES) else terminals()
    if depth == 0:
        return simple
    group = options(rule, depth - 1).map(lambda text: f"({text})")
    return simple | group


@st.composite
def options(draw: st.DrawFn, rule: int, depth: int) -> str:
    made = []
    for _ in range(draw(st.integers(1, 3))):
        parts = [draw(terminals())]
        parts += [draw(items(rule, depth) | st.sampled_from(RULES)) + draw(REPETITIONS) for _ in range(draw(st.integers(0, 2)))]
        made.append(draw(BLANKS).join(parts))
    return draw(st.sampled_from([" | ", "|", " |\n "])).join(made)


@st.composite
def grammars(draw: st.DrawFn) -> str:
    rules = [f"{name} ::= {draw(options(number, 2))}" for number, name in enumerate(RULES)]
    return draw(st.sampled_from(["\n", "\r\n", "\n\n# more\n"])).join(draw(st.permutations(rules)))


@st.composite
def damaged(draw: st.DrawFn) -> str:
    text = draw(grammars())
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(['"', "[", "]", "(", ")", "|", "*", "{2}", "\\", "\n", ":", "é", "", ""])) + text[at + 1 :]
    return text


def takes(grammar: str) -> bool | None:
    """Whether the package takes the text; None where it refuses it for llama.cpp's sake, to which it must not be shown then."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            LlamaGrammar.from_string(grammar)
    except GrammarSyntaxError as error:
        return None if "behind what may be empty" in str(error) or "can never begin" in str(error) else False
    return True


@pytest.mark.logs_native_errors
@given(grammar=damaged())
@example(grammar='root ::= "a" |\n|"b"')
@example(grammar='root ::= "x" 3\n3 ::= ("b"*) 3 "c" | "d"')
def test_damaged_grammars_are_taken_by_both_or_neither(shared_synthetic: Llama, grammar: str) -> None:
    taken = takes(grammar)
    if taken is not None:
        assert taken == parses(shared_synthetic, grammar)


@given(grammar=grammars(), texts=st.lists(st.lists(CHARACTERS, max_size=12).map("".join), min_size=5, max_size=20))
def test_what_a_grammar_means(shared_synthetic: Llama, grammar: str, texts: list[str]) -> None:
    """llama.cpp and a reading of the text that knows nothing of it agree on what follows the grammar."""
    assert takes(grammar)
    recognizer = Recognizer(grammar)
    with NativeGrammar(shared_synthetic, grammar) as native:
        for text in texts:
            assert native.accepts(text) == recognizer.accepts(text), text
