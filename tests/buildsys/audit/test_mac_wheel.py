"""A wheel for macOS, in small: sound, and with the faults that only such a wheel can have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from buildsys.audit import AuditReport, audit_wheel
from buildsys.audit.checks import conventions

from .macho_files import dylib
from .recipes import BINDINGS, LIB, VARIANTS, Recipe, linux_wheel, row

ROWS = (row("macos_arm64-metal", "macosx_14_0_arm64"), row("macos_x86_64-cpu", "macosx_14_0_x86_64"))
SYSTEM = "/usr/lib/libSystem.B.dylib"
METAL = "/System/Library/Frameworks/Metal.framework/Versions/A/Metal"


def put(recipe: Recipe, file: str, needs: Sequence[str] = (), **properties: object) -> None:
    """Put a library into the wheel, with `properties` as :func:`dylib` takes them; a plugin has no install name."""
    bundled = [need if need.startswith("/") else f"@rpath/{need}" for need in needs]
    settings: dict[str, object] = {
        "name": f"@rpath/{file}" if file.endswith(".dylib") else "",
        "needed": [*bundled, SYSTEM],
        "payload": file.encode(),
    }
    recipe.files[f"{LIB}/{file}"] = dylib(**(settings | properties))  # type: ignore[arg-type]


def mac_wheel(machine: str = "aarch64") -> Recipe:
    recipe = Recipe(platform=ROWS[0].platform_tag if machine == "aarch64" else ROWS[1].platform_tag)
    recipe.files[BINDINGS] = linux_wheel().files[BINDINGS]
    put(recipe, "libomp.dylib", rpaths=[], exports=["__kmpc_fork_call"], machine=machine)
    put(recipe, "libggml-base.dylib", ["libomp.dylib"], exports=["ggml_init"], machine=machine)
    put(recipe, "libggml.dylib", ["libggml-base.dylib"], exports=["ggml_backend_load"], machine=machine)
    put(recipe, "libllama.dylib", ["libggml.dylib", "libggml-base.dylib"], exports=["llama_decode"], machine=machine)
    put(recipe, "libllama-common.dylib", ["libllama.dylib"], machine=machine)
    put(recipe, "libmtmd.dylib", ["libllama.dylib"], exports=["mtmd_encode"], machine=machine)
    for backend in ("rpc", "blas", *(f"cpu-{variant}" for variant in VARIANTS)):
        put(recipe, f"libggml-{backend}.so", ["libggml-base.dylib"], exports=["ggml_backend_init"], machine=machine)
    if machine == "aarch64":
        put(recipe, "libggml-metal.so", ["libggml-base.dylib", METAL], exports=["ggml_backend_init"])
    return recipe


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Recipe], AuditReport]:
    monkeypatch.setattr(conventions, "linter_findings", lambda *_: ())
    return lambda recipe: audit_wheel(recipe.write(tmp_path), rows=ROWS)


def failures(report: AuditReport) -> dict[str, tuple[str, ...]]:
    return {check.name: check.findings for check in report.failed}


@pytest.mark.parametrize("machine", ["aarch64", "x86_64"])
def test_a_sound_wheel_passes_every_check(machine: str, audit: Callable[[Recipe], AuditReport]) -> None:
    assert failures(audit(mac_wheel(machine))) == {}


@pytest.mark.parametrize(
    ("file", "needs", "properties", "expected"),
    [
        ("libmtmd.dylib", ["libllama.dylib"], {"signed": False}, ("hardening", "not signed")),
        ("libmtmd.dylib", ["libllama.dylib"], {"oldest": (15, 2)}, ("platform-tag", "for macOS 15.2")),
        ("libmtmd.dylib", ["libllama.dylib"], {"dwarf": True}, ("stripped", "__DWARF")),
        ("libmtmd.dylib", ["libllama.dylib"], {"exports": ["_ZNSt3__16vectorE"]}, ("private-runtime", "_ZNSt3__16vectorE")),
        ("libmtmd.dylib", ["libllama.dylib"], {"rpaths": ["@loader_path", "/opt/homebrew/lib"]}, ("search-paths", "/opt/homebrew/lib")),
        ("libmtmd.dylib", ["libllama.dylib"], {"name": "@rpath/libmtmd.0.dylib"}, ("single-copy", "calls itself libmtmd.0.dylib")),
        ("libmtmd.dylib", ["libllama.dylib", "/opt/homebrew/lib/libjpeg.8.dylib"], {}, ("dependencies", "libjpeg.8.dylib")),
        ("libmtmd.dylib", ["libllama.dylib"], {"machine": "x86_64"}, ("readable", "built for x86_64")),
        ("libggml-vulkan.so", ["libggml-base.dylib"], {}, ("inventory", "libggml-vulkan.so is no library of this build")),
    ],
)
def test_a_fault_fails_its_check(
    file: str, needs: list[str], properties: dict[str, object], expected: tuple[str, str], audit: Callable[[Recipe], AuditReport]
) -> None:
    wheel = mac_wheel()
    put(wheel, file, needs, **({"exports": ["mtmd_encode"]} | properties))
    found = failures(audit(wheel))
    check, finding = expected
    assert any(finding in text for text in found.get(check, ())), found


def test_metal_is_a_part_of_its_own_wheel_alone(audit: Callable[[Recipe], AuditReport]) -> None:
    wheel = mac_wheel()
    del wheel.files[f"{LIB}/libggml-metal.so"]
    assert failures(audit(wheel))["inventory"] == ("libggml-metal.so is missing",)
