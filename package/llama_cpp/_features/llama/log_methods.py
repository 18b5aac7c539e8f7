"""The part of `Llama` that adjusts logging. Native logging is one for the process, so this concerns every `Llama`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._features import log_settings

if TYPE_CHECKING:
    from collections.abc import Sequence


class LogMethods:
    """Verbosity: 0 output, 1 error, 2 warning, 3 info, 4 trace, 5 debug. A filter hides the lines that contain it."""

    @property
    def verbosity(self) -> int:
        """The present verbosity of the process."""
        return log_settings.get_verbosity()

    def set_verbosity(self, verbosity: bool | int | str) -> None:
        """Show native lines up to this level."""
        log_settings.set_verbosity(verbosity)

    def get_verbosity(self) -> int:
        """The present verbosity."""
        return log_settings.get_verbosity()

    def set_log_filters(self, filters: Sequence[str] | str | None, *, case_sensitive: bool = True) -> None:
        """Replace all filters; None sets none."""
        log_settings.set_log_filters(filters, case_sensitive=case_sensitive)

    def add_log_filters(self, filters: Sequence[str] | str) -> None:
        """Hide lines that contain these texts, too."""
        log_settings.add_log_filters(filters)

    def get_log_filters(self) -> list[str]:
        """The filters; a copy."""
        return log_settings.get_log_filters()

    def clear_log_filters(self) -> None:
        """Hide nothing, the defaults included."""
        log_settings.clear_log_filters()

    def reset_log_filters(self) -> None:
        """Back to the defaults."""
        log_settings.reset_log_filters()
