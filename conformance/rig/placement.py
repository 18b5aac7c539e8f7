"""A model loaded in several ways in one child: where its layers and tensors went, what it says, and its logits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import child

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

_PROGRAM = r"""
    import json, logging, re, sys
    import numpy
    lines = []
    class Keep(logging.Handler):
        def emit(self, record):
            lines.append(record.getMessage())
    logging.getLogger("llama-cpp-python").addHandler(Keep())
    import llama_cpp
    from llama_cpp import llama_cpp as native

    def free():
        devices = [device for registry in llama_cpp.system_report().registries for device in registry.devices]
        return sum(device.memory_free for device in devices if "GPU" in device.type)

    job = json.loads(sys.argv[1])
    COMMON = {"n_ctx": 256, "n_threads": 2, "n_threads_batch": 2, "verbosity": 5}
    llama_cpp.Llama(job["model"], **COMMON).close()  # what a device takes once is taken now
    results = []
    for number, settings in enumerate(job["settings"]):
        before = free()
        lines.clear()
        with llama_cpp.Llama(job["model"], **COMMON, **settings) as llama:
            used = before - free()
            completion = llama.create_completion(job["prompt"], max_tokens=job["n_tokens"], temperature=0.0)
            llama.reset()
            llama.eval(llama.tokenize(job["prompt"].encode(), special=True))
            logits = native.llama_get_logits_ith(llama.ctx, -1)
            numpy.save(f"{job['folder']}/{number}.npy", numpy.ctypeslib.as_array(logits, shape=(llama.n_vocab(),)))
        text = "\n".join(lines)
        results.append({
            "text": completion["choices"][0]["text"],
            "used": used,
            "layers": re.findall(r"layer +(\d+) assigned to device (\w+)", text),
            "overridden": re.findall(r"tensor (\S+) \(.*buffer type overridden to (\w+)", text),
        })
    print(json.dumps(results))
"""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """What became of one way of loading a model.

    `layers` are devices by layer number, the output layer being the last; `overridden` buffer types by tensor; `used`
    bytes that the devices' free memory fell by.
    """

    text: str
    logits: npt.NDArray[np.float32]
    layers: dict[int, str]
    overridden: dict[str, str]
    used: int

    def on_gpu(self) -> int:
        """How many layers are not the CPU's."""
        return sum(device != "CPU" for device in self.layers.values())


def place(model: Path, settings: Sequence[Mapping[str, Any]], folder: Path, *, prompt: str, n_tokens: int = 12) -> list[Placement]:
    """Load `model` with each of `settings` in turn, and generate greedily; `folder` takes the logits."""
    job = {"model": str(model), "settings": settings, "folder": str(folder), "prompt": prompt, "n_tokens": n_tokens}
    answers = child.run(_PROGRAM, json.dumps(job)).json()
    return [
        Placement(
            text=answer["text"],
            logits=np.load(folder / f"{number}.npy"),
            layers={int(layer): device for layer, device in answer["layers"]},
            overridden=dict(answer["overridden"]),
            used=answer["used"],
        )
        for number, answer in enumerate(answers)
    ]


def differences(one: Placement, other: Placement) -> tuple[float, float]:
    """Largest and root-mean-square difference between two sets of logits."""
    assert np.isfinite(one.logits).all()
    assert np.isfinite(other.logits).all()
    apart = np.abs(one.logits - other.logits)
    return float(apart.max()), float(np.sqrt((apart**2).mean()))
