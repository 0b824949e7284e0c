"""What a response says about the version of its page: Last-Modified and ETag (RFC 9110, 8.8)."""

from __future__ import annotations

from datetime import timezone
from email.utils import parsedate_to_datetime

from crawlrank.jobs.kernel.archive.record_headers import Fields, every
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.kernel.keys.uris import field

LONGEST_DATE = 64  # characters; a date of HTTP has 29 to 33
LONGEST_TAG = 256  # bytes; one that is cut would be equal to others


def modified_of(fields: Fields) -> bytes:
    """Last-Modified as 14 digits, UTC; `-` if it is absent, no date, or there with two values."""
    text = _only(fields, "last-modified")
    try:
        date = parsedate_to_datetime(text if len(text) <= LONGEST_DATE else "")
        date = date.astimezone(timezone.utc) if date.tzinfo else date  # dates of HTTP are in UTC
    except (ValueError, TypeError, IndexError, OverflowError):  # what that makes of other texts
        return UNKNOWN
    return b"%04d%02d%02d%02d%02d%02d" % date.timetuple()[:6]


def etag_of(fields: Fields) -> bytes:
    """ETag with its quotes and the `W/` of a weak one, escaped; `-` if it is absent, longer than
    any in use, or there with two values."""
    tag = field(_only(fields, "etag"), LONGEST_TAG + 1)
    return tag if len(tag) <= LONGEST_TAG else UNKNOWN


def _only(fields: Fields, name: str) -> str:
    """The value of the fields of that name, if it is one."""
    values = set(every(fields, name))
    return values.pop() if len(values) == 1 else ""
