"""The table of checks, in the order in which a report prints them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from buildsys.audit.checks import archive, binaries, contents, conventions, cuda, identity, linkage, platform_tag
from buildsys.audit.policy import Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel

Check = Callable[[Wheel, Policy], Outcome]

CHECKS: Mapping[str, Check] = {
    "names": identity.names,
    "tags": identity.tags,
    "platform-tag": platform_tag.platform_tag,
    "record": archive.record,
    "archive": archive.archive,
    "size": archive.size,
    "contents": contents.contents,
    "layout": contents.layout,
    "conventions": conventions.conventions,
    "licences": contents.licences,
    "abi-data": contents.abi_data,
    "readable": binaries.readable,
    "inventory": linkage.inventory,
    "dependencies": linkage.dependencies,
    "search-paths": linkage.search_paths,
    "single-copy": linkage.single_copy,
    "openmp": linkage.openmp,
    "foreign": linkage.foreign,
    "cuda": cuda.cuda,
    "stripped": binaries.stripped,
    "private-runtime": binaries.private_runtime,
    "interposition": binaries.interposition,
    "hardening": binaries.hardening,
    "build-paths": binaries.build_paths,
}
