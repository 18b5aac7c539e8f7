"""How cibuildwheel is told to build one row of the matrix: its options, as environment variables.

The work is done by this build system's own stages: `compile` before the build frontend runs, `repair` after it.
"""

from __future__ import annotations

import shlex

from buildsys.matrix import BuildRow
from buildsys.pipeline.wheel import packaging_variables

_FRONTEND = "pip; args: --no-build-isolation"
# git refuses a repository of another user's, which is what the project is once it was copied into a container.
_TRUST_PROJECT = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}


def options(row: BuildRow) -> dict[str, str]:
    """Variables for a `cibuildwheel --only` of this row's build identifier.

    The libraries are compiled in `before-build`, where the row's Python comes first on PATH on every system; a `py3-none`
    wheel needs one Python, so that it runs once.
    """
    native = f"build/native/{row.identifier}"
    prepare = ["python -m pip install --group build", f"python -m buildsys compile {row.identifier} --output {native}"]
    variables = {
        "CIBW_BUILD_FRONTEND": _FRONTEND,
        "CIBW_BEFORE_BUILD": " && ".join(prepare),
        "CIBW_CONFIG_SETTINGS": f"cmake.define.LLAMA_CPP_PREBUILT={{project}}/{native}",
        "CIBW_REPAIR_WHEEL_COMMAND": f"python -m buildsys repair {{wheel}} --output {{dest_dir}} --native {native}",
        "CIBW_ENVIRONMENT": " ".join(f"{name}={shlex.quote(value)}" for name, value in _variables_of_build(row).items()),
    }
    if row.container:
        variables[f"CIBW_MANYLINUX_{row.machine.upper()}_IMAGE"] = row.container
    return variables


def _variables_of_build(row: BuildRow) -> dict[str, str]:
    variables = packaging_variables(row)
    if row.system == "macos":
        variables["MACOSX_DEPLOYMENT_TARGET"] = ".".join(row.platform_tag.split("_")[1:3])
    return {**variables, **_TRUST_PROJECT} if row.container else variables
