"""Fixtures for programs that sit on `llama_cpp`: the model that they are pointed at."""

from __future__ import annotations

import pytest
from rig import material


@pytest.fixture
def model_path() -> str:
    return str(material.model(material.TRANSFORMER))
