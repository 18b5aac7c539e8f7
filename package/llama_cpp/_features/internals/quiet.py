"""`suppress_stdout_stderr`: silence for the length of a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._engine.logbridge import OUTPUT
from llama_cpp._features.log_settings import get_verbosity, set_verbosity

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


class suppress_stdout_stderr:  # noqa: N801 - published name
    """Within the block native code logs nothing, in any thread, unless `disable` is set. File descriptors are left alone."""

    def __init__(self, disable: bool = True) -> None:
        self._disable = disable
        self._before: int | None = None

    def __enter__(self) -> Self:
        if not self._disable:
            self._before = get_verbosity()
            set_verbosity(OUTPUT)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        before, self._before = self._before, None
        if before is not None:
            set_verbosity(before)
