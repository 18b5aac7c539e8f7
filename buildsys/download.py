"""Resumable, verified downloads of single files. Where a file lies on the network is its caller's business."""

from __future__ import annotations

import hashlib
import shutil
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import filelock
import requests

from buildsys.download_progress import DownloadProgress
from buildsys.errors import DownloadError

CHUNK = 1 << 16  # at most so much is lost when a connection breaks
RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class HashMismatchError(DownloadError):
    """The bytes that a server sent are not those of the pinned file."""


class SizeMismatchError(DownloadError):
    """The server announces or sends another number of bytes than the pinned file has."""


class ConnectionLostError(DownloadError):
    """The server could not be reached, or kept dropping the connection."""


class RefusedError(DownloadError):
    """The server answered with a status that trying again doesn't change."""


class StorageError(DownloadError):
    """The file could not be written."""


class _RestartError(Exception):
    """What was downloaded before cannot be continued: begin at the first byte."""


class _RetryError(Exception):
    """This attempt failed in a way that another may not."""

    def __init__(self, reason: str, *, delay: float = 0.0) -> None:
        super().__init__(reason)
        self.delay = delay


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How patient a download is; the attempts are counted anew whenever bytes have arrived."""

    attempts: int = 5
    first_delay: float = 1.0
    longest_delay: float = 30.0
    connect_timeout: float = 10.0
    read_timeout: float = 60.0

    def delay(self, failures: int) -> float:
        """Seconds to wait after that many failures in a row."""
        return min(self.first_delay * 2.0 ** (failures - 1), self.longest_delay)


@dataclass(frozen=True, kw_only=True)
class _Job:
    url: str
    target: Path
    sha256: str
    size: int | None
    label: str
    policy: RetryPolicy
    session: requests.Session

    @property
    def part(self) -> Path:
        return self.target.with_name(self.target.name + ".part")

    @property
    def validator(self) -> Path:
        """Holds the ETag or date under which the bytes of `part` came."""
        return self.target.with_name(self.target.name + ".part.validator")

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or "local disk"

    def discard(self) -> None:
        self.part.unlink(missing_ok=True)
        self.validator.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """Hex digest of the file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def matches(path: Path, *, sha256: str, size: int | None = None) -> bool:
    """Whether `path` is a file with that content."""
    if not path.is_file() or (size is not None and path.stat().st_size != size):
        return False
    return sha256_of(path) == sha256


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str,
    size: int | None = None,
    label: str = "",
    policy: RetryPolicy | None = None,
    session: requests.Session | None = None,
) -> Path:
    """Make `target` the file with that hash, downloading from `url` unless it is already there.

    A download that was cut continues where it stopped, in this process or a later one. `target` appears only when it is
    complete and verified. Processes that want the same target wait for each other.

    Raises :class:`~buildsys.errors.DownloadError` or a subclass; what can be continued stays beside `target`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(target.with_name(target.name + ".lock")):
        if matches(target, sha256=sha256, size=size):
            return target
        with requests.Session() if session is None else nullcontext(session) as opened:
            job = _Job(
                url=url,
                target=target,
                sha256=sha256,
                size=size,
                label=label or target.name,
                policy=policy or RetryPolicy(),
                session=opened,
            )
            try:
                with DownloadProgress(job.label, host=job.host, size=size) as progress:
                    _complete(job, progress)
            except OSError as error:
                raise StorageError(
                    f"{job.label} could not be written to {target.parent}: {error.strerror or error}",
                    hint="free some space there, or choose another cache folder",
                ) from error
    return target


def _complete(job: _Job, progress: DownloadProgress) -> None:
    """Bring the part file to its end, verify it and give it its name; a stale beginning gets one fresh start."""
    resumed = job.part.exists()
    while True:
        _transfer(job, progress)
        try:
            _verify(job)
        except (HashMismatchError, SizeMismatchError):
            job.discard()
            if not resumed:
                raise
            progress.note("the continued download doesn't verify; starting again")
            resumed = False
        else:
            progress.at(_length(job.part), job.size)
            job.part.replace(job.target)
            job.validator.unlink(missing_ok=True)
            return


def _transfer(job: _Job, progress: DownloadProgress) -> None:
    failures = 0
    while True:
        before = _length(job.part)
        try:
            _copy_local(job) if job.url.startswith("file:") else _attempt(job, progress)
        except _RestartError:
            job.discard()
        except _RetryError as error:
            failures = 1 if _length(job.part) > before else failures + 1
            if failures >= job.policy.attempts:
                raise ConnectionLostError(
                    f"{job.label} could not be downloaded from {job.host}: {error} ({failures} attempts)",
                    hint="check the network and proxy settings and run the command again; it continues where it stopped",
                ) from error
            delay = min(max(error.delay, job.policy.delay(failures)), job.policy.longest_delay)
            progress.note(f"{error}; trying again in {delay:.0f} s")
            time.sleep(delay)
        else:
            return


def _attempt(job: _Job, progress: DownloadProgress) -> None:
    """One request, from where the part file ends."""
    start = _length(job.part)
    timeout = (job.policy.connect_timeout, job.policy.read_timeout)
    try:
        with job.session.get(job.url, headers=_headers(job, start), stream=True, timeout=timeout) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable and start:
                return  # nothing follows what is here; its hash tells whether that is right
            _check_status(job, response)
            _receive(job, response, start, progress)
    except requests.RequestException as error:
        raise _RetryError(connection_failure(error)) from error


def _headers(job: _Job, start: int) -> dict[str, str]:
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if job.validator.exists():
            headers["If-Range"] = job.validator.read_text(encoding="utf-8")
    return headers


def _check_status(job: _Job, response: requests.Response) -> None:
    status = response.status_code
    if status in RETRIED_STATUS:
        after = response.headers.get("Retry-After", "")
        raise _RetryError(f"{job.host} answered {status} {response.reason}", delay=float(after) if after.isdigit() else 0.0)
    if status not in {requests.codes.ok, requests.codes.partial_content}:
        raise RefusedError(
            f"{job.label} could not be downloaded: {job.host} answered {status} {response.reason}",
            hint="check that the file still exists there and that access needs no login",
        )


def _receive(job: _Job, response: requests.Response, start: int, progress: DownloadProgress) -> None:
    """Write the body behind the first `start` bytes, or over them where the server sent the whole file."""
    if response.status_code == requests.codes.partial_content:
        if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            raise (_RestartError if start else _RetryError(f"{job.host} sent another part of the file than was asked for"))
    else:
        start = 0
    total = _total(response, start)
    expected = job.size if total is None else total
    if job.size is not None and total is not None and total != job.size:
        raise _wrong_size(job, total)
    _keep_validator(job, response)
    position = start
    with job.part.open("ab" if start else "wb") as stream:
        for chunk in response.iter_content(CHUNK):
            stream.write(chunk)
            position += len(chunk)
            progress.at(position, expected)
            if job.size is not None and position > job.size:
                break
    if expected is not None and position < expected:
        raise _RetryError(f"{job.host} closed the connection after {position} of {expected} bytes")


def _total(response: requests.Response, start: int) -> int | None:
    """Length of the whole file, if the server tells it."""
    length = response.headers.get("Content-Range", "").rpartition("/")[2]
    if length.isdigit():
        return int(length)
    length = response.headers.get("Content-Length", "")
    return start + int(length) if length.isdigit() else None


def _keep_validator(job: _Job, response: requests.Response) -> None:
    """Remember what If-Range may name: a strong ETag, else the date."""
    etag = response.headers.get("ETag", "")
    validator = etag if etag.startswith('"') else response.headers.get("Last-Modified", "")
    if validator:
        job.validator.write_text(validator, encoding="utf-8")
    else:
        job.validator.unlink(missing_ok=True)


def _copy_local(job: _Job) -> None:
    source = Path(url2pathname(urlsplit(job.url).path))
    try:
        shutil.copyfile(source, job.part)
    except OSError as error:
        raise RefusedError(f"{job.label} could not be read from {source}: {error.strerror}") from error


def _verify(job: _Job) -> None:
    size = _length(job.part)
    if job.size is not None and size != job.size:
        raise _wrong_size(job, size)
    actual = sha256_of(job.part)
    if actual != job.sha256:
        raise HashMismatchError(
            f"{job.label} from {job.host} has sha256 {actual}, but {job.sha256} is pinned",
            hint="the file on that server was changed, or a proxy rewrote it; don't use it before you know which",
        )


def _wrong_size(job: _Job, size: int) -> SizeMismatchError:
    return SizeMismatchError(
        f"{job.label} from {job.host} has {size} bytes or more, but {job.size} are pinned",
        hint="the file on that server was changed, or a proxy answered in its place",
    )


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


_FAILURES = (  # the first that fits: some of these classes derive from later ones
    (requests.exceptions.SSLError, "the server's certificate could not be verified"),
    (requests.exceptions.ProxyError, "the proxy could not be reached or refused the connection"),
    (requests.exceptions.Timeout, "the server did not answer in time"),
    (requests.exceptions.ChunkedEncodingError, "the connection was cut"),
    (requests.exceptions.ConnectionError, "no connection could be made"),
)


def connection_failure(error: requests.RequestException) -> str:
    """The cause in a few words, without the URL, which may hold a login."""
    if "NameResolutionError" in str(error):
        return "the host name could not be resolved"
    return next((text for kind, text in _FAILURES if isinstance(error, kind)), type(error).__name__)
