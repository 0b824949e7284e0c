"""What the user allows: beyond https:// and public addresses, and how long without a record. It is
in the environment, which all processes of a run share."""

from __future__ import annotations

import os

ALLOW_PRIVATE, ALLOW_HTTP = "CRAWLRANK_ALLOW_PRIVATE", "CRAWLRANK_ALLOW_HTTP"


def is_allowed(variable: str) -> bool:
    """Whether it is set, and not to ''."""
    return bool(os.environ.get(variable))


#: of reading a file on the web without a record: seconds of waiting, and bytes
WEB_TIME, WEB_BYTES = "CRAWLRANK_WEB_TIME", "CRAWLRANK_WEB_BYTES"
LIMITS = {WEB_TIME: 3 * 60 * 60, WEB_BYTES: 1 << 36}


def limit(variable: str) -> int:
    return int(os.environ.get(variable) or LIMITS[variable])
