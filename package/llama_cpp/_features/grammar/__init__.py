"""Grammars that a completion has to follow."""
