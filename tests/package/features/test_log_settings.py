"""Names and shorthands for the verbosity of native logging."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from llama_cpp._features import log_settings


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = log_settings.current_config()
    yield
    log_settings.set_verbosity(before.verbosity)
    log_settings.set_log_filters(before.log_filters, case_sensitive=before.log_filters_case_sensitive)


@pytest.mark.parametrize(
    ("value", "level"),
    [(True, 5), (False, 1), (3, 3), (99, 5), (-1, 0), ("debug", 5), ("Quiet", 2), ("none", 0), ("trc", 4), ("2", 2)],
)
def test_levels(value: Any, level: int) -> None:
    assert log_settings.level(value) == level


def test_a_level_without_meaning() -> None:
    with pytest.raises(ValueError, match="verbosity"):
        log_settings.level("loud")


def test_the_strongest_wish_counts() -> None:
    assert log_settings.configure_logging(silent=True, quiet=True, verbosity=5, verbose=True).verbosity == 1
    assert log_settings.configure_logging(silent=True, show_output=False).verbosity == 0
    assert log_settings.configure_logging(quiet=True, verbosity=5, verbose=True).verbosity == 2
    assert log_settings.configure_logging(verbosity="info", verbose=True).verbosity == 3
    assert log_settings.configure_logging(verbose=False).verbosity == 1
    assert log_settings.configure_logging().verbosity == 1


def test_filters() -> None:
    log_settings.reset_log_filters()
    defaults = log_settings.get_log_filters()
    log_settings.add_log_filters("noise")
    log_settings.add_log_filters(["noise", "more"])
    assert log_settings.get_log_filters() == [*defaults, "noise", "more"]
    log_settings.clear_log_filters()
    assert log_settings.get_log_filters() == []
    config = log_settings.configure_logging(log_filters="one", append_log_filters=True, log_filters_case_sensitive=False)
    assert (config.log_filters, config.log_filters_case_sensitive) == (("one",), False)
    log_settings.reset_logging()
    assert (log_settings.get_log_filters(), log_settings.get_verbosity()) == (defaults, 1)
