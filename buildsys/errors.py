"""The failures a build can end in: one class and one exit code each, with the next step in the message."""

from __future__ import annotations


class BuildError(Exception):
    """Root of all failures that `python -m buildsys` reports in one line instead of a traceback."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigurationError(BuildError):
    """A TOML table of the build system doesn't hold what its type says."""

    exit_code = 3


class UnknownBuildError(BuildError):
    """No row of the matrix has the identifier that was asked for."""

    exit_code = 4


class VendorError(BuildError):
    """The pinned llama.cpp could not be had from any source, or is not what the pin says."""

    exit_code = 5


class ToolchainError(BuildError):
    """A compiler, or the OpenMP runtime that belongs to it, is missing."""

    exit_code = 6


class CommandFailedError(BuildError):
    """A program that a stage runs (cmake, pip, auditwheel, …) ended with an error."""

    exit_code = 7


class WheelError(BuildError):
    """Packaging did not yield exactly the wheel that was expected."""

    exit_code = 8


class AuditFailedError(BuildError):
    """A wheel breaks a packaging property."""

    exit_code = 9


class ConformanceFailedError(BuildError):
    """An installed wheel failed its suite."""

    exit_code = 10


class DownloadError(BuildError):
    """A file could not be fetched, or its hash or size differs from the pinned one."""

    exit_code = 11


class ModelError(BuildError):
    """A model is unknown, missing or cannot be fetched."""

    exit_code = 12


class BindgenError(BuildError):
    """The headers could not be parsed, or the committed bindings are not what they generate."""

    exit_code = 13


class SbomError(BuildError):
    """The bill of materials cannot be written: something in the wheel is of unknown origin or version."""

    exit_code = 17


class NotReproducibleError(BuildError):
    """Two builds of the same sources differ."""

    exit_code = 18


class SdistError(BuildError):
    """The source distribution holds what it should not, lacks what it should, or does not build."""

    exit_code = 19


class ToolkitError(BuildError):
    """No provider has the CUDA toolkit that a row asks for, or a part of it is missing."""

    exit_code = 14


class BumpError(BuildError):
    """The pin can't be moved from where the tree is."""

    exit_code = 20
