"""Proving a Windows wheel on Linux: a native program opens its libraries under wine, and decodes with them."""

from buildsys.wine.runner import WineProof, run_wine

__all__ = ["WineProof", "run_wine"]
