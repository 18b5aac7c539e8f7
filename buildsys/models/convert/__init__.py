"""Models that are published in another format, made into GGUF files. One module per architecture."""

from buildsys.models.convert.conversion import convert, fingerprint

__all__ = ["convert", "fingerprint"]
