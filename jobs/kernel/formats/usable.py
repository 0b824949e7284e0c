"""Which lines of links and captures have URIs of pages: absolute ones, http or https, in UTF-8.

surt makes a key of nearly anything: it takes `javascript:alert(1)` for a host, and `1` too. Text of
other programs has such URIs. Every runner leaves these lines out, and counts them by reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.keys.keys import KeyFunction, Www, shared_key_function

NOT_UTF8 = "not-utf-8"
DROPPED = "dropped."
_HTTP = re.compile(rb"https?://[^/?#\\]", re.IGNORECASE).match


def why_unusable(line: bytes, *uris: bytes) -> str:
    """Why a line with these URIs counts for nothing: `not-utf-8`, or a reason of uris.py, such as
    `invalid` and `scheme.javascript`; '' where nothing is wrong."""
    if not line.isascii() and not _is_utf8(line):
        return NOT_UTF8
    for uri in uris:
        if not _HTTP(uri):
            return _reason(uri)
    return ""


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _reason(uri: bytes) -> str:
    from crawlrank.jobs.kernel.keys.uris import as_crawled  # its parser takes a while to load

    reason = as_crawled(uri.decode())
    return reason if isinstance(reason, str) else "invalid"


def usable_key_function(www: Www = "strip") -> KeyFunction:
    """A function like `key_function`, which gives None also for what is no URI of a page."""
    own: Callable[[bytes], bytes | None] = shared_key_function(www)
    return lambda uri: None if why_unusable(uri, uri) else own(uri)


def require_usable(where: str, kept: int, counters: Mapping[str, int]) -> None:
    """Raises BadInput where lines were left out and none is kept."""
    reasons = {
        name.removeprefix(DROPPED): count
        for name, count in sorted(counters.items())
        if name.startswith(DROPPED) and not name.startswith(f"{DROPPED}hop.") and count
    }
    if kept or not reasons:
        return
    listed = ", ".join(f"{name} {count:,}" for name, count in reasons.items())
    raise BadInput(
        where,
        f"no line has URIs of pages (left out: {listed})",
        "absolute URIs that begin with http:// or https://",
        "Give keys or numbers to `crawlrank step import-text --canonical-links`, with `--order"
        " source-target` if the source comes first, as in most edge lists.",
    )
