"""Writes the generated files' text, one module per kind of file; reads nothing but plain declarations."""
