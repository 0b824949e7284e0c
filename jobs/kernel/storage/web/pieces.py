"""What a web server says of a file, and pieces of it, by one request each."""

from __future__ import annotations

import email.utils
from typing import NamedTuple

from crawlrank.jobs.kernel.storage.web.bodies import Body, KnownFile
from crawlrank.jobs.kernel.storage.web.requests import require_web_url


class Facts(NamedTuple):
    """What a server says of a file. size: None if it does not say. modified: ns since 1970."""

    size: int | None
    etag: str
    modified: int | None


def facts_of(url: str) -> Facts:
    """By one request, for a byte of the file. Raises Unreachable."""
    return beginning_of(url, 1)[0]


def beginning_of(url: str, count: int) -> tuple[Facts, bytes]:
    """What the server says of a file, and its first bytes, by one request. Raises Unreachable."""
    require_web_url(url)
    known = KnownFile(url)
    answer = known.ask(0, count)
    body = Body(known, answer, 0, min(count, answer.size) if answer.size is not None else None)
    data = _read(body, count)
    return Facts(answer.size, answer.etag, _nanoseconds(answer.modified)), data


def range_of(url: str, begin: int, count: int) -> bytes:
    """Fewer bytes only at the end of the file. Raises Unreachable."""
    require_web_url(url)
    known = KnownFile(url)
    answer = known.ask(begin, begin + count)
    end = begin + count if answer.size is None else min(begin + count, answer.size)
    return _read(Body(known, answer, begin, None if answer.size is None else end), count)


def _read(body: Body, count: int) -> bytes:
    data = bytearray()
    try:
        while len(data) < count and (more := body.read(count - len(data))):
            data += more
    finally:
        body.close()
    return bytes(data)


def _nanoseconds(date: str) -> int | None:
    """Of an HTTP date; None if it is not one."""
    try:
        return int(email.utils.parsedate_to_datetime(date).timestamp()) * 10**9
    except (ValueError, TypeError, OverflowError):
        return None
