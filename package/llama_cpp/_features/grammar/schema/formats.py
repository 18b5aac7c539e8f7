"""Formats of strings as regular expressions, each from the standard that defines it, and formats that constrain no text.

Where a standard leaves spellings open, one is chosen: capital T and Z in times, no leap seconds. Host names have at most
three labels of at most 63 characters, which keeps them below the limit of 253.
"""

from __future__ import annotations

_YEAR = r"(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP_YEAR = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DAYS = r"(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])"
_DATE = f"(?:{_YEAR}-(?:{_DAYS})|{_LEAP_YEAR}-02-29)"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_NUMBER = r"(?:0|[1-9][0-9]*)"

_OCTET = r"(?:[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"
_GROUP = "[0-9a-fA-F]{1,4}"
_TAIL = f"(?:{_GROUP}:{_GROUP}|{_IPV4})"
_IPV6 = "|".join(
    (
        f"(?:{_GROUP}:){{6}}{_TAIL}",
        f"::(?:{_GROUP}:){{5}}{_TAIL}",
        f"(?:{_GROUP})?::(?:{_GROUP}:){{4}}{_TAIL}",
        *(f"(?:(?:{_GROUP}:){{0,{before}}}{_GROUP})?::(?:{_GROUP}:){{{4 - before}}}{_TAIL}" for before in (1, 2, 3, 4)),
        f"(?:(?:{_GROUP}:){{0,5}}{_GROUP})?::{_GROUP}",
        f"(?:(?:{_GROUP}:){{0,6}}{_GROUP})?::",
    )
)

_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{0,2}}"
_ATOM = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+"
_EMAIL = rf"{_ATOM}(?:\.{_ATOM})*@{_HOST}"

_UNRESERVED = "[a-zA-Z0-9._~-]"
_PERCENT = "%[0-9a-fA-F]{2}"
_SUB = "[!$&'()*+,;=]"
_PCHAR = f"(?:{_UNRESERVED}|{_PERCENT}|{_SUB}|[:@])"
_AUTHORITY = (
    f"(?:(?:{_UNRESERVED}|{_PERCENT}|{_SUB}|:)*@)?"
    rf"(?:\[(?:{_IPV6})\]|(?:{_UNRESERVED}|{_PERCENT}|{_SUB})*)(?::[0-9]*)?"
)
_ENDING = rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?"
_ABSOLUTE = f"(?://{_AUTHORITY}(?:/{_PCHAR}*)*|/(?:{_PCHAR}+(?:/{_PCHAR}*)*)?|{_PCHAR}+(?:/{_PCHAR}*)*|)"
_NO_SCHEME = f"(?:{_UNRESERVED}|{_PERCENT}|{_SUB}|@)+(?:/{_PCHAR}*)*"
_RELATIVE = f"(?://{_AUTHORITY}(?:/{_PCHAR}*)*|/(?:{_PCHAR}+(?:/{_PCHAR}*)*)?|{_NO_SCHEME}|)"
_URI = rf"[a-zA-Z][a-zA-Z0-9+.-]*:{_ABSOLUTE}{_ENDING}"

_DATE_SPAN = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)"
_TIME_SPAN = "T(?:[0-9]+S|[0-9]+M(?:[0-9]+S)?|[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?)"

PATTERNS: dict[str, str] = {
    name: f"^(?:{pattern})$"
    for name, pattern in {
        "date": _DATE,
        "time": _TIME,
        "date-time": f"{_DATE}T{_TIME}",
        "duration": f"P(?:{_DATE_SPAN}(?:{_TIME_SPAN})?|{_TIME_SPAN}|[0-9]+W)",
        "uuid": "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        "email": _EMAIL,
        "hostname": _HOST,
        "ipv4": _IPV4,
        "ipv6": _IPV6,
        "uri": _URI,
        "uri-reference": f"{_URI}|{_RELATIVE}{_ENDING}",
        "json-pointer": "(?:/(?:[^~/]|~[01])*)*",
        "relative-json-pointer": f"{_NUMBER}(?:#|(?:/(?:[^~/]|~[01])*)*)",
    }.items()
}
"""By the name of the format: RFC 3339, 4122, 5321 with 1123, 2673, 4291, 3986, 6901; in ECMA-262 syntax."""

ANNOTATIONS = frozenset(
    {
        "binary",
        "byte",
        "char",
        "decimal",
        "directory-path",
        "double",
        "file-path",
        "float",
        "int32",
        "int64",
        "json-string",
        "password",
        "path",
    }
)
"""Formats of OpenAPI and pydantic that say what a text is for: they constrain nothing."""
