"""The subset of ECMA-262 regular expressions that describe regular languages: parsed, matched, and turned into grammars."""
