from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from benchmarks.arena import Arena
from benchmarks.contestant import Launch
from benchmarks.interleave import MeasurementError
from benchmarks.line import Line
from benchmarks.protocol import Reading, Task
from benchmarks.rows import ROWS, conversion, decode, embeddings, grammar, growth, imports, state, vocabulary
from benchmarks.rows.growth import LONG, SHORT
from tests.benchmarks.fakes import FakeContestant, arena


class GrowingContestant(FakeContestant):
    """Each token costs more the more there are already, as where text is assembled anew for each."""

    def measure(self, task: Task) -> Reading:
        reading = super().measure(task)
        seconds = reading.seconds * (1 + task.tokens / SHORT)
        return dataclasses.replace(reading, seconds=seconds, cpu_seconds=seconds)


def ratios(lines: list[Line]) -> dict[str, tuple[float, str]]:
    return {line.against: (line.figure.value, line.verdict) for line in lines if line.figure is not None}


def test_row_keys_are_unique() -> None:
    assert len({row.key for row in ROWS}) == len(ROWS)


def test_greedy_compares_with_the_loop_the_stand_in_and_the_peer_twice() -> None:
    lines = decode.greedy(arena(FakeContestant(1.0, bare=0.99), FakeContestant(0.1), FakeContestant(1.5, threads=1)))
    assert [str(line.target) for line in lines] == ["≥ 0.98", "≥ 0.93", "≥ 1.25", "≥ 1.25"]
    assert lines[2].against.endswith("its defaults (threads: 1)")
    assert lines[3].against.endswith("its defaults but threads: 4")
    assert {line.verdict for line in lines} == {"met"}


def test_a_peer_with_the_same_threads_runs_once() -> None:
    lines = decode.greedy(arena(FakeContestant(1.0), FakeContestant(1.0), FakeContestant(1.2, threads=4)))
    assert [line.verdict for line in lines] == ["met", "met", "missed"]


def test_without_the_peer_its_line_says_why() -> None:
    lines = decode.greedy(arena(FakeContestant(1.0), FakeContestant(1.0), None, peer_failure="no network"))
    assert lines[-1].failure == "no network"
    assert lines[-1].verdict == "not measured"


def test_a_peer_that_was_left_out_on_purpose_has_no_line() -> None:
    lines = decode.greedy(arena(FakeContestant(1.0), FakeContestant(1.0), None))
    assert [line.failure for line in lines] == ["", ""]


def test_the_default_chain_has_plain_and_streamed_lines() -> None:
    lines = decode.default_chain(arena(FakeContestant(1.0), FakeContestant(1.0), FakeContestant(2.0, threads=4)))
    assert [str(line.target) for line in lines] == ["≥ 0.97", "≥ 1.25", "≥ 0.96", "≥ 1.25"]
    assert [line.measured.split(", ")[1] for line in lines] == ["default chain", "default chain", "streamed", "streamed"]
    assert "streamed" in lines[3].against


def test_chat_compares_with_the_bare_loop_behind_the_rendered_prompt_and_with_the_peer() -> None:
    lines = decode.chat(arena(FakeContestant(1.0, bare=0.96), FakeContestant(1.0), FakeContestant(2.0, threads=4)))
    assert [(str(line.target), line.verdict) for line in lines] == [("≥ 0.95", "met"), ("≥ 1.25", "met")]
    assert decode.CHAT in decode.RENDERED


def test_the_large_vocabulary_must_not_be_slower_than_native() -> None:
    (line,) = vocabulary.large(arena(FakeContestant(1.0, bare=0.9), FakeContestant(9.0), None))
    assert line.verdict == "missed"


def test_a_constant_share_is_flat_and_a_growing_one_is_seen() -> None:
    flat, grown = growth.synthetic(arena(FakeContestant(1.5), FakeContestant(1.0), GrowingContestant(1.0)))
    assert flat.figure is not None
    assert flat.figure.value == pytest.approx(1.0)
    assert flat.verdict == "met"
    assert flat.value is not None
    assert flat.value.value == pytest.approx(0.5e6)
    assert grown.figure is not None
    assert grown.figure.value == pytest.approx(LONG / SHORT)
    assert grown.verdict == ""


class DisturbedContestant(FakeContestant):
    """Another process takes the processor away now and then."""

    def measure(self, task: Task) -> Reading:
        reading = super().measure(task)
        return dataclasses.replace(reading, seconds=reading.seconds * (1 + len(self.journal) % 3))


def test_the_synthetic_share_is_of_cpu_time_so_that_other_processes_do_not_show() -> None:
    (line,) = growth.synthetic(arena(DisturbedContestant(1.5), DisturbedContestant(1.0), None))
    assert line.figure is not None
    assert line.figure.value == pytest.approx(1.0)


def test_a_growing_share_of_ours_misses() -> None:
    (line,) = growth.text_model(arena(GrowingContestant(1.0), FakeContestant(1.0), None))
    assert line.verdict == "missed"


def test_a_share_that_is_not_clear_of_zero_gives_no_figure() -> None:
    assert math.isnan(growth.growth([-1.0, 2.0, 3.0], [1.0, -2.0, 3.0]).value)
    (line,) = growth.text_model(arena(FakeContestant(1.0), FakeContestant(1.0), None))
    assert line.verdict == "lost in noise"


def test_rows_take_the_texts_of_different_lengths_for_different_texts() -> None:
    (line,) = growth.text_model(arena(FakeContestant(1.5), FakeContestant(1.0), None))
    assert line.notes == ()


def test_import_targets_bind_ours_only() -> None:
    assert str(imports.TARGET) == "≤ +40 ms"


def test_what_a_callback_costs_is_a_difference_per_token() -> None:
    class Slower(FakeContestant):
        def measure(self, task: Task) -> Reading:
            reading = super().measure(task)
            extra = (0.0002 if task.processor else 0.0006 if task.logprobs else 0.0) * task.tokens
            return dataclasses.replace(reading, seconds=reading.seconds + extra)

    ours, peer = vocabulary.processor(arena(Slower(0.001), FakeContestant(1.0), Slower(0.01)))
    assert ours.figure is not None
    assert ours.figure.value == pytest.approx(0.2)
    assert (ours.verdict, peer.verdict, str(ours.target)) == ("met", "", "≤ +0.3 ms")
    (line,) = vocabulary.logprobs(arena(Slower(0.001), FakeContestant(1.0), None))
    assert line.figure is not None
    assert (line.figure.value, line.verdict) == (pytest.approx(0.6), "missed")


def test_a_grammar_is_measured_beside_the_same_without() -> None:
    class Held(FakeContestant):
        def measure(self, task: Task) -> Reading:
            reading = super().measure(task)
            return dataclasses.replace(reading, seconds=reading.seconds * (1.05 if task.grammar else 1.0))

    greedy, drawn = grammar.json_object(arena(Held(1.0), FakeContestant(9.0), None))
    assert greedy.figure is not None
    assert greedy.figure.value == pytest.approx(1 / 1.05)
    assert (greedy.verdict, drawn.verdict) == ("met", "met")
    (line,) = grammar.unwilling(arena(Held(1.0), FakeContestant(9.0), None))
    assert (line.target, line.verdict) == (None, "")


def test_conversions_are_measured_in_microseconds_beside_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "printed", lambda _launch, code: 1e-6 * (50 if "range(20)" in code else 700))
    monkeypatch.setattr(conversion.time, "sleep", lambda _seconds: None)
    monkeypatch.setattr(FakeContestant, "launch", Launch(python=Path("python"), module="bare"), raising=False)
    lines = conversion.optional_properties(arena(FakeContestant(1.0), FakeContestant(1.0), FakeContestant(1.0, threads=4)))
    assert [line.verdict for line in lines] == ["met", "", "missed", "", "missed", ""]
    assert str(lines[0].target) == "≤ +80 µs"
    assert lines[0].figure is not None
    assert lines[0].figure.value == pytest.approx(50)


def test_embeddings_together_compare_with_a_native_batch_and_with_one_at_a_time() -> None:
    class Apart(FakeContestant):
        def measure(self, task: Task) -> Reading:
            assert task.texts
            assert task.setup.embeddings
            reading = super().measure(task)
            return dataclasses.replace(reading, seconds=reading.seconds * (3 if task.apart else 1))

    lines = embeddings.short_texts(arena(Apart(1.0, bare=0.97), FakeContestant(1.0), Apart(2.0, threads=4)))
    assert [line.verdict for line in lines] == ["met", "met", ""]
    assert [str(line.target) for line in lines[:2]] == ["≥ 0.95", "≥ 2.00"]


def launching() -> Arena:
    """An arena whose package can be started in new processes."""
    made = arena(FakeContestant(1.0), FakeContestant(1.0), None)
    made.ours.launch = Launch(python=Path("python"), module="", first=("package",))
    return made


def test_a_snapshot_is_measured_by_speed_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    programs: list[str] = []
    monkeypatch.setattr(state, "printed", lambda _launch, code: programs.append(code) or 0.8)
    lines = state.saving(launching())
    assert [(str(line.target), line.verdict) for line in lines] == [("≥ 0.50", "met"), ("≤ 1.00", "met")]
    for code in programs:
        compile(code, "program", "exec")
    assert len(programs) == state.ROUNDS + 1


def test_reuse_is_counted_for_both_kinds_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "printed", lambda _launch, code: compile(code, "program", "exec") and 1.5)
    lines = state.reuse(launching())
    assert [line.verdict for line in lines] == ["missed", "missed"]


def test_a_program_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_launch: object, _code: str) -> float:
        raise MeasurementError("no such model")

    monkeypatch.setattr(state, "printed", fail)
    assert {line.failure for line in state.saving(launching())} == {"no such model"}
