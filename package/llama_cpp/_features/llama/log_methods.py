"""The part of `Llama` that adjusts logging. Native logging is one for the process, so this concerns every `Llama`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._engine import logbridge

if TYPE_CHECKING:
    from collections.abc import Sequence


class LogMethods:
    """Verbosity: 0 output, 1 error, 2 warning, 3 info, 4 trace, 5 debug. A filter hides the lines that contain it."""

    @property
    def verbosity(self) -> int:
        """The present verbosity of the process."""
        return logbridge.get_verbosity()

    def set_verbosity(self, verbosity: int) -> None:
        """Show native lines up to this level."""
        logbridge.set_verbosity(verbosity)

    def get_verbosity(self) -> int:
        """The present verbosity."""
        return logbridge.get_verbosity()

    def set_log_filters(self, filters: Sequence[str] | str | None, *, case_sensitive: bool = True) -> None:
        """Replace all filters; None sets none."""
        logbridge.set_filters(_texts(filters), case_sensitive=case_sensitive)

    def add_log_filters(self, filters: Sequence[str] | str) -> None:
        """Hide lines that contain these texts, too."""
        present = logbridge.get_filters()
        added = [text for text in _texts(filters) if text not in present]
        logbridge.set_filters([*present, *added], case_sensitive=logbridge.bridge.filters_case_sensitive)

    def get_log_filters(self) -> list[str]:
        """The filters; a copy."""
        return list(logbridge.get_filters())

    def clear_log_filters(self) -> None:
        """Hide nothing, the defaults included."""
        logbridge.set_filters(())

    def reset_log_filters(self) -> None:
        """Back to the defaults."""
        logbridge.set_filters(logbridge.DEFAULT_FILTERS)


def _texts(filters: Sequence[str] | str | None) -> list[str]:
    if filters is None:
        return []
    return [filters] if isinstance(filters, str) else list(filters)
