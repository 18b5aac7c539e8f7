"""Logging of native code: the Python logger it arrives at, and how much of it is shown."""

from ._engine.logbridge import (
    DEBUG,
    DEFAULT_FILTERS,
    ERROR,
    GGML_LOG_LEVEL_TO_LOGGING_LEVEL,
    INFO,
    OUTPUT,
    TRACE,
    WARN,
    logger,
)
from ._engine.logbridge import callback as ggml_log_callback
from ._engine.logbridge import callback as llama_log_callback
from ._features.log_settings import (
    LoggerConfig,
    add_log_filters,
    clear_log_filters,
    configure_logging,
    get_log_filters,
    get_log_filters_case_sensitive,
    get_verbosity,
    reset_log_filters,
    reset_logging,
    set_log_filters,
    set_quiet,
    set_silent,
    set_verbose,
    set_verbosity,
)

__all__ = [
    "DEBUG",
    "DEFAULT_FILTERS",
    "ERROR",
    "GGML_LOG_LEVEL_TO_LOGGING_LEVEL",
    "INFO",
    "OUTPUT",
    "TRACE",
    "WARN",
    "LoggerConfig",
    "add_log_filters",
    "clear_log_filters",
    "configure_logging",
    "get_log_filters",
    "get_log_filters_case_sensitive",
    "get_verbosity",
    "ggml_log_callback",
    "llama_log_callback",
    "logger",
    "reset_log_filters",
    "reset_logging",
    "set_log_filters",
    "set_quiet",
    "set_silent",
    "set_verbose",
    "set_verbosity",
]
