"""Originals by the id that revisits name."""

from __future__ import annotations

from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture
from crawlrank.jobs.stages.select_links.captures import BY_ID
from crawlrank.jobs.stages.select_links.originals import OriginalsJob


class SelectLinksId(OriginalsJob):
    WORD = BY_ID

    def name_of(self, key: bytes, capture: Capture) -> bytes | None:
        return None if capture.id == UNKNOWN else capture.id


if __name__ == "__main__":
    SelectLinksId.run()
