"""The engine layer: owned native objects with Python lifetimes, errors, logging and parameters.

It knows llama.cpp, not prompts: text assembly, sampling policy and chat belong to the feature layer above.
"""
