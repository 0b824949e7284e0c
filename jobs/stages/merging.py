"""What canonicalize and the last stage of fold_keys share: they write repeated links and spellings
of a key once."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.lines import format_uri_row, parse_link_or_uri_row
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, UriRow
from crawlrank.jobs.kernel.formats.side_lines import URIS
from crawlrank.jobs.mapreduce.job import Job, KeyValue

SPELLING, LINK = b"U", b"V"  # of a key, the spellings come before the links
Counts = tuple[int, int, bytes]  # captures, links, last timestamp


def added(a: Counts, b: Counts) -> Counts:
    """The counts of two sets of lines together; `-` sorts before every timestamp."""
    return a[0] + b[0], a[1] + b[1], max(a[2], b[2])


def keyed(line: bytes) -> KeyValue:
    """A line of canonical links or of uris as a pair for MergingJob. Raises BadLine."""
    row = parse_link_or_uri_row(line)
    if isinstance(row, UriRow):
        return row.key, SPELLING + line.partition(b"\t")[2]
    return row.target_key, LINK + row.source_key


class MergingJob(Job):
    """Its map gives a pair for each key: LINK with a source, or SPELLING with a row of uris."""

    DATASET = "canonical_links"
    SIDE_DATASETS = ("uris",)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        uri, counts, source = b"", (0, 0, UNKNOWN), b""
        for value in values:
            if value[:1] == LINK:
                if value != source:
                    source = value
                    self.counts["canonical_links"] += 1
                    yield key + b" " + value[1:]
                continue
            spelling, captures, links, last = value[1:].split(b"\t")
            if spelling != uri:
                yield from self._spelling(key, uri, counts)
                uri, counts = spelling, (0, 0, UNKNOWN)
            counts = added(counts, (int(captures), int(links), last))
        self.counts["keys"] += bool(uri)
        yield from self._spelling(key, uri, counts)

    def _spelling(self, key: bytes, uri: bytes, counts: Counts) -> Iterator[bytes]:
        if uri:
            self.counts["uris"] += 1
            yield URIS + b"\t" + format_uri_row(UriRow(key, uri, *counts))
