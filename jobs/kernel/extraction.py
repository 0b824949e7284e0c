"""From the records of an archive to its links and captures: which records count, and for what.

Captures are the responses, resources and revisits of http and https URIs. Links come from those
of status 2xx (no status counts as 200) and, as an R link, from the Location of those of 3xx:

| outlinks | a capture with an HTML body | one without (a revisit, another type) |
|---|---|---|
| html | its HTML | - |
| metadata | the `outlink:` lines of its metadata record | the same |
| both | both | the `outlink:` lines |
| auto | its HTML | the `outlink:` lines |

A metadata record belongs to the capture whose id it names as concurrent, or else to the one of
its URI and time. Heritrix writes it behind the capture, others before it, so under auto it waits
for its capture, bounded by WAITING; if none comes, its capture is elsewhere and its lines count.

Hops: nav keeps L, R and, as pages of a frameset have no other links, `frame/@src`, which keeps
its hop E in the line; all keeps E and X too. I and P are never links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from jobs.kernel.damage import Damage
from jobs.kernel.html_links import Found, html_links, is_html
from jobs.kernel.lines import Capture, Link
from jobs.kernel.metadata import Junk, Outlink, is_metadata, read_metadata
from jobs.kernel.metadata_matching import MetadataMatching
from jobs.kernel.record_headers import first
from jobs.kernel.records import MAX_RECORD, Record, read_records
from jobs.kernel.uris import as_crawled, field, resolve

KINDS = ("response", "resource", "revisit", "metadata", "request", "warcinfo", "conversion")
CAPTURED = ("response", "resource", "revisit")
NAV_HOPS, ALL_HOPS = frozenset("LR"), frozenset("LREX")
NAV_CONTEXTS = frozenset({"frame/@src"})


@dataclass(frozen=True)
class Options:
    """What to extract; see the head of this file. max_record in bytes."""

    outlinks: Literal["auto", "html", "metadata", "both"] = "auto"
    links: Literal["nav", "all"] = "nav"
    max_record: int = MAX_RECORD
    max_links_per_page: int = 100_000


def extract(
    stream: BinaryIO, archive_name: str, options: Options, counters: Counter[str]
) -> Iterator[Link | Capture | Damage]:
    """The links and captures of an archive, and its damage, as they come.

    A page gives one link for each distinct target and hop. Memory: a few times max_record.
    counters is added to while the iterator runs: `records`, `records.KIND`, `captures`,
    `captures.KIND`, `captures.status.CODE` (`-` unknown), `pages.html`, `metadata.used`, `links`,
    `links.HOP`, `dropped.REASON`, `damage`, `damage.REASON`. Raises BadInput as `read_records`.
    """
    extraction = _Extraction(archive_name, options, counters)
    for item in read_records(stream, archive_name, max_record=options.max_record):
        if isinstance(item, Damage):
            yield extraction.counted(item)
        else:
            yield from extraction.of_record(item)
    yield from extraction.rest()


def totals(counters: Counter[str]) -> dict[str, int]:
    """What a report on one archive says, in order: records, captures, pages, links, damage."""
    names = ("records", "captures", "pages.html", "metadata.used", "links", "damage")
    return {name: counters[name] for name in names}


class _Extraction:
    """The state of one archive: which metadata counts, and what the page at hand gave already."""

    def __init__(self, archive_name: str, options: Options, counters: Counter[str]) -> None:
        self._archive = field(archive_name, 4096)
        self._options = options
        self._counters = counters
        self._matching = MetadataMatching()
        self._page = (b"", "")  # URI and time of the page at hand
        self._given: set[tuple[bytes, str]] = set()  # its links so far

    def counted(self, damage: Damage) -> Damage:
        self._counters["damage"] += 1
        self._counters[f"damage.{damage.reason}"] += 1
        return damage

    def of_record(self, record: Record) -> Iterator[Link | Capture | Damage]:
        self._counters["records"] += 1
        self._counters[f"records.{record.kind if record.kind in KINDS else 'other'}"] += 1
        if record.kind in CAPTURED:
            yield from self._capture(record)
        elif self._options.outlinks != "html" and is_metadata(record):
            for counting in self._matching.add_metadata(record):
                yield from self._outlinks(counting)

    def rest(self) -> Iterator[Link | Damage]:
        for record in self._matching.rest():
            yield from self._outlinks(record)

    def _capture(self, record: Record) -> Iterator[Link | Capture | Damage]:
        uri = as_crawled(record.uri)
        if isinstance(uri, str):
            self._counters[f"dropped.capture.{uri}"] += 1
            return
        yield self._row(record, uri)
        status = 200 if record.status is None else record.status
        good, page = 200 <= status < 300, is_html(record.media_type, record.body)
        self._counters["pages.html"] += good and page
        read_html = good and page and self._options.outlinks != "metadata"
        self._begin(uri, record.timestamp)
        if read_html:
            found = html_links(record.body, uri.decode(), record.media_type, self._counters)
            yield from self._links(uri, found)
        elif 300 <= status < 400:
            yield from self._links(uri, self._location(record, uri))
        lines_count = good and not (read_html and self._options.outlinks == "auto")
        for metadata in self._matching.add_capture(record, lines_count):
            yield from self._outlinks(metadata)

    def _row(self, record: Record, uri: bytes) -> Capture:
        status = str(record.status) if record.status else "-"
        self._counters["captures"] += 1
        self._counters[f"captures.{record.kind}"] += 1
        self._counters[f"captures.status.{status}"] += 1
        return Capture(
            uri=uri,
            timestamp=record.timestamp.encode() or b"-",
            status=status.encode(),
            media_type=field(record.media_type.partition(";")[0].lower()),
            digest=field(record.digest),
            kind=record.kind.encode(),
            archive=self._archive,
            offset=b"%d" % record.offset,
        )

    def _location(self, record: Record, uri: bytes) -> Iterator[Found]:
        location = first(record.http_headers, "Location")
        if location:
            yield from self._found(resolve(location, uri.decode()), "R", "Location:")

    def _outlinks(self, record: Record) -> Iterator[Link | Damage]:
        source = as_crawled(record.uri)
        if isinstance(source, str):
            self._counters[f"dropped.metadata.{source}"] += 1
            return
        self._counters["metadata.used"] += 1
        if self._page != (source, record.timestamp):
            self._begin(source, record.timestamp)
        junk: list[str] = []
        yield from self._links(source, self._heritrix_links(record.body, junk))
        if junk:
            yield self.counted(Damage(record.offset, "bad-metadata", ascii(junk[0])))

    def _heritrix_links(self, body: bytes, junk: list[str]) -> Iterator[Found]:
        """The outlinks of a metadata record; the first line that is none goes to junk."""
        for line in read_metadata(body):
            if isinstance(line, Outlink):
                yield from self._found(as_crawled(line.uri), line.hop, line.context)
            elif isinstance(line, Junk) and not junk:
                junk.append(line.beginning)

    def _found(self, target: bytes | str, hop: str, context: str) -> Iterator[Found]:
        if isinstance(target, bytes):
            yield Found(target, hop, context)
        else:
            self._counters[f"dropped.{target}"] += 1

    def _begin(self, page: bytes, timestamp: str) -> None:
        self._page, self._given = (page, timestamp), set()

    def _links(self, source: bytes, found: Iterable[Found]) -> Iterator[Link]:
        """Those that the options keep, each target and hop once, as many as a page may have."""
        counters, given = self._counters, self._given
        hops = NAV_HOPS if self._options.links == "nav" else ALL_HOPS
        for target, hop, context in found:
            if hop not in hops and not (hop in ALL_HOPS and context.lower() in NAV_CONTEXTS):
                counters[f"dropped.hop.{hop}"] += 1
            elif (target, hop) in given:
                counters["dropped.duplicate"] += 1
            elif len(given) >= self._options.max_links_per_page:
                counters["dropped.over-limit"] += 1
            else:
                given.add((target, hop))
                counters["links"] += 1
                counters[f"links.{hop}"] += 1
                yield Link(target, source, hop.encode())
