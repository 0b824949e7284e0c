"""The machine code that extraction uses."""

from __future__ import annotations

from crawlrank.jobs.kernel.archive.record_headers import RESPONSE_SCAN
from crawlrank.jobs.kernel.markup.link_words import WORDS
from crawlrank.jobs.kernel.markup.scanner import SCAN, TARGETS

CODES = (RESPONSE_SCAN, SCAN, TARGETS, WORDS)


def prepare(*, anchor_text: bool = False) -> None:
    """Make it once, before several processes would, each for itself. anchor_text: that of the words
    of links, too."""
    for code in CODES:
        if anchor_text or code is not WORDS:
            code.ready()
