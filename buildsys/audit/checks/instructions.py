"""Check of the code itself: a CPU variant has the instructions that it is chosen for, and no other library has them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from buildsys.audit.elf import code_of
from buildsys.audit.policy import InstructionSet, Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel


def instructions(wheel: Wheel, policy: Policy) -> Outcome:
    """Flags that got lost on the way to the compiler make a variant slow; flags that spread make a library crash."""
    rules = [rule for rule in policy.instruction_set if rule.machine == wheel.machine]
    findings = tuple(_instructions(wheel, policy, rules)) if rules else ()
    return Outcome(detail=", ".join(rule.name for rule in rules) or f"no rules for {wheel.machine}", findings=findings)


def _instructions(wheel: Wheel, policy: Policy, rules: list[InstructionSet]) -> Iterator[str]:
    system = wheel.system(policy)
    for image in wheel.images:
        if image.format != "elf":
            continue
        sections = [np.frombuffer(code, "<u4", len(code) // 4) for code in code_of(wheel.read(image.path))]
        words = np.concatenate([np.empty(0, "<u4"), *sections])
        for rule in rules:
            variants = {system.naming.format(system.cpu_variant.format(variant)) for variant in rule.variants}
            count = _count(words, rule)
            if count and image.file_name not in variants:
                yield f"{image.path} has {count} {rule.name} instructions, which not every processor that loads it knows"
            elif not count and image.file_name in variants:
                yield f"{image.path} has no {rule.name} instruction, though processors are chosen by it"


def _count(words: npt.NDArray[np.uint32], rule: InstructionSet) -> int:
    return sum(int(np.count_nonzero(words & np.uint32(mask) == np.uint32(value))) for mask, value in rule.words)
