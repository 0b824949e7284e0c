"""canonicalize: links and captures to links between keys, and to every spelling of each key.

Reads lines of links (`target source hop`) and of captures (10 columns). Writes canonical links,
`target_key source_key`, distinct and sorted by bytes within a part, and the side dataset `uris`,
`key<TAB>URI<TAB>captures<TAB>links<TAB>last timestamp14`, sorted likewise.

Hops I and P are never edges (Heritrix writes an inferred favicon.ico for every page: a false hub),
nor is C, the canonical address that a page names. Such lines are counted and dropped, as are lines
whose URIs are not those of pages (lines.py) and URIs of which surt makes no key. `--www`
says what becomes of the `www.` or `www2.` of a host (keys.py). With `--folds`, a file of few
folds, keys that fold are replaced at once, and links from and to keys that are gone left out;
jobs/fold_keys.py does it for many.

The shuffle has, under the target's key, one line for each distinct link of a map task and one for
each distinct spelling with its counts: at most two lines for a link and one for a capture, each as
long as its two URIs. Pages repeat their menus, so combining in the mapper's memory (at most
COMBINED entries) saves about as many lines as links repeat within a task.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

from crawlrank.jobs.kernel.captures.choosing import NOTHING_LEFT, NOWHERE, UNLISTED
from crawlrank.jobs.kernel.formats.datasets import CAPTURES
from crawlrank.jobs.kernel.formats.lines import (
    UNLINKED,
    format_uri_row,
    parse_capture,
    parse_else,
    parse_fold,
    parse_link,
    parse_link_or_uri_row,
    why_unusable,
)
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, UriRow
from crawlrank.jobs.kernel.formats.side_lines import DROPPED, URIS
from crawlrank.jobs.kernel.keys.keys import Www, is_foreign, shared_key_function
from crawlrank.jobs.mapreduce.alone import main
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
    """Writes repeated links and spellings of a key once, as the last stage of fold_keys does, too.

    The map of a subclass gives a pair for each key: LINK with a source, or SPELLING with a row of
    uris.
    """

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


FOREIGN = "links.foreign"  # counter of links whose query is in another charset than UTF-8
EXAMPLES = 5


class PageKey(NamedTuple):
    """The key of a page that it folds into, or its own. gone: NOWHERE or UNLISTED, if nothing is
    left of it; then the key is its own."""

    key: bytes
    gone: bytes = b""

    @property
    def source(self) -> bytes:
        """What stands for it as the source of a link: what is gone is no page that gives."""
        return NOWHERE if self.gone else self.key


class Canonicalize(MergingJob):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--www", choices=get_args(Www), default="strip", help="of keys")
        self.add_file_arg("--folds", help="keys that others replace; set by the driver")

    def __init__(self, args: list[str] | None = None) -> None:
        super().__init__(args)
        self._own_key = shared_key_function(self.options.www)
        self._folds: dict[bytes, bytes] | None = None
        self._links: set[tuple[bytes, bytes]] = set()
        self._spellings: dict[tuple[bytes, bytes], Counts] = {}

    def _key_of(self, uri: bytes) -> PageKey | None:
        key = self._own_key(uri)
        if key is None:
            return None
        if not self.options.folds:
            return PageKey(key)
        end = self._end_of(key)
        if end not in NOTHING_LEFT:  # a query in another charset folds into a page that may be gone
            key, end = end, self._end_of(end)
        return PageKey(key, end) if end in NOTHING_LEFT else PageKey(end)

    def _end_of(self, key: bytes) -> bytes:
        """The key that it folds into, or itself."""
        if self._folds is None:  # read when needed, as in the driver the file has another path
            with Path(self.options.folds).open("rb") as lines:
                folds = (parse_fold(line.rstrip(b"\n")) for line in lines)
                self._folds = {fold.key: fold.target_key for fold in folds}
        return self._folds.get(key, key)

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        if line.count(b"\t") + 1 in CAPTURES.widths:
            capture = parse_capture(line)
            if why := why_unusable(line, capture.uri):
                yield from self._dropped(why, capture.uri)
            elif (key := self._key_of(capture.uri)) is None:
                yield from self._dropped("no-key", capture.uri)
            else:
                self._spelled(key, capture.uri, (1, 0, capture.timestamp))
        else:
            yield from self._map_link(line)
        if len(self._links) + len(self._spellings) >= self.COMBINED:
            yield from self.map_end()

    def _map_link(self, line: bytes) -> Iterator[KeyValue]:
        target, source, hop, *_ = parse_else(parse_link, line, CAPTURES)
        uris = (target, source)
        if why := why_unusable(line, *uris):
            yield from self._dropped(why, next(uri for uri in uris if why_unusable(uri, uri)))
            return
        if hop in UNLINKED:
            self.counts[f"dropped.hop.{hop.decode()}"] += 1
            return
        target_key, source_key = self._key_of(target), self._key_of(source)
        if target_key is None or source_key is None:
            yield from self._dropped("no-key", target if target_key is None else source)
            return
        self.counts["links"] += 1
        if b"%" in target and is_foreign(target):
            self.counts[FOREIGN] += 1
        if not target_key.gone:
            self._links.add((target_key.key, source_key.source))
        self._spelled(target_key, target, (0, not target_key.gone, UNKNOWN))
        self._spelled(source_key, source, (0, 0, UNKNOWN))

    def _spelled(self, key: PageKey, uri: bytes, counts: Counts) -> None:
        if key.gone == UNLISTED:
            return
        spelling = (key.key, uri)
        known = self._spellings.get(spelling)
        self._spellings[spelling] = counts if known is None else added(known, counts)

    def _dropped(self, why: str, uri: bytes) -> Iterator[KeyValue]:
        self.counts[f"dropped.{why}"] += 1
        if self.counts[f"dropped.{why}"] <= EXAMPLES:
            yield DROPPED, why.encode() + b"\t" + uri

    def map_end(self) -> Iterator[KeyValue]:
        for (key, uri), (captures, links, last) in self._spellings.items():
            yield key, b"%s%s\t%d\t%d\t%s" % (SPELLING, uri, captures, links, last)
        for target_key, source_key in self._links:
            yield target_key, LINK + source_key
        self._links.clear()
        self._spellings.clear()


if __name__ == "__main__":
    main(Canonicalize)
