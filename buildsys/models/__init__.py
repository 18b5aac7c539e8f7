"""Models for tests and benchmarks: the pinned ones of models.lock and tiny synthetic ones."""

from buildsys.models.catalog import environment, resolve

__all__ = ["environment", "resolve"]
