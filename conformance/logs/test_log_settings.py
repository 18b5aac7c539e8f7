"""The native log: how much is shown, what is hidden, where it goes; one for the process."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from rig import child, material

from llama_cpp import Llama, _logger

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "llama-cpp-python"


class Lines(logging.Handler):
    """What the logger hands out."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def texts(self) -> list[str]:
        return [record.getMessage() for record in self.records]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    _logger.reset_logging()


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler = Lines()
    logging.getLogger(NAME).addHandler(handler)
    yield handler
    logging.getLogger(NAME).removeHandler(handler)


def load(**options: Any) -> None:
    Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, n_threads=1, **options).close()


def shown(lines: Lines, **options: Any) -> list[logging.LogRecord]:
    lines.records.clear()
    load(**options)
    return list(lines.records)


def test_each_level_shows_what_the_one_below_shows_and_more(lines: Lines) -> None:
    counts = [len(shown(lines, verbosity=level)) for level in range(6)]
    assert counts == sorted(counts)
    assert counts[:2] == [0, 0]
    assert counts[1] < counts[3] < counts[5]
    assert {record.levelno for record in shown(lines, verbosity=3)} >= {logging.INFO}
    assert all(record.levelno >= logging.INFO for record in shown(lines, verbosity=3))
    assert logging.DEBUG in {record.levelno for record in shown(lines, verbosity=5)}


@pytest.mark.parametrize(
    ("options", "level"),
    [
        ({}, 5),
        ({"verbose": True}, 5),
        ({"verbose": False}, 1),
        ({"verbose": True, "verbosity": 2}, 2),
        ({"verbose": False, "verbosity": 3}, 3),
        ({"verbosity": "warn"}, 2),
        ({"verbosity": 9}, 5),
        ({"verbosity": False}, 1),
    ],
)
def test_the_constructor_sets_the_level(options: dict[str, Any], level: int) -> None:
    with Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, n_threads=1, **options) as llama:
        assert llama.get_verbosity() == llama.verbosity == _logger.get_verbosity() == level
        assert llama.verbose is (level > 1)


def test_a_level_without_meaning_is_refused() -> None:
    with pytest.raises(ValueError, match="verbosity must be 0 to 5"):
        load(verbosity="loud")


def test_the_settings_are_one_for_the_process(lines: Lines) -> None:
    path = str(material.model(material.SYNTH_LLAMA))
    with Llama(path, n_ctx=64, verbose=False) as first, Llama(path, n_ctx=64, verbosity=2) as second:
        assert first.get_verbosity() == 2
        first.set_verbosity("info")
        assert second.get_verbosity() == 3
        first.add_log_filters("one")
        assert "one" in second.get_log_filters()
    assert lines.records == []


def test_filters_hide_lines_and_nothing_else(lines: Lines) -> None:
    everything = [record.getMessage() for record in shown(lines, verbosity=3)]
    hidden = [text for text in everything if "llama_model_loader" in text]
    assert hidden
    with Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbose=False) as llama:
        llama.reset_log_filters()
        defaults = llama.get_log_filters()
        assert set(defaults) == {"CUDA Graph", "CUDA graph"}
        llama.set_log_filters(["llama_model_loader"])
        assert llama.get_log_filters() == ["llama_model_loader"]
        assert not [record for record in shown(lines, verbosity=3) if "llama_model_loader" in record.getMessage()]
        assert len(lines.records) > len(everything) // 4
        llama.set_log_filters("LLAMA_MODEL_LOADER")
        assert [record for record in shown(lines, verbosity=3) if "llama_model_loader" in record.getMessage()]
        llama.set_log_filters("LLAMA_MODEL_LOADER", case_sensitive=False)
        assert not [record for record in shown(lines, verbosity=3) if "llama_model_loader" in record.getMessage()]
        llama.clear_log_filters()
        assert llama.get_log_filters() == []
        llama.add_log_filters(["a", "b"])
        llama.add_log_filters("a")
        assert llama.get_log_filters() == ["a", "b"]
        llama.reset_log_filters()
        assert llama.get_log_filters() == defaults


def test_filters_of_the_constructor_are_in_force_while_it_loads(lines: Lines) -> None:
    found = shown(lines, verbosity=3, log_filters=["LLAMA_MODEL_LOADER"], log_filters_case_sensitive=False)
    assert found
    assert not [record for record in found if "llama_model_loader" in record.getMessage()]
    assert _logger.get_log_filters_case_sensitive() is False
    shown(lines, verbosity=1)
    assert _logger.get_log_filters() == ["LLAMA_MODEL_LOADER"], "without filters of its own a model leaves them alone"
    _logger.reset_log_filters()
    load(verbosity=1, log_filters_case_sensitive=False)
    assert (_logger.get_log_filters_case_sensitive(), len(_logger.get_log_filters())) == (False, 2)


@pytest.mark.logs_native_errors
def test_an_exception_quotes_lines_that_are_not_shown(tmp_path: Any, lines: Lines) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model at all")
    with pytest.raises(ValueError, match="invalid magic"):
        Llama(str(broken), verbosity=0, log_filters=["invalid magic", "load"])
    assert lines.records == []


def test_a_handler_that_fails_never_reaches_native_code() -> None:
    class Failing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError(record)

    handler = Failing()
    logging.getLogger(NAME).addHandler(handler)
    try:
        with Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbosity=5) as llama:
            assert llama("one", max_tokens=2)["usage"]["completion_tokens"] == 2
    finally:
        logging.getLogger(NAME).removeHandler(handler)


def test_pythons_own_level_silences_too(lines: Lines) -> None:
    before = _logger.logger.level
    _logger.logger.setLevel(logging.CRITICAL)
    try:
        assert shown(lines, verbosity=5) == []
    finally:
        _logger.logger.setLevel(before)


WHERE = """
    import json, logging, sys
    if sys.argv[2] == "configured":
        logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="ROOT %(message)s")
    from llama_cpp import Llama
    Llama(sys.argv[1], n_ctx=64, verbosity=int(sys.argv[3])).close()
"""


@pytest.mark.parametrize(("setting", "level"), [("alone", 5), ("alone", 1), ("configured", 3), ("configured", 1)])
def test_where_lines_go(setting: str, level: int) -> None:
    """To standard error, until the program sets up logging itself; never both, and never to standard output."""
    ended = child.run(WHERE, material.model(material.SYNTH_LLAMA), setting, level)
    assert ended.code == 0
    alone = setting == "alone"
    assert bool(ended.err) is (alone and level > 1)
    assert bool(ended.out) is (not alone and level > 1)
    assert all(line.startswith("ROOT ") for line in ended.out.splitlines() if "llama_model_loader" in line)


def test_names_of_both_lineages() -> None:
    assert _logger.logger is logging.getLogger(NAME)
    assert [getattr(_logger, name) for name in ("OUTPUT", "ERROR", "WARN", "INFO", "TRACE", "DEBUG")] == list(range(6))
    assert _logger.llama_log_callback is _logger.ggml_log_callback
    assert _logger.GGML_LOG_LEVEL_TO_LOGGING_LEVEL[4] == logging.ERROR
    _logger.set_verbose(True)
    assert _logger.get_verbosity() == 5
    _logger.set_verbose(False)
    assert _logger.get_verbosity() == 1
    _logger.set_quiet()
    assert _logger.get_verbosity() == 2
    _logger.set_silent()
    assert _logger.get_verbosity() == 1
    assert _logger.configure_logging(silent=True, quiet=True, verbosity=5).verbosity == 1
    assert isinstance(_logger.configure_logging(), _logger.LoggerConfig)
