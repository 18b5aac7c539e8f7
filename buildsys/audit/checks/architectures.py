"""A CUDA wheel has code for the GPUs of its row: machine code for each that is listed, PTX for those to come."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from buildsys.audit.checks.cuda import is_plugin
from buildsys.audit.device_code import DeviceCode, device_code
from buildsys.audit.policy import Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel
from buildsys.matrix.architectures import numbers

_UNLISTED = "which the build matrix does not list"


def architectures(wheel: Wheel, policy: Policy) -> Outcome:
    """The plugins' machine code and PTX are those of the row, and the PTX is of a kind that newer GPUs accept."""
    cuda = wheel.row.cuda
    if cuda is None:
        return Outcome(detail="no CUDA")
    findings: list[str] = []
    for image in wheel.images:
        if is_plugin(wheel, policy, image):
            code = device_code(image.file_name, wheel.read(image.path))
            findings += (f"{image.path} {finding}" for finding in compare(code, cuda.architectures))
    return Outcome(detail=", ".join(cuda.architectures), findings=tuple(findings))


def compare(code: DeviceCode, stated: Sequence[str]) -> Iterator[str]:
    """What a library's code has too little or too much for the architectures that are `stated` as in the matrix."""
    # Code of 12.x is always compiled for its own GPUs alone (120a), so that its FP4 instructions can be used.
    real = {_number(text) for text in code.real}
    expected = set(numbers(stated, "real"))
    yield from (f"has no machine code for architecture {missing}" for missing in sorted(expected - real))
    yield from (f"has machine code for architecture {surplus}, {_UNLISTED}" for surplus in sorted(real - expected))
    ptx = {f"{number}" for number in numbers(stated, "virtual")}
    yield from (f"has no PTX of architecture {missing}: newer GPUs cannot run it" for missing in sorted(ptx - code.virtual))
    yield from (f"has PTX of architecture {surplus}, {_UNLISTED}" for surplus in sorted(code.virtual - ptx))


def _number(text: str) -> int:
    match = re.match(r"\d+", text)
    return int(match[0]) if match else 0
