"""Originals by the URI and the time that revisits name."""

from __future__ import annotations

from crawlrank.jobs.kernel.formats.rows import Capture
from crawlrank.jobs.stages.select_links.captures import BY_TIME
from crawlrank.jobs.stages.select_links.originals import OriginalsJob


class SelectLinksTimestamp(OriginalsJob):
    WORD = BY_TIME

    def name_of(self, key: bytes, capture: Capture) -> bytes:
        return b"%s %s" % (key, capture.timestamp)


if __name__ == "__main__":
    SelectLinksTimestamp.run()
