"""`python -m llama_cpp._features.grammar.schema`: prints the table of supported keywords."""

from .support import table

print(table(), end="")
