"""A wheel's CUDA label and the CUDA that its libraries link agree, and only plugins link it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from buildsys.audit.image import NativeImage
from buildsys.audit.policy import Policy, matches
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel


def cuda(wheel: Wheel, policy: Policy) -> Outcome:
    """No label, no CUDA; with one, the plugin links that major version, and the core libraries none."""
    label = wheel.row.local_version
    return Outcome(detail=label or "no CUDA", findings=tuple(_cuda(wheel, policy, label)))


def _cuda(wheel: Wheel, policy: Policy, label: str) -> Iterator[str]:
    for image in wheel.images:
        if matches(image.file_name, policy.cuda.driver):
            yield f"{image.path} is the driver's library and must not be bundled"
        elif _major(policy, image.file_name):
            yield f"{image.path} is NVIDIA's and comes with packages of its own: it must not be bundled"
    needs = cuda_needs(wheel, policy)
    for image, need in needs:
        if not label:
            yield f"{image.path} needs {need}, but the version has no CUDA label"
        elif not is_plugin(wheel, policy, image):
            yield f"{image.path} needs {need}, so it does not load on a machine without CUDA"
    linked = {major for _, need in needs if (major := _major(policy, need))}
    if label:
        # cuNNN is the major version and one digit of the minor.
        yield from (f"the version is labelled {label}, but CUDA {major} is linked" for major in sorted(linked - {label[2:-1]}))
        if not linked:
            yield f"the version is labelled {label}, but no library links CUDA"


def cuda_needs(wheel: Wheel, policy: Policy) -> list[tuple[NativeImage, str]]:
    """Every need of CUDA in the wheel, with the file that has it."""
    return [(image, need) for image in wheel.images for need in image.needed if _is_cuda(policy, need)]


def may_need_cuda(wheel: Wheel, policy: Policy, image: NativeImage, need: str) -> bool:
    """Whether `need` is met outside of the wheel, by the driver or by NVIDIA's own wheels, and may be."""
    return bool(wheel.row.local_version) and is_plugin(wheel, policy, image) and _is_cuda(policy, need)


def is_plugin(wheel: Wheel, policy: Policy, image: NativeImage) -> bool:
    """Whether `image` is a backend that is loaded only where CUDA is."""
    naming = wheel.system(policy).naming
    return any(image.same_name(image.file_name, naming.format(name)) for name in policy.cuda.plugins)


def _is_cuda(policy: Policy, name: str) -> bool:
    return matches(name, policy.cuda.driver) or _major(policy, name) is not None


def _major(policy: Policy, name: str) -> str | None:
    found = (re.match(pattern, name) for pattern in policy.cuda.runtime)
    return next((match[1] for match in found if match), None)
