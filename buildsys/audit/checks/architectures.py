"""A CUDA wheel has code for the GPUs of its row: machine code for each that is listed, PTX for those to come."""

from __future__ import annotations

import re
from collections.abc import Iterator

from buildsys.audit.checks.cuda import is_plugin
from buildsys.audit.device_code import DeviceCode, device_code
from buildsys.audit.policy import Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel


def architectures(wheel: Wheel, policy: Policy) -> Outcome:
    """The plugins' machine code and PTX are those of the row, and the PTX is of a kind that newer GPUs accept."""
    cuda = wheel.row.cuda
    if cuda is None:
        return Outcome(detail="no CUDA")
    findings: list[str] = []
    for image in wheel.images:
        if is_plugin(wheel, policy, image):
            code = device_code(image.file_name, wheel.read(image.path))
            findings += (f"{image.path} {finding}" for finding in _compare(code, cuda.architectures))
    return Outcome(detail=", ".join(cuda.architectures), findings=tuple(findings))


def _compare(code: DeviceCode, stated: tuple[str, ...]) -> Iterator[str]:
    expected = {kind: {_number(text) for text in stated if text.endswith(f"-{kind}")} for kind in ("real", "virtual")}
    # Code of 12.x is always compiled for the exact architecture (120a), so that its FP4 instructions can be used.
    real = {_number(text) for text in code.real}
    for missing in sorted(expected["real"] - real):
        yield f"has no machine code for architecture {missing}"
    for surplus in sorted(real - expected["real"]):
        yield f"has machine code for architecture {surplus}, which the build matrix does not list"
    lasting = {_number(text) for text in code.virtual if text.isdecimal()}
    for missing in sorted(expected["virtual"] - lasting):
        bound = sorted(text for text in code.virtual if not text.isdecimal())
        only = f", only of {', '.join(bound)}, which no other GPU accepts" if bound else ""
        yield f"has no PTX of architecture {missing}{only}: newer GPUs cannot run it"
    for surplus in sorted(lasting - expected["virtual"]):
        yield f"has PTX of architecture {surplus}, which the build matrix does not list"


def _number(text: str) -> int:
    match = re.match(r"\d+", text)
    return int(match[0]) if match else 0
