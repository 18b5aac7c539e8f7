"""What the package binds and what its libraries export belong together."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from buildsys.audit.policy import Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel


def bindings(wheel: Wheel, policy: Policy) -> Outcome:
    """Every function that the generated bindings look up in a core library is exported there, by one of its names."""
    rules = policy.bindings
    naming = wheel.system(policy).naming
    files = {owner: {naming.format(name) for name in names} for owner, names in rules.owners.items()}
    exported = {
        owner: frozenset().union(*(image.exports for image in wheel.images if image.file_name in names)) for owner, names in files.items()
    }
    sources = [name for name in wheel.names if name.startswith(f"{rules.folder}/") and name.endswith(".py")]
    bound = [function for name in sources for function in _bound(wheel.read(name).decode(), rules.decorator)]
    findings = [
        f"{' and '.join(sorted(files[owner]))} lack {names[0]}, which the package binds"
        for owner, names in bound
        if not exported[owner].intersection(names)
    ]
    return Outcome(detail=f"{len(bound)} functions", findings=tuple(findings))


def _bound(source: str, decorator: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The owner of each declared function, and the names that it is looked up by."""
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for call in node.decorator_list:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == decorator:
                stated = next((ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg == "symbols"), (node.name,))
                yield ast.literal_eval(call.args[0]), tuple(stated)
