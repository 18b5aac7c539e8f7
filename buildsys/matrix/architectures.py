"""Which GPUs a CUDA wheel has code for: the rules of such a list, in CMake's spelling, and how people say it.

`NN-real` is machine code, for the GPUs of that compute capability and its later minors. `NN-virtual` is PTX, which the driver
compiles for every GPU from that capability on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ARCHITECTURE = re.compile(r"(\d{2,3})-(real|virtual)")
# ggml's CMake file makes 12X to 12Xa, whose FP4 instructions it uses: NVIDIA calls that architecture-specific.
_SPECIFIC = range(120, 130)


def check(stated: Sequence[str]) -> None:
    """Let pass what a wheel may be compiled for: machine code, ascending, then PTX that GPUs to come accept.

    Raises:
        ValueError: it says what is wrong with the list.
    """
    if not stated:
        raise ValueError("architectures must list one at least")
    if not all(_ARCHITECTURE.fullmatch(text) for text in stated):
        raise ValueError(f"architectures must be NN-real or NN-virtual: {', '.join(stated)}")
    real, virtual = numbers(stated, "real"), numbers(stated, "virtual")
    if list(stated) != [*(f"{number}-real" for number in sorted(set(real))), *(f"{number}-virtual" for number in sorted(set(virtual)))]:
        raise ValueError("architectures must be machine code (NN-real), ascending, and then PTX (NN-virtual), ascending")
    if not virtual:
        raise ValueError("architectures must end with PTX (NN-virtual), for GPUs to come")
    if is_specific(virtual[-1]):
        raise ValueError(
            f"{virtual[-1]}-virtual would be PTX for that GPU alone, since ggml compiles it as {virtual[-1]}a; end with a lower one"
        )
    highest = max((number for number in real if not is_specific(number)), default=0)
    if virtual[-1] < highest:
        raise ValueError(f"architectures must end with PTX of the highest that later GPUs accept: {highest}-virtual")


def numbers(stated: Sequence[str], kind: str) -> list[int]:
    """Those of one kind, `real` or `virtual`, in the list's order: 90 for `90-real`."""
    found = (_ARCHITECTURE.fullmatch(text) for text in stated)
    return [int(part[1]) for part in found if part and part[2] == kind]


def is_specific(number: int) -> bool:
    """Whether ggml compiles this architecture for its own GPUs alone, as `120a`: no other GPU accepts that code."""
    return number in _SPECIFIC


def in_words(stated: Sequence[str]) -> str:
    """The lowest and the highest: `sm_75 to 121`, or `sm_75` where there is one only."""
    found = [*numbers(stated, "real"), *numbers(stated, "virtual")]
    first, last = min(found), max(found)
    return f"sm_{first}" if first == last else f"sm_{first} to {last}"
