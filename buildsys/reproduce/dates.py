"""The one date that archives bear, whatever day they are made on."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Mapping
from pathlib import Path

from buildsys.errors import ConfigurationError
from buildsys.project import ROOT

VARIABLE = "SOURCE_DATE_EPOCH"
CHANGELOG = ROOT / "CHANGELOG.md"

_RELEASE = re.compile(r"^## \[[^\]]+\] - (\d{4}-\d{2}-\d{2})\s*$", re.MULTILINE)
_BEFORE_THE_FIRST_RELEASE = dt.date(2026, 1, 1)


def source_date_epoch(environment: Mapping[str, str] = os.environ, changelog: Path = CHANGELOG) -> int:
    """Seconds since 1970: what SOURCE_DATE_EPOCH says, or the midnight (UTC) of the newest release in the changelog.

    The changelog is part of every clone and of the source distribution, so both give the same date.

    Raises:
        ConfigurationError: the variable holds no number, or one that a zip archive cannot store.
    """
    stated = environment.get(VARIABLE)
    if stated:
        return _checked(stated)
    dates = [dt.date.fromisoformat(found) for found in _RELEASE.findall(changelog.read_text(encoding="utf-8"))]
    newest = max(dates, default=_BEFORE_THE_FIRST_RELEASE)
    return int(dt.datetime(newest.year, newest.month, newest.day, tzinfo=dt.timezone.utc).timestamp())


def _checked(stated: str) -> int:
    first = int(dt.datetime(1980, 1, 1, tzinfo=dt.timezone.utc).timestamp())
    if not stated.isdecimal() or int(stated) < first:
        message = f"{VARIABLE}={stated} is not the number of seconds of a day since 1980, where the dates of zip archives begin"
        raise ConfigurationError(message, hint=f"unset {VARIABLE}: the changelog then says the date")
    return int(stated)
