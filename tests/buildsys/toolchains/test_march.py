"""Translating -march for Zig: every ARM variant of the matrix, what is refused, and the same meaning as in Clang."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from buildsys import toolchains
from buildsys.matrix import select_one
from buildsys.project import cache_dir

SCRIPT = Path(toolchains.__file__).with_name("march_to_mcpu.sh")
VARIANTS = {
    "armv8.0_1": ("armv8-a", "generic+v8a"),
    "armv8.2_1": ("armv8.2-a+dotprod", "generic+v8_2a+dotprod"),
    "armv8.2_2": ("armv8.2-a+dotprod+fp16", "generic+v8_2a+dotprod+fullfp16"),
    "armv8.2_3": ("armv8.2-a+dotprod+fp16+sve", "generic+v8_2a+dotprod+fullfp16+sve"),
    "armv8.6_1": ("armv8.6-a+dotprod+fp16+sve+i8mm", "generic+v8_6a+dotprod+fullfp16+sve+i8mm"),
    "armv8.6_2": ("armv8.6-a+dotprod+fp16+sve+i8mm+sve2", "generic+v8_6a+dotprod+fullfp16+sve+i8mm+sve2"),
    "armv9.2_1": ("armv9.2-a+dotprod+fp16+sve+i8mm+sme", "generic+v9_2a+dotprod+fullfp16+sve+i8mm+sme"),
    "armv9.2_2": ("armv9.2-a+dotprod+fp16+sve+i8mm+sve2+sme", "generic+v9_2a+dotprod+fullfp16+sve+i8mm+sve2+sme"),
}
# Clang derives it from fp16 for ARMv8.4 and later; no kernel of llama.cpp asks for it.
NOT_DERIVED = "__ARM_FEATURE_FP16_FML"

pytestmark = pytest.mark.skipif(not shutil.which("sh"), reason="launchers are sh scripts")


def launched(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the lines as a launcher does, with a program that prints its arguments."""
    text = SCRIPT.read_text(encoding="utf-8") + "exec printf '%s\\n' \"$@\"\n"
    return subprocess.run(["sh", "-c", text, "launchers/cc", *arguments], check=False, capture_output=True, text=True)


def test_every_variant_of_the_matrix_is_known() -> None:
    assert set(VARIANTS) == set(select_one("linux_aarch64-cpu").cpu_variants)


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants(variant: str) -> None:
    march, mcpu = VARIANTS[variant]
    assert launched(f"-march={march}").stdout == f"-mcpu={mcpu}\n"


def test_a_feature_without_a_rule_keeps_its_name() -> None:
    assert launched("-march=armv9-a+sve2p1+lse").stdout == "-mcpu=generic+v9a+sve2p1+lse\n"


def test_all_else_stays_as_it_is_and_in_its_place() -> None:
    words = ['-DTEXT="two words"', "-I", "a folder", "*", "", "+", "-march=armv8-a", "-O3", "-mtune=native"]
    expected = [*words[:6], "-mcpu=generic+v8a", *words[7:]]
    assert launched(*words).stdout.splitlines() == expected


@pytest.mark.parametrize(
    "march", ["native", "armv8-r", "armv7-a", "armv8.2", "armv8.10-a", "armv10-a", "x86-64-v3", "", "armv9.2-a+sme+nosve"]
)
def test_what_has_no_translation_is_refused(march: str) -> None:
    done = launched("-c", f"-march={march}", "-O3")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"cc: no -mcpu of Zig's is known for -march={march}\n"


def installed_root() -> Path | None:
    """Where `prepare` installed the toolchain, if it did."""
    return next(iter((cache_dir() / "toolchains").glob("zig-aarch64-*/ziglang")), None)


@pytest.mark.skipif(installed_root() is None, reason="the toolchain zig-aarch64 is not installed: a build of linux_aarch64-cpu does that")
@pytest.mark.parametrize("variant", VARIANTS)
def test_clang_itself_gives_the_same_meaning(variant: str, tmp_path: Path) -> None:
    """Zig carries the whole Clang, which knows -march: both must define the same features to the code."""
    root = installed_root()
    assert root
    source = tmp_path / "empty.c"
    source.touch()
    march, mcpu = VARIANTS[variant]

    def features(*command: str) -> set[str]:
        said = subprocess.run([root / "zig", *command, "-dM", "-E", source], check=True, capture_output=True, text=True).stdout
        return {line for line in said.splitlines() if line.startswith("#define __ARM_") and NOT_DERIVED not in line}

    by_clang = features("clang", "--target=aarch64-linux-gnu", f"-march={march}")
    assert "#define __ARM_ARCH_ISA_A64 1" in by_clang
    assert features("cc", "-target", "aarch64-linux-gnu.2.28", f"-mcpu={mcpu}") == by_clang
