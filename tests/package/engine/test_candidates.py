from __future__ import annotations

import ctypes

import numpy as np

from llama_cpp._engine.candidates import CANDIDATE, Candidates
from llama_cpp._native.bindings import llama


def test_the_layout_is_that_of_c() -> None:
    assert CANDIDATE.itemsize == ctypes.sizeof(llama.llama_token_data)


def test_fill_and_read_back() -> None:
    candidates = Candidates(4)
    candidates.fill(np.array([0.5, 1.5, -1.0], np.float32))
    assert [(each.id, each.logit, each.p) for each in candidates.struct.data[:3]] == [(0, 0.5, 0), (1, 1.5, 0), (2, -1.0, 0)]
    assert (candidates.size, candidates.selected, candidates.selected_token) == (3, -1, -1)
    candidates.struct.size = 2
    candidates.struct.selected = 1
    assert candidates.selected_token == 1
    assert candidates.data["logit"].tolist() == [0.5, 1.5]


def test_a_selection_out_of_range_counts_as_none() -> None:
    candidates = Candidates(4)
    candidates.fill_tokens([7, 9], 0.0)
    candidates.struct.selected = 2
    assert candidates.selected_token == -1


def test_a_sampler_may_point_elsewhere() -> None:
    candidates = Candidates(2)
    candidates.fill_tokens([7, 9], 0.0)
    other = (llama.llama_token_data * 1)((42, 1.0, 0.5))
    candidates.struct.data = ctypes.cast(other, ctypes.POINTER(llama.llama_token_data))
    candidates.struct.size = 1
    candidates.struct.selected = 0
    assert candidates.selected_token == 42
    candidates.fill_tokens([5], 0.0)
    candidates.struct.selected = 0
    assert candidates.selected_token == 5
