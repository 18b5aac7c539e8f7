"""What METADATA requires: the packages that every wheel needs, and those that bring the CUDA which a plugin links."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from buildsys.audit.checks.cuda import cuda_needs
from buildsys.audit.policy import Policy, matches
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel


def requirements(wheel: Wheel, policy: Policy) -> Outcome:
    """Requirements are exactly those of the policy and the row, and each library of CUDA comes with one of them."""
    stated = [Requirement(text) for text in wheel.headers("METADATA").get_all("Requires-Dist", [])]
    plain = {canonicalize_name(requirement.name): requirement for requirement in stated if "extra" not in str(requirement.marker or "")}
    findings = (*_compare(wheel, policy, plain), *_unmet(wheel, policy, plain))
    return Outcome(detail=", ".join(sorted(plain)) or "none", findings=findings)


def _compare(wheel: Wheel, policy: Policy, plain: dict[NormalizedName, Requirement]) -> Iterator[str]:
    of_row = {canonicalize_name(each.name): each for each in map(Requirement, wheel.row.cuda.requires if wheel.row.cuda else ())}
    common = {canonicalize_name(name) for name in policy.contents.requirements}
    for name in sorted((common | of_row.keys()) - plain.keys()):
        yield f"METADATA does not require {of_row.get(name, name)}"
    for name, requirement in sorted(plain.items()):
        if name in of_row and requirement != of_row[name]:
            yield f"METADATA requires {requirement}, the build matrix {of_row[name]}"
        elif name not in common | of_row.keys():
            yield f"METADATA requires {requirement}, which neither the policy nor the build matrix names"


def _unmet(wheel: Wheel, policy: Policy, plain: dict[NormalizedName, Requirement]) -> Iterator[str]:
    for image, need in cuda_needs(wheel, policy):
        if matches(need, policy.cuda.driver):
            continue
        packages = [provider.package for provider in policy.cuda.provider if matches(need, provider.libraries)]
        if not packages:
            yield f"{image.path} needs {need}, of which the policy knows no package that brings it"
        elif not any(canonicalize_name(package) in plain for package in packages):
            yield f"{image.path} needs {need}, which comes with {' or '.join(packages)}: METADATA does not require it"
