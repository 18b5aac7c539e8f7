from __future__ import annotations

import pytest

from benchmarks.statistics import difference, figure, ratio


def test_a_figure_is_the_median_between_its_quartiles() -> None:
    result = figure([5.0, 1.0, 3.0, 2.0, 4.0])
    assert (result.low, result.value, result.high) == (2.0, 3.0, 4.0)


def test_a_single_value_is_its_own_quartiles() -> None:
    result = figure([7.0])
    assert (result.low, result.value, result.high) == (7.0, 7.0, 7.0)


def test_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        figure([])


def test_ratios_are_taken_round_by_round_so_that_drift_cancels() -> None:
    slow, fast = [10.0, 20.0, 40.0], [20.0, 40.0, 80.0]
    result = ratio(fast, slow)
    assert (result.low, result.value, result.high) == (2.0, 2.0, 2.0)


def test_one_disturbed_round_does_not_move_the_ratio() -> None:
    assert ratio([2.0, 2.0, 200.0, 2.0, 2.0], [1.0] * 5).value == 2.0


def test_differences_keep_their_sign() -> None:
    assert difference([1.0, 2.0], [3.0, 4.0]).value == -2.0


def test_rounds_of_unequal_number_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ratio([1.0, 2.0], [1.0])
