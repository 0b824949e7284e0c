"""The machine code that extraction uses."""

from __future__ import annotations

from crawlrank.jobs.kernel.archive.record_headers import RESPONSE_SCAN
from crawlrank.jobs.kernel.markup.scanner import SCAN, TARGETS

CODES = (RESPONSE_SCAN, SCAN, TARGETS)


def prepare() -> None:
    """Make it once, before several processes would, each for itself."""
    for code in CODES:
        code.ready()
