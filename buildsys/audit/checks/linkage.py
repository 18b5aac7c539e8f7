"""Checks of how the native files find each other: each need is met in the wheel or by the system, by one copy each."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator

from buildsys.audit.checks.cuda import may_need_cuda
from buildsys.audit.image import NativeImage
from buildsys.audit.policy import Policy, System, matches
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel

_ORIGIN = re.compile(r"\$(?:ORIGIN|\{ORIGIN\})(?=/|$)")


def inventory(wheel: Wheel, policy: Policy) -> Outcome:
    """The wheel has each library of its build, dlopened plugins included, and no other."""
    system = wheel.system(policy)
    expected = _expected(wheel, policy, system)
    actual = {path.rpartition("/")[2] for path in (*(image.path for image in wheel.images), *wheel.unreadable)}
    findings = [f"{name} is missing" for name in sorted(expected - actual)]
    unknown = sorted(name for name in actual - expected if not matches(name, system.openmp))
    findings.extend(f"{name} is no library of this build" for name in unknown)
    return Outcome(detail=f"{len(expected)} libraries, {len(wheel.row.cpu_variants)} CPU variants", findings=tuple(findings))


def _expected(wheel: Wheel, policy: Policy, system: System) -> set[str]:
    plugins = [*system.plugins, *(system.cpu_variant.format(variant) for variant in wheel.row.cpu_variants)]
    plugins.extend(policy.cuda.plugins if wheel.row.local_version else system.accelerators.get(wheel.row.accelerator, ()))
    plugin_naming = system.plugin_naming or system.naming
    return {system.naming.format(name) for name in system.libraries} | {plugin_naming.format(name) for name in plugins}


def dependencies(wheel: Wheel, policy: Policy) -> Outcome:
    """Each library that a native file needs is reached inside the wheel, or is the system's by the policy."""
    system = wheel.system(policy)
    needs = [(image, need) for image in wheel.images for need in image.needed]
    findings = tuple(finding for image, need in needs if (finding := _unmet(wheel, policy, system, image, need)))
    return Outcome(detail=f"{len(needs)} needs of {len(wheel.images)} native files", findings=findings)


def _unmet(wheel: Wheel, policy: Policy, system: System, image: NativeImage, need: str) -> str | None:
    bundled = [other for other in wheel.images if image.same_name(other.file_name, need)]
    reached = _search_folders(image)
    if any(other.folder in reached for other in bundled):
        return None
    if matches(need, system.system_libraries) or policy.foreign.accepts(image.file_name, need):
        return None
    if may_need_cuda(wheel, policy, image, need):
        return None
    if bundled:
        searched = ":".join(image.search_paths) or "no RUNPATH"
        return f"{image.path} needs {need}, which lies at {bundled[0].path} where {searched} does not reach"
    return f"{image.path} needs {need}, which is neither in the wheel nor a library of the system"


def _search_folders(image: NativeImage) -> set[str]:
    """Folders inside the wheel that the loader searches for `image`."""
    if image.format == "pe":
        return {image.folder}
    return {posixpath.normpath(_ORIGIN.sub(image.folder, path)) for path in image.search_paths if _ORIGIN.match(path)}


def search_paths(wheel: Wheel, _policy: Policy) -> Outcome:
    """RPATH and RUNPATH are relative to the library itself."""
    findings = [
        f"{image.path} searches {path or 'the current folder'!s}, which is not relative to $ORIGIN"
        for image in wheel.images
        for path in image.search_paths
        if not _ORIGIN.match(path)
    ]
    shown = sorted({path for image in wheel.images for path in image.search_paths})
    return Outcome(detail=", ".join(shown) or "none", findings=tuple(findings))


def single_copy(wheel: Wheel, _policy: Policy) -> Outcome:
    """One file per library, called as it calls itself, and by no versioned name."""
    return Outcome(detail=f"{len(wheel.images)} native files", findings=tuple(_copies(wheel)))


def _copies(wheel: Wheel) -> Iterator[str]:
    linked = {need for image in wheel.images for need in image.needed}
    by_content: defaultdict[str, list[str]] = defaultdict(list)
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for image in wheel.images:
        by_content[hashlib.sha256(wheel.read(image.path)).hexdigest()].append(image.path)
        if image.own_name is not None:
            by_name[image.own_name].append(image.path)
            if not image.same_name(image.own_name, image.file_name):
                yield f"{image.path} calls itself {image.own_name}"
        elif image.format == "elf" and image.file_name in linked:
            yield f"{image.path} has no SONAME, though other libraries link it"
        if re.search(r"\.so\.\d", image.file_name):
            yield f"{image.path} has a versioned name, of which a wheel cannot hold the links"
    for paths in by_content.values():
        if len(paths) > 1:
            yield f"the same content in {', '.join(paths)}"
    for name, paths in by_name.items():
        if len(paths) > 1:
            yield f"{name} is the name of {', '.join(paths)}"


def openmp(wheel: Wheel, policy: Policy) -> Outcome:
    """Exactly one OpenMP runtime is bundled, it is the one that was built against, and nothing needs another."""
    findings = tuple(_openmp(wheel, policy, wheel.system(policy)))
    bundled = [image.file_name for image in wheel.images if matches(image.file_name, policy.openmp.runtimes)]
    return Outcome(detail=", ".join(bundled) or "none", findings=findings)


def _openmp(wheel: Wheel, policy: Policy, system: System) -> Iterator[str]:
    bundled = [image for image in wheel.images if matches(image.file_name, policy.openmp.runtimes)]
    if len(bundled) != 1:
        names = ", ".join(image.path for image in bundled) or "none"
        yield f"expected one OpenMP runtime, {' or '.join(system.openmp)}; found {names}"
    for image in bundled:
        if not matches(image.file_name, system.openmp):
            yield f"{image.path} is not the OpenMP runtime of this build, {' or '.join(system.openmp)}"
    needs = {(image.path, need) for image in wheel.images for need in image.needed if matches(need, policy.openmp.runtimes)}
    for path, need in sorted(needs):
        if not any(image.same_name(image.file_name, need) for image in bundled):
            yield f"{path} links {need}, which is not bundled"
    for image in bundled:
        if not any(image.same_name(image.file_name, need) for _, need in needs):
            yield f"no library links {image.path}"


def foreign(wheel: Wheel, policy: Policy) -> Outcome:
    """No library of the building machine is bundled or needed."""
    patterns = policy.foreign.libraries
    bundled = [f"{image.path} comes from the building machine" for image in wheel.images if matches(image.file_name, patterns)]
    needed = [
        f"{image.path} needs {need}"
        for image in wheel.images
        for need in image.needed
        if matches(need, patterns) and not policy.foreign.accepts(image.file_name, need)
    ]
    return Outcome(detail=f"{len(patterns)} patterns", findings=(*bundled, *needed))
