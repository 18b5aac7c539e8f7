"""Layout reports against the ctypes classes."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import pytest

from llama_cpp._native.abi import check, record_classes


def layout(kind: Any) -> dict[str, Any]:
    """What C would report of a record if it agreed with ctypes."""
    fields, sizes = {}, {}
    unnamed = getattr(kind, "_anonymous_", ())
    for name, of, *_ in kind._fields_:
        inner = [each[0] for each in of._fields_] if name in unnamed else [name]
        for each in inner:
            fields[each.removesuffix("_")] = getattr(kind, each).offset
            sizes[each.removesuffix("_")] = getattr(kind, each).size
    return {"size": ctypes.sizeof(kind), "align": ctypes.alignment(kind), "fields": fields, "field_sizes": sizes}


@pytest.fixture
def report(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    records = {name: layout(kind) for name, kind in record_classes().items()}
    return tmp_path / "abi.json", records


def differences(report: tuple[Path, dict[str, Any]]) -> list[str]:
    path, records = report
    path.write_text(json.dumps({"headers": {}, "records": records}), encoding="utf-8")
    return [str(difference) for difference in check(path)]


def test_agreement(report: tuple[Path, dict[str, Any]]) -> None:
    assert len(report[1]) > 45
    assert {"llama_batch", "ggml_tensor", "mtmd_context_params", "ggml_backend_graph_copy_struct"} <= set(report[1])
    assert differences(report) == []


def test_nested_members_are_followed(report: tuple[Path, dict[str, Any]]) -> None:
    record = report[1]["ggml_opt_optimizer_params"]
    record["fields"]["sgd.wd"] = record["fields"]["sgd"] + 4
    record["field_sizes"]["sgd.wd"] = 4
    assert record["fields"]["sgd.wd"] == 24
    assert differences(report) == []
    record["fields"]["sgd.wd"] += 4
    assert differences(report) == ["ggml_opt_optimizer_params: offset of sgd.wd is 24 in the bindings, 28 in C"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda batch: batch.update(size=64), "llama_batch: size is 56 in the bindings, 64 in C"),
        (lambda batch: batch.update(align=4), "llama_batch: alignment is 8 in the bindings, 4 in C"),
        (lambda batch: batch["fields"].update(token=4), "llama_batch: offset of token is 8 in the bindings, 4 in C"),
        (lambda batch: batch["field_sizes"].update(n_tokens=8), "llama_batch: size of n_tokens is 4 in the bindings, 8 in C"),
        (lambda batch: batch["fields"].pop("logits"), "llama_batch: offset of logits is 48 in the bindings, None in C"),
    ],
)
def test_every_kind_of_difference_is_found(report: tuple[Path, dict[str, Any]], change: Any, message: str) -> None:
    change(report[1]["llama_batch"])
    assert differences(report) == [message]


def test_members_and_records_on_one_side_only(report: tuple[Path, dict[str, Any]]) -> None:
    batch = report[1]["llama_batch"]
    batch["fields"]["embd_size"], batch["field_sizes"]["embd_size"] = 56, 4
    report[1]["llama_of_tomorrow"] = {"size": 8, "align": 8, "fields": {}, "field_sizes": {}}
    del report[1]["llama_embd"]
    found = differences(report)
    assert "llama_batch: offset of embd_size is None in the bindings, 56 in C" in found
    assert "llama_of_tomorrow: size is None in the bindings, 8 in C" in found
    assert "llama_embd: size is 24 in the bindings, None in C" in found
