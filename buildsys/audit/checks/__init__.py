"""The table of checks, in the order in which a report prints them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from buildsys.audit.checks import (
    architectures,
    archive,
    binaries,
    bindings,
    contents,
    conventions,
    cuda,
    identity,
    instructions,
    linkage,
    materials,
    platform_tag,
    requirements,
)
from buildsys.audit.policy import Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel

Check = Callable[[Wheel, Policy], Outcome]

CHECKS: Mapping[str, Check] = {
    "names": identity.names,
    "tags": identity.tags,
    "platform-tag": platform_tag.platform_tag,
    "requirements": requirements.requirements,
    "record": archive.record,
    "archive": archive.archive,
    "size": archive.size,
    "contents": contents.contents,
    "layout": contents.layout,
    "conventions": conventions.conventions,
    "licences": contents.licences,
    "sbom": materials.materials,
    "abi-data": contents.abi_data,
    "bindings": bindings.bindings,
    "readable": binaries.readable,
    "inventory": linkage.inventory,
    "dependencies": linkage.dependencies,
    "search-paths": linkage.search_paths,
    "single-copy": linkage.single_copy,
    "openmp": linkage.openmp,
    "foreign": linkage.foreign,
    "cuda": cuda.cuda,
    "architectures": architectures.architectures,
    "stripped": binaries.stripped,
    "private-runtime": binaries.private_runtime,
    "interposition": binaries.interposition,
    "hardening": binaries.hardening,
    "instructions": instructions.instructions,
    "build-paths": binaries.build_paths,
}
