"""Grammars that come with the package. Each begins with rule `root`; what it matches stands in its first line."""

from __future__ import annotations

_JSON_RULES = r"""
value    ::= object | array | string | number | "true" | "false" | "null"
object   ::= "{" ws (member ("," ws member)*)? "}"
member   ::= string ws ":" ws value ws
array    ::= "[" ws (element ("," ws element)*)? "]"
element  ::= value ws
string   ::= "\"" (plain | escape)* "\""
plain    ::= [^"\\\x00-\x1F]
escape   ::= "\\" (["\\/bfnrt] | "u" [0-9A-Fa-f]{4})
number   ::= "-"? integer fraction? exponent?
integer  ::= "0" | [1-9] [0-9]*
fraction ::= "." [0-9]+
exponent ::= [eE] [+-]? [0-9]+
ws       ::= [ \t\n\r]*
"""

JSON_GBNF = f"""# A JSON object, as RFC 8259 defines it. With root="text" any JSON text.
root     ::= ws object ws
text     ::= ws element
{_JSON_RULES.strip()}
"""

JSON_ARR_GBNF = f"""# A JSON text (RFC 8259) that is an array.
root     ::= ws array ws
{_JSON_RULES.strip()}
"""

LIST_GBNF = r"""# A list with an item per line, each behind a dash and a blank.
root ::= item+
item ::= "- " [^ \t\r\n\x0B\x0C\x85\u2028\u2029] [^\r\n\x0B\x0C\x85\u2028\u2029]* "\n"
"""

ARITHMETIC_GBNF = r"""# Equations, one per line: sums, products and powers of numbers and names, with parentheses, equal to another such.
root    ::= equation+
equation ::= sum " = " sum "\n"
sum     ::= product (" " [+-] " " product)*
product ::= power (" " [*/] " " power)*
power   ::= signed ("^" signed)?
signed  ::= "-"? atom
atom    ::= number | name | "(" sum ")"
number  ::= ("0" | [1-9] [0-9]{0,17}) ("." [0-9]{1,18})?
name    ::= [a-z] [a-z0-9]{0,15}
"""

CHESS_GBNF = r"""# A game of chess in standard algebraic notation: numbered pairs of moves, a pair per line; White's may be the last move.
root      ::= "1. " moves
moves     ::= move " " move "\n" (number ". " moves)? | move "\n"
number    ::= [1-9] [0-9]{0,2}
move      ::= (pawn | piece | king | castling) [+#]?
pawn      ::= ([a-h] "x")? [a-h] ([2-7] | [18] "=" [QRBN])
piece     ::= [QRBN] ([a-h] [1-8]? | [1-8])? "x"? square
king      ::= "K" "x"? square
castling  ::= "O-O" "-O"?
square    ::= [a-h] [1-8]
"""

JAPANESE_GBNF = r"""# Japanese text: kana, kanji, Japanese punctuation and full-width signs, in lines of parts with blanks between.
root        ::= line ("\n" line)* "\n"?
line        ::= part ([ \u3000] part)*
part        ::= (hiragana | katakana | kanji | punctuation | wide)+
hiragana    ::= [\u3041-\u3096\u3099-\u309F]
katakana    ::= [\u30A0-\u30FF\u31F0-\u31FF\uFF66-\uFF9F]
kanji       ::= [\u3005-\u3007\u303B\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF]
punctuation ::= [\u3001-\u3003\u3008-\u3011\u3014-\u301F\u2025\u2026\u203B\uFF61-\uFF65]
wide        ::= [\uFF01-\uFF5E]
"""

ENGLISH_GBNF = r"""# English text: letters, digits and punctuation, in paragraphs with at most one empty line between them.
root      ::= paragraph ("\n" "\n"? paragraph)* "\n"?
paragraph ::= word (" " " "? word)*
word      ::= (letter | digit | mark)+
letter    ::= [A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u00FF\u0152\u0153]
digit     ::= [0-9]
mark      ::= [!-/:-@\[-`{-~\u00A3\u00A7\u00A9\u00AE\u00B0\u00B7\u00BC-\u00BE\u00D7\u00F7\u2013\u2014\u2018-\u201D\u2022\u2026\u20AC]
"""

C_GBNF = r"""# Functions in a small part of C: declarations, assignments, calls, if, while, for and return. Names may happen to be keywords.
root        ::= function+
function    ::= type " " declarator "(" parameters? ") {\n" statement* "}\n"
parameters  ::= type " " declarator (", " type " " declarator)*
type        ::= "int" | "long" | "char" | "float" | "double" | "void"
declarator  ::= "*"{0,2} name
statement   ::= indent (declaration ";" | assignment ";" | call ";" | return ";" | loop | condition | comment) "\n"
declaration ::= type " " declarator ("[" integer "]")? (" = " expression)?
assignment  ::= place " " [+*/-]? "= " expression | place ("++" | "--")
place       ::= "*"? name ("[" expression "]")*
return      ::= "return" (" " expression)?
loop        ::= "while (" expression ") " block | "for (" (declaration | assignment)? "; " expression? "; " assignment? ") " block
condition   ::= "if (" expression ") " block (" else " (condition | block))?
block       ::= "{\n" statement* indent "}"
comment     ::= "// " [ -\[\]-~]+
expression  ::= comparison ((" && " | " || ") comparison)*
comparison  ::= sum ((" == " | " != " | " <= " | " >= " | " < " | " > ") sum)?
sum         ::= product (" " [+-] " " product)*
product     ::= unary (" " [*/%] " " unary)*
unary       ::= [!&*-]? atom
atom        ::= call | place-read | number | string | character | "(" expression ")"
place-read  ::= name ("[" expression "]")*
call        ::= name "(" (expression (", " expression)*)? ")"
name        ::= [a-z_] [a-z0-9_]{0,30}
number      ::= integer ("." [0-9]{1,15})?
integer     ::= "0" | [1-9] [0-9]{0,8}
string      ::= "\"" ([ !#-\[\]-~] | "\\" [nrt0\\"])* "\""
character   ::= "'" ([ -&(-\[\]-~] | "\\" [nrt0\\']) "'"
indent      ::= " "*
"""
