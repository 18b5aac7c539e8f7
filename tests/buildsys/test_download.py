from __future__ import annotations

import concurrent.futures
import hashlib
import random
from typing import TYPE_CHECKING

import filelock
import pytest

from buildsys import download
from buildsys.download import (
    ConnectionLostError,
    HashMismatchError,
    RefusedError,
    RetryPolicy,
    SizeMismatchError,
    StorageError,
    fetch,
)
from tests.buildsys.file_server import FileServer, Served, file_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = random.Random(7).randbytes(700_000)  # noqa: S311 - no secret
SHA256 = hashlib.sha256(CONTENT).hexdigest()
CUT = 300_000
RESUMED = f"bytes={CUT - CUT % download.CHUNK}-"  # whole chunks are kept
EAGER = RetryPolicy(attempts=3, first_delay=0.0, longest_delay=0.0, connect_timeout=5.0, read_timeout=5.0)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as running:
        yield running


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "model.gguf"


def leftovers(target: Path) -> set[str]:
    return {path.name for path in target.parent.iterdir()} - {target.name, f"{target.name}.lock"}


def get(server: FileServer, target: Path, **options: object) -> Path:
    arguments = {"sha256": SHA256, "size": len(CONTENT), "policy": EAGER, **options}
    return fetch(f"{server.url}/file", target, **arguments)  # type: ignore[arg-type]


def test_a_file_arrives_whole_and_leaves_nothing_beside_it(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT)
    assert get(server, target) == target
    assert target.read_bytes() == CONTENT
    assert leftovers(target) == set()


def test_a_file_that_is_there_needs_no_request(server: FileServer, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(CONTENT)
    get(server, target)
    assert server.requests == []


def test_a_damaged_file_is_fetched_again(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT)
    target.parent.mkdir()
    target.write_bytes(b"x" + CONTENT[1:])
    get(server, target)
    assert target.read_bytes() == CONTENT


def test_a_cut_download_goes_on_where_it_stopped(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT, cuts=[CUT])
    get(server, target)
    assert target.read_bytes() == CONTENT
    assert server.ranges() == ["", RESUMED]
    assert server.requests[1]["If-Range"] == '"one"'


def test_a_later_call_goes_on_where_an_earlier_one_gave_up(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT, cuts=[CUT])
    with pytest.raises(ConnectionLostError):
        get(server, target, policy=RetryPolicy(attempts=1))
    assert not target.exists()
    get(server, target)
    assert server.ranges() == ["", RESUMED]
    assert target.read_bytes() == CONTENT


def test_a_file_that_changed_on_the_server_is_not_patched_together(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(bytes(len(CONTENT)), etag='"old"', cuts=[CUT])
    with pytest.raises(ConnectionLostError):
        get(server, target, policy=RetryPolicy(attempts=1))
    server.files["/file"] = Served(CONTENT, etag='"new"')
    get(server, target)
    assert target.read_bytes() == CONTENT
    assert len(server.requests) == 2


def test_without_a_validator_the_hash_finds_the_change_and_the_download_starts_over(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(bytes(len(CONTENT)), etag="", cuts=[CUT])
    with pytest.raises(ConnectionLostError):
        get(server, target, policy=RetryPolicy(attempts=1))
    server.files["/file"] = Served(CONTENT, etag="")
    get(server, target)
    assert target.read_bytes() == CONTENT
    assert server.ranges() == ["", RESUMED, ""]


@pytest.mark.parametrize("fault", ["ignore_range", "wrong_range"])
def test_a_server_without_working_ranges_still_serves(server: FileServer, target: Path, fault: str) -> None:
    served = server.files["/file"] = Served(CONTENT, cuts=[CUT])
    setattr(served, fault, True)
    get(server, target)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("extra", [b"", b"more"], ids=["complete", "too-long"])
def test_a_part_file_that_ended_before_it_was_renamed(server: FileServer, target: Path, extra: bytes) -> None:
    server.files["/file"] = Served(CONTENT)
    target.parent.mkdir()
    target.with_name("model.gguf.part").write_bytes(CONTENT + extra)
    get(server, target)
    assert target.read_bytes() == CONTENT
    assert leftovers(target) == set()


def test_wrong_bytes_are_refused_and_not_kept(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT[:-1] + b"!" if CONTENT[-1:] != b"!" else CONTENT[:-1] + b"?")
    with pytest.raises(HashMismatchError, match=rf"127\.0\.0\.1 has sha256 \w+, but {SHA256} is pinned"):
        get(server, target)
    assert not target.exists()
    assert leftovers(target) == set()


def test_a_wrong_size_is_refused_before_the_body_is_read(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT + b"tail", cuts=[0])
    with pytest.raises(SizeMismatchError, match=f"{len(CONTENT) + 4} bytes"):
        get(server, target)
    assert not target.with_name("model.gguf.part").exists()
    assert len(server.requests) == 1


def test_a_body_without_length_that_is_too_long_is_refused(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT + b"tail", hide_length=True)
    with pytest.raises(SizeMismatchError):
        get(server, target)
    assert leftovers(target) == set()


def test_a_body_without_length_that_is_cut_is_continued(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT, hide_length=True, cuts=[CUT])
    get(server, target)
    assert target.read_bytes() == CONTENT


def test_a_busy_server_is_asked_again(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT, statuses=[503, 429])
    get(server, target)
    assert len(server.requests) == 3


def test_attempts_are_counted_anew_after_progress(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT, cuts=[100_000] * 6)
    get(server, target)
    assert target.read_bytes() == CONTENT


def test_a_missing_file_is_not_asked_for_again(server: FileServer, target: Path) -> None:
    with pytest.raises(RefusedError, match="answered 404"):
        get(server, target)
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_named_with_the_reason(target: Path) -> None:
    with pytest.raises(ConnectionLostError, match=r"from 127\.0\.0\.1: no connection could be made \(3 attempts\)") as caught:
        fetch("http://user:secret@127.0.0.1:9/file", target, sha256=SHA256, policy=EAGER)
    assert "secret" not in caught.value.message
    assert caught.value.hint


def test_file_urls_are_copied_and_verified(tmp_path: Path, target: Path) -> None:
    source = tmp_path / "with space.bin"
    source.write_bytes(CONTENT)
    fetch(source.as_uri(), target, sha256=SHA256)
    assert target.read_bytes() == CONTENT
    with pytest.raises(RefusedError, match=r"nowhere\.bin"):
        fetch((tmp_path / "nowhere.bin").as_uri(), target, sha256="0" * 64)


def test_a_folder_that_cannot_be_written_is_named(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT)
    target.with_name("model.gguf.part").mkdir(parents=True)
    with pytest.raises(StorageError, match="could not be written"):
        get(server, target)


def test_progress_goes_to_stderr_in_one_line_at_each_end(server: FileServer, target: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server.files["/file"] = Served(CONTENT)
    get(server, target, label="[demo]")
    out, err = capfd.readouterr()
    assert out == ""
    first, last = err.splitlines()
    assert first == "downloading [demo] from 127.0.0.1"
    assert last.startswith("downloaded [demo]: 0.7 MB in ")


def test_who_wants_the_same_file_waits_and_then_finds_it(server: FileServer, target: Path) -> None:
    server.files["/file"] = Served(CONTENT)
    target.parent.mkdir()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with filelock.FileLock(f"{target}.lock"):
            waiting = pool.submit(get, server, target)
            with pytest.raises(concurrent.futures.TimeoutError):
                waiting.result(timeout=0.3)
            target.write_bytes(CONTENT)
        assert waiting.result(timeout=30) == target
    assert server.requests == []
