"""Git work on `vendor/llama.cpp`: what is there, fetching one verified commit, and making it a submodule."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from buildsys.errors import VendorError

# Nothing may ask for a password, and an unreachable server must not hang: git gives up on a stalled transfer.
_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_HTTP_LOW_SPEED_LIMIT": "1000", "GIT_HTTP_LOW_SPEED_TIME": "30"}
_INHERITED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


ANSWER_SECONDS = 30.0


def git(*arguments: str | os.PathLike[str], cwd: Path, timeout: float | None = None) -> str:
    """Run git in `cwd` and return what it printed.

    Raises:
        VendorError: git is missing, or said no; its own last words are the message.
    """
    environment = {key: value for key, value in os.environ.items() if key not in _INHERITED} | _ENVIRONMENT
    command = ["git", *(os.fspath(argument) for argument in arguments)]
    try:
        result = subprocess.run(
            command, cwd=cwd, env=environment, check=False, capture_output=True, text=True, errors="replace", timeout=timeout
        )
    except FileNotFoundError as error:
        raise VendorError("git is not installed", hint="install git") from error
    except subprocess.TimeoutExpired as error:
        raise VendorError(f"no answer within {timeout:.0f} s") from error
    if result.returncode:
        raise VendorError(result.stderr.strip() or f"{' '.join(command)} failed with exit code {result.returncode}")
    return result.stdout.strip()


def head(folder: Path) -> str:
    """Commit that `folder` itself (not a repository around it) has checked out, or an empty string."""
    if not (folder / ".git").exists():
        return ""
    try:
        return git("rev-parse", "--verify", "HEAD", cwd=folder)
    except VendorError:
        return ""


def is_at(folder: Path, commit: str) -> bool:
    """Whether `folder` has exactly `commit` checked out.

    Raises:
        VendorError: it has, but files were changed: what would be built is not what the pin says.
    """
    if head(folder) != commit:
        return False
    if changed := git("status", "--porcelain", cwd=folder):
        message = f"{folder} differs from the pinned commit:\n{changed}"
        raise VendorError(message, hint=f"git -C {folder} checkout --force {commit} && git -C {folder} clean -fdx")
    return True


def fetch(folder: Path, remote: str, reference: str, commit: str) -> None:
    """Check out `commit` in `folder`, fetched as `reference` of `remote`; every object's hash is verified.

    Raises:
        VendorError: the remote doesn't answer, or delivers another commit; `folder` keeps what it had.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        git("init", "--quiet", cwd=folder)
    git("ls-remote", remote, "HEAD", cwd=folder, timeout=ANSWER_SECONDS)
    git(
        "-c",
        "fetch.fsckObjects=true",
        "-c",
        "protocol.version=2",
        "fetch",
        "--quiet",
        "--no-tags",
        "--depth=1",
        remote,
        reference,
        cwd=folder,
    )
    fetched = git("rev-parse", "FETCH_HEAD^{commit}", cwd=folder)
    if fetched != commit:
        raise VendorError(f"it delivered commit {fetched}, and the pin is {commit}")
    git("checkout", "--quiet", "--detach", commit, cwd=folder)


def adopt(folder: Path, superproject: Path) -> None:
    """Register the checkout as the superproject's submodule, where the superproject is a git checkout."""
    if not (superproject / ".git").exists():
        return
    name = folder.relative_to(superproject).as_posix()
    git("submodule", "--quiet", "init", name, cwd=superproject)
    git("submodule", "--quiet", "absorbgitdirs", name, cwd=superproject)
