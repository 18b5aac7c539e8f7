"""Checks of what a wheel consists of: only what runs, in its place, with every licence and the layout data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from buildsys.audit.policy import Licence, Policy, matches
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel


def contents(wheel: Wheel, policy: Policy) -> Outcome:
    """Nothing but what runs: no headers, import libraries, build files, programs or tests; nothing required is missing."""
    return Outcome(detail=f"{len(wheel.names)} files", findings=tuple(_contents(wheel, policy)))


def _contents(wheel: Wheel, policy: Policy) -> Iterator[str]:
    rules = policy.contents
    for name in wheel.names:
        path = PurePosixPath(name)
        folders = [folder for folder in path.parts[:-1] if matches(folder, rules.forbidden_folders)]
        if folders:
            yield f"{name} lies in a folder {folders[0]}, which no wheel needs"
        elif matches(path.name, rules.forbidden_files):
            yield f"{name} is of a kind that nothing needs at run time"
    for image in wheel.images:
        if image.is_program:
            yield f"{image.path} is a program, not a library"
    for name in sorted(set(rules.required) - set(wheel.names)):
        yield f"{name} is missing"


def layout(wheel: Wheel, policy: Policy) -> Outcome:
    """Two folders at the top; the library folder holds libraries and their data, and no other folder holds libraries."""
    return Outcome(detail=policy.contents.library_folder, findings=tuple(_layout(wheel, policy)))


def _layout(wheel: Wheel, policy: Policy) -> Iterator[str]:
    rules = policy.contents
    native = {image.path for image in wheel.images} | wheel.unreadable.keys()
    for top in sorted({name.split("/")[0] for name in wheel.names} - {rules.package, wheel.dist_info}):
        yield f"{top} at the top level belongs to neither {rules.package} nor {wheel.dist_info}"
    for name in wheel.names:
        folder, _, file = name.rpartition("/")
        inside = folder == rules.library_folder or folder.startswith(f"{rules.library_folder}/")
        if name in native and folder != rules.library_folder:
            yield f"{name} is a native file outside of {rules.library_folder}"
        elif inside and name not in native and not (folder == rules.library_folder and file == rules.abi_data):
            yield f"{name} is no library, and nothing that belongs beside one"


def licences(wheel: Wheel, policy: Policy) -> Outcome:
    """Every bundled component's licence is in dist-info, as is every file that METADATA names as one."""
    prefix = f"{wheel.dist_info}/licenses/"
    found = {name.removeprefix(prefix): wheel.read(name).decode("utf-8", "replace") for name in wheel.names if name.startswith(prefix)}
    findings = [finding for licence in policy.licence if (finding := _missing(licence, found))]
    declared = wheel.headers("METADATA").get_all("License-File", [])
    findings.extend(f"METADATA names {name}, which is not in {prefix}" for name in declared if name not in found)
    return Outcome(detail=f"{len(policy.licence)} components, {len(found)} files", findings=tuple(findings))


def _missing(licence: Licence, found: dict[str, str]) -> str | None:
    named = [name for name in found if matches(name, licence.files)]
    if not named:
        return f"no licence of {licence.component}: no file like {' or '.join(licence.files)}"
    if not any(re.search(licence.text, found[name]) for name in named):
        return f"{', '.join(named)}: not the licence of {licence.component}, as {licence.text!r} does not occur"
    return None


def abi_data(wheel: Wheel, policy: Policy) -> Outcome:
    """The record layouts that the C compiler stated are there, as a JSON object with at least one record."""
    name = f"{policy.contents.library_folder}/{policy.contents.abi_data}"
    try:
        data = msgspec.json.decode(wheel.read(name))
    except msgspec.DecodeError as error:
        return Outcome(detail=name, findings=(f"{name} is not JSON: {error}",))
    records = data.get("records") if isinstance(data, dict) else None
    if not isinstance(records, (dict, list)) or not records:
        return Outcome(detail=name, findings=(f"{name} has no records",))
    return Outcome(detail=f"{len(records)} records")
