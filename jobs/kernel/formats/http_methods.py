"""Methods of HTTP requests (RFC 9110, 9; RFC 4918), as records and indexes have them."""

from __future__ import annotations

import re

OTHER_METHOD = "other"
_REQUEST = re.compile(rb"[\r\n]*([A-Za-z][A-Za-z-]{0,30})[ \t]+(?=([^\r\n]*HTTP/[0-9])?)")
_LONGEST_REQUEST_LINE = 2**14
_METHODS = frozenset({  # of RFC 9110, of WebDAV and what proxies have; others are one
    *("HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "QUERY", "PURGE"),
    *("PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH"),
})  # fmt: skip


def method_of(request: bytes) -> str:
    """Of the block of a request record, as `method_named`; '' of what is no request of HTTP."""
    if request.startswith(b"GET "):
        return ""
    line = _REQUEST.match(request[:_LONGEST_REQUEST_LINE])
    method = method_named(line[1].decode()) if line else ""
    return "" if method == OTHER_METHOD and line and not line[2] else method


def method_named(name: str) -> str:
    """In capital letters; '' for GET, `other` for what is no method of the table."""
    name = name.strip().upper()
    return "" if name in ("", "-", "GET") else name if name in _METHODS else OTHER_METHOD
