"""Settings of the process-wide native log: levels by name, and the shorthands of the public logger module.

What is logged, and where it goes, is `logbridge`'s business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from llama_cpp._engine import logbridge
from llama_cpp._engine.logbridge import DEBUG, DEFAULT_FILTERS, ERROR, INFO, OUTPUT, TRACE, WARN

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEVEL_NAMES = {
    **dict.fromkeys(("output", "none"), OUTPUT),
    **dict.fromkeys(("error", "err", "silent"), ERROR),
    **dict.fromkeys(("warn", "warning", "quiet"), WARN),
    **dict.fromkeys(("info", "default", "normal"), INFO),
    **dict.fromkeys(("trace", "trc"), TRACE),
    **dict.fromkeys(("debug", "verbose"), DEBUG),
}


@dataclass(frozen=True, kw_only=True)
class LoggerConfig:
    """The settings in force: verbosity 0 to 5, and the texts whose lines are hidden."""

    verbosity: int
    log_filters: tuple[str, ...]
    log_filters_case_sensitive: bool


def level(value: bool | int | str) -> int:
    """A verbosity from a number, a name, or a bool (True shows all, False only errors); ValueError for others."""
    if isinstance(value, bool):
        return DEBUG if value else ERROR
    text = str(value).strip().lower()
    if text in _LEVEL_NAMES:
        return _LEVEL_NAMES[text]
    try:
        return min(max(int(text), OUTPUT), DEBUG)
    except ValueError:
        raise ValueError(f"verbosity must be 0 to 5 or one of {', '.join(_LEVEL_NAMES)}; not {value!r}") from None


def configure_logging(
    *,
    verbosity: bool | int | str | None = None,
    verbose: bool | None = None,
    quiet: bool = False,
    silent: bool = False,
    show_output: bool = True,
    log_filters: Sequence[str] | str | None = None,
    append_log_filters: bool = False,
    log_filters_case_sensitive: bool | None = None,
) -> LoggerConfig:
    """Change what is given, and return what is in force.

    Of the four ways to say how much is shown, the first of silent, quiet, verbosity and verbose counts. Silent shows
    errors, and without `show_output` only what native code prints as plain output.
    """
    if silent:
        set_verbosity(ERROR if show_output else OUTPUT)
    elif quiet:
        set_verbosity(WARN)
    elif verbosity is not None:
        set_verbosity(verbosity)
    elif verbose is not None:
        set_verbose(verbose)
    if log_filters is not None:
        wanted = filter_texts(log_filters)
        set_log_filters([*get_log_filters(), *wanted] if append_log_filters else wanted)
    if log_filters_case_sensitive is not None:
        set_log_filters(get_log_filters(), case_sensitive=log_filters_case_sensitive)
    return current_config()


def current_config() -> LoggerConfig:
    """The settings in force."""
    return LoggerConfig(
        verbosity=logbridge.get_verbosity(),
        log_filters=logbridge.get_filters(),
        log_filters_case_sensitive=get_log_filters_case_sensitive(),
    )


def set_verbosity(verbosity: bool | int | str) -> None:
    """Show native lines up to this level."""
    logbridge.set_verbosity(level(verbosity))


def get_verbosity() -> int:
    """The present verbosity."""
    return logbridge.get_verbosity()


def set_verbose(verbose: bool) -> None:
    """Show everything, or only errors."""
    set_verbosity(bool(verbose))


def set_quiet(quiet: bool = True) -> None:
    """Show warnings and errors, or the usual information again."""
    set_verbosity(WARN if quiet else INFO)


def set_silent(silent: bool = True) -> None:
    """Show errors only, or the usual information again."""
    set_verbosity(ERROR if silent else INFO)


def filter_texts(filters: Sequence[str] | str | None) -> list[str]:
    """Filters as a list; a single text counts as one filter, None as none."""
    if filters is None:
        return []
    return [filters] if isinstance(filters, str) else list(filters)


def set_log_filters(filters: Sequence[str] | str | None, *, case_sensitive: bool | None = None) -> None:
    """Hide the lines that contain one of these texts, and no others; the case rule stays unless it is given."""
    sensitive = get_log_filters_case_sensitive() if case_sensitive is None else case_sensitive
    logbridge.set_filters(list(dict.fromkeys(filter_texts(filters))), case_sensitive=sensitive)


def add_log_filters(filters: Sequence[str] | str) -> None:
    """Hide lines that contain these texts, too."""
    set_log_filters([*get_log_filters(), *filter_texts(filters)])


def get_log_filters() -> list[str]:
    """The filters; a copy."""
    return list(logbridge.get_filters())


def get_log_filters_case_sensitive() -> bool:
    """Whether case matters to the filters."""
    return logbridge.bridge.filters_case_sensitive


def clear_log_filters() -> None:
    """Hide nothing, the defaults included."""
    set_log_filters(())


def reset_log_filters() -> None:
    """Back to the default filters."""
    set_log_filters(DEFAULT_FILTERS, case_sensitive=True)


def reset_logging() -> None:
    """Back to the state after import: errors only, default filters."""
    set_verbosity(ERROR)
    reset_log_filters()
