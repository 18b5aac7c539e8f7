"""Entering a root: what is shown inside, what can be written, and which variables come along."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from buildsys.systems.chamber import HOME, Chamber, Mount, carried_in

ROOT = Path("/cache/root")
SCRATCH = "/tmp"  # noqa: S108 - inside, where it is private


def test_the_root_is_read_only_after_all_is_mounted() -> None:
    mounts = (Mount(outside=Path("/a"), inside=HOME / "a"), Mount(outside=Path("/b"), inside=HOME / "b", writable=True))
    words = Chamber(program="bwrap", root=ROOT, mounts=mounts).command(["true"])
    text = " ".join(words)
    assert text.startswith("bwrap --bind /cache/root / --tmpfs /proof --ro-bind /a /proof/a --bind /b /proof/b --remount-ro")
    assert text.endswith("-- true")
    assert "--unshare-net" in words
    assert "--die-with-parent" in words


def test_nothing_of_the_callers_environment_comes_along() -> None:
    words = Chamber(program="bwrap", root=ROOT).command(["env"], variables={"A": "1"}, cwd="/proof/x")
    settings = {words[index + 1]: words[index + 2] for index, word in enumerate(words) if word == "--setenv"}
    assert words.index("--clearenv") < words.index("--setenv")
    assert settings == {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": SCRATCH, "LANG": "C.UTF-8", "A": "1"}
    assert words[words.index("--chdir") + 1] == "/proof/x"


def test_more_mounts_leave_the_chamber_as_it_was() -> None:
    chamber = Chamber(program="bwrap", root=ROOT)
    more = chamber.with_mounts(Mount(outside=Path("/a"), inside=HOME / "a"))
    assert (len(chamber.mounts), len(more.mounts)) == (0, 1)


def test_variables_that_name_paths_name_them_inside(tmp_path: Path) -> None:
    model = tmp_path / "small.gguf"
    model.touch()
    mounts, inside = carried_in(
        {"MODEL": str(model), "TREE": str(tmp_path), "GONE": str(tmp_path / "gone"), "REQUIRED": "1", "RELATIVE": "."}
    )
    assert inside == {
        "MODEL": "/proof/material/MODEL/small.gguf",
        "TREE": f"/proof/material/TREE/{tmp_path.name}",
        "GONE": str(tmp_path / "gone"),
        "REQUIRED": "1",
        "RELATIVE": ".",
    }
    assert {mount.outside: mount.inside for mount in mounts} == {
        model: PurePosixPath(inside["MODEL"]),
        tmp_path: PurePosixPath(inside["TREE"]),
    }
    assert not any(mount.writable for mount in mounts)


@pytest.mark.skipif(not sys.platform.startswith("linux") or shutil.which("bwrap") is None, reason="bubblewrap is not here")
def test_a_program_inside_can_write_where_it_may_only(tmp_path: Path) -> None:
    """This machine's own root serves as one: with bubblewrap itself, so that its options are real."""
    private = tmp_path / "root"
    (private / "proof").mkdir(parents=True)
    for name in ("usr", "proc", "dev", "sys", "tmp"):
        (private / name).mkdir()
    for name in ("bin", "lib", "lib64"):
        (private / name).symlink_to(f"usr/{name}")
    shown, kept = tmp_path / "shown", tmp_path / "kept"
    shown.mkdir()
    kept.mkdir()
    chamber = Chamber(program=str(shutil.which("bwrap")), root=private, mounts=(Mount(outside=Path("/usr"), inside=HOME / "usr"),))
    for name in ("bin", "lib", "lib64"):
        (private / name).unlink()
        (private / name).symlink_to(f"proof/usr/{name}")
    chamber = chamber.with_mounts(Mount(outside=shown, inside=HOME / "shown"), Mount(outside=kept, inside=HOME / "kept", writable=True))
    script = 'for place in / /proof /proof/shown /proof/kept /tmp; do (echo x > "$place/file") 2>/dev/null && echo "$place"; done; true'
    done = subprocess.run(chamber.command(["/bin/sh", "-c", script]), capture_output=True, text=True, check=False)
    if done.returncode and "ermission" in done.stderr:
        pytest.skip(f"bubblewrap may not make namespaces here: {done.stderr.strip()}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["/proof/kept", SCRATCH]
    assert (kept / "file").is_file()
