"""What the user allows beyond https:// and public addresses. It is in the environment, which all
processes of a run share."""

from __future__ import annotations

import os

ALLOW_PRIVATE, ALLOW_HTTP = "CRAWLRANK_ALLOW_PRIVATE", "CRAWLRANK_ALLOW_HTTP"


def is_allowed(variable: str) -> bool:
    """Whether it is set, and not to ''."""
    return bool(os.environ.get(variable))
