"""What canonicalize and the last stage of fold_keys share: links and spellings of a key that come
several times are written once."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.kernel.formats.lines import (
    UNKNOWN,
    URI_ROW,
    UriRow,
    format_uri_row,
    parse_canonical_link,
    parse_else,
    parse_uri_row,
)
from jobs.kernel.formats.side_lines import URIS
from jobs.mapreduce.job import Job, Pair

SPELLING, LINK = b"U", b"V"  # of a key, the spellings come before the links
Counts = tuple[int, int, bytes]  # captures, links, last timestamp


def added(one: Counts, other: Counts) -> Counts:
    """Counts of two sets of lines together; `-` sorts before every timestamp."""
    return one[0] + other[0], one[1] + other[1], max(one[2], other[2])


def sent(line: bytes) -> Pair:
    """A line of canonical links or of uris, as MergingJob wants it. Raises BadLine."""
    if line.count(b"\t") == 4:
        return parse_uri_row(line).key, SPELLING + line.partition(b"\t")[2]
    target, source = parse_else(parse_canonical_link, line, URI_ROW)
    return target, LINK + source


class MergingJob(Job):
    """Its map sends, under their keys, LINK with a source and SPELLING with a row of uris."""

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
