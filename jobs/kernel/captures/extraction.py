"""From the records of an archive to its links and captures: which records count, and for what.

Captures are responses, resources and revisits of http and https URIs, and lines of an index. Those
that answer other methods than GET (answers.py) are no captures, and their metadata are none. Links
come from those of status 2xx (none counts as 200) and, as an R link, from the Location of 3xx:

| outlinks | an HTML page | CSS, feed, sitemap, robots.txt | a revisit, or another type |
|---|---|---|---|
| html | its HTML | its text | - |
| metadata | the `outlink:` lines of its metadata record | the same | the same |
| both | both | both | the `outlink:` lines |
| auto | its HTML | both | the `outlink:` lines |

The links of the HTTP header (Refresh, Link) go with those of the body.

A metadata record belongs to the capture whose id it names as concurrent, or else to the capture of
its URI and time. Heritrix writes it after the capture, others before it. So under auto it waits
for its capture, bounded by WAITING. If none comes, its capture is in another archive and its lines
count.

Hops: nav keeps L, R and `frame/@src`, as pages of a frameset have no other links; a frame's link
keeps its hop E. all keeps E and X too. Heritrix's `base/@href` is never a link, nor are hops that
are none in HOPS (rows.py). Under nav the embeds of an HTML page are not looked for, so
`dropped.hop.E` and `.X` count only those in headers, feeds, style sheets and metadata lines. Links
that a page asks not to follow (nofollow) are counted, and kept or dropped; Heritrix's lines do not
show them.

The queries of a page's links are in its charset, and hosts by UTS 46, as browsers have it. Where
the archive says that it is Heritrix's, queries are in UTF-8 and hosts by IDNA 2003.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO

from crawlrank.jobs.kernel.archive.cdx import INDEX
from crawlrank.jobs.kernel.archive.damage import Damage, guard, is_of_record, words
from crawlrank.jobs.kernel.archive.metadata import (
    Junk,
    MetadataMatching,
    Outlink,
    is_metadata,
    is_of_heritrix,
    read_metadata,
)
from crawlrank.jobs.kernel.archive.records import Record, some_at_a_time
from crawlrank.jobs.kernel.archive.run_reader import ArchiveRange
from crawlrank.jobs.kernel.archive.sources import read_archives
from crawlrank.jobs.kernel.captures.answers import Answers
from crawlrank.jobs.kernel.captures.capture_rows import CaptureRows, capture_of
from crawlrank.jobs.kernel.captures.counters import CAPTURED, INDEXES, count_record, named_reason
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import (
    HOPS,
    MANIFEST_HOP,
    Anchor,
    AnchorRun,
    Capture,
    Link,
    LinkRun,
)
from crawlrank.jobs.kernel.keys.uris import as_crawled, field
from crawlrank.jobs.kernel.links.body_links import body_links, resolved
from crawlrank.jobs.kernel.links.documents import is_robots_txt, readable, unread
from crawlrank.jobs.kernel.links.header_links import header_nofollow, header_references, location
from crawlrank.jobs.kernel.links.html_documents import Document, HtmlOptions
from crawlrank.jobs.kernel.links.html_links import (
    LinkGroup,
    PageLinks,
    WordsOfLinks,
    document_links,
    html_document,
    with_nofollow,
)
from crawlrank.jobs.kernel.links.joining import Examples, count_dropped

BASE = "base/@href"  # Heritrix lists it like a link


def outlink_groups(
    body: bytes, source: bytes, junk: list[str], counters: Counter[str], examples: Examples
) -> Iterator[LinkGroup]:
    """The links of the body of a metadata record. source: the URI of the page. The first line that
    is none goes to junk."""
    page = source.decode()
    for line in read_metadata(body):
        if isinstance(line, Outlink):
            if line.context.lower() == BASE:
                counters["dropped.base"] += 1
                continue
            target = as_crawled(line.uri)
            if isinstance(target, bytes):
                yield [target], counted_hop(line.hop, page), line.context, False, None
            else:
                count_dropped(target, line.uri, counters, examples)
        elif isinstance(line, Junk) and not junk:
            junk.append(line.beginning)


def counted_hop(letter: str, source: str) -> str:
    """The hop under which an `outlink:` line of Heritrix counts; a letter that is never an edge, or
    is unknown, stays. source: the URI of its page. A manifest counts as when it is read itself: an
    entry of a sitemap is L, and a `Sitemap:` line of robots.txt is X."""
    if letter == MANIFEST_HOP and is_robots_txt(source):
        return "X"
    hop = HOPS.get(letter)
    return hop.counts_as or letter if hop else letter


SELDOM = 50_000  # objects between two looks, some megabytes; Python's own is 700


class _Users:
    """Who wants it seldom now, and what was before the first came."""

    def __init__(self) -> None:
        self.count, self.before = 0, gc.get_threshold()


_users = _Users()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Within it, Python looks seldom. Extraction makes many lists and tuples that it keeps for a
    while, and none that hold each other: looking for these takes a tenth of its time. What was
    before comes back when the last one leaves, in whatever order they do."""
    if not _users.count:
        _users.before = gc.get_threshold()
        first, *others = _users.before
        gc.set_threshold(max(SELDOM, first) if first else 0, *others)  # 0: it never looks
    _users.count += 1
    try:
        yield
    finally:
        _users.count -= 1
        if not _users.count:
            gc.set_threshold(*_users.before)


Item = Link | Anchor | Capture | Damage
Row = LinkRun | AnchorRun | Capture | Damage
LINKING_FIELDS = frozenset({"location", "refresh", "link", "x-robots-tag"})


def extract(
    stream: BinaryIO,
    archive_name: str,
    options: ExtractionOptions,
    counters: Counter[str],
    examples: Examples | None = None,
) -> Iterator[Item]:
    """Extract as `extract_runs` does, with the links one by one."""
    for item in extract_runs(stream, archive_name, options, counters, examples):
        if isinstance(item, LinkRun):
            yield from item.links()
        elif isinstance(item, AnchorRun):
            yield from item.anchors()
        else:
            yield item


def extract_runs(
    stream: BinaryIO,
    archive_name: str,
    options: ExtractionOptions,
    counters: Counter[str],
    examples: Examples | None = None,
    part: ArchiveRange | None = None,
) -> Iterator[Row]:
    """The links and captures of an archive, or part of it, and its damage, as they come.

    A page gives one link for each distinct target and hop. Memory: a few times max_record.
    counters grow while the iterator runs; counters.py lists them. examples: the first URIs of
    captures, references and `outlink:` lines that are dropped, by reason, are added to it.
    Each archive in a WACZ is read by itself. Raises BadInput as `read_records`, and for whatever
    else the reader raises (damage.py). If a parser fails on the links of one record, they are left
    out and the record is damage.
    """
    examples = {} if examples is None else examples
    with guard(archive_name), seldom_collected():
        for name, items, is_index, titles in read_archives(
            stream, archive_name, max_record=options.max_record, part=part,
            validators=options.validators,
        ):  # fmt: skip
            known = titles() if options.titles else {}
            extraction = _Extraction(name, options, counters, examples, is_index, known)
            counters.update([INDEXES] * is_index)
            if part is not None:
                extraction.begin(as_heritrix=part.as_heritrix)
            answers = Answers(counters, examples)
            for some in answers.known(some_at_a_time(items)):
                yield from extraction.of_records(some)
            yield from extraction.rest()
            if part is not None:
                extraction.end(part)
                part.alone &= answers.alone


class _Extraction:
    """The state of one archive: which metadata counts, and which links the current page has."""

    def __init__(
        self,
        archive_name: str,
        options: ExtractionOptions,
        counters: Counter[str],
        examples: Examples,
        is_index: bool,
        titles: Mapping[bytes, str],
    ) -> None:
        self._archive = field(archive_name, 4096)
        self._options = options._replace(bodies=options.bodies and not is_index)
        self._captured = (INDEX,) if is_index else CAPTURED
        self._counters = counters
        self._examples = examples
        self._matching = MetadataMatching()
        self._rows = CaptureRows(counters)
        nav, canonical = options.links == "nav", options.canonical
        self._html_options = HtmlOptions(
            options.forms, nav, canonical,
            kinds=options.timestamps, titles=options.titles, words=options.anchor_text,
            around=options.words_around,
        )  # fmt: skip
        self._titles = titles  # by URI, for pages whose documents have none
        self._title: str | None = None  # of the page whose links are being read; None of no page
        self._links = PageLinks(
            nav=nav,
            drop=options.nofollow == "drop",
            most=options.max_links_per_page,
            counters=counters,
            canonical=canonical,
            timestamps=options.timestamps,
        )

    def begin(self, *, as_heritrix: bool) -> None:
        self._html_options = self._html_options._replace(as_heritrix=as_heritrix)

    def end(self, part: ArchiveRange) -> None:
        part.as_heritrix = self._html_options.as_heritrix
        part.alone &= self._matching.alone and self._rows.alone

    def counted(self, damage: Damage) -> Damage:
        self._counters["damage"] += 1
        self._counters[f"damage.{damage.reason}"] += 1
        return damage

    def of_records(self, items: Iterable[Record | Damage]) -> list[Row]:
        """The captures that are complete by then, then links and damage of these items. With titles
        both come item by item, as a row has the title of its page."""
        rows: list[Row] = []
        if self._options.titles:
            for item in items:
                rows += [self.counted(item)] if isinstance(item, Damage) else self._titled(item)
            return rows
        works: list[tuple[Record, bytes | None] | Damage] = []
        for item in items:
            works.append(item if isinstance(item, Damage) else (item, self._row(item, rows)))
        for work in works:
            if isinstance(work, Damage):
                rows.append(self.counted(work))
            else:
                rows += self._linked(*work)
        return rows

    def _row(self, record: Record, rows: list[Row]) -> bytes | None:
        """Count a record; if it is a capture, its URI. rows: gets captures that are complete."""
        uri = self._counted_uri(record)
        rows += self._complete(record, uri)
        return uri

    def _titled(self, record: Record) -> list[Row]:
        """As `_row` and `_linked`, the links first."""
        uri = self._counted_uri(record)
        linked = self._linked(record, uri)
        return [*self._complete(record, uri), *linked]

    def _taken_title(self, uri: bytes) -> str:
        """The title of the page whose links were read, "" without one; of no other page."""
        title, self._title = self._title, None
        if title == "":  # a script may set it
            title = self._titles.get(uri)
        return title or ""

    def _counted_uri(self, record: Record) -> bytes | None:
        """Count a record; if it is a capture, its URI."""
        count_record(record, self._counters)
        if record.method:
            self._rows.add_other_method(record)
        if record.kind not in self._captured:
            return None
        uri = as_crawled(record.uri)
        if isinstance(uri, str):
            self._dropped(f"capture.{named_reason(uri, record.uri)}", record.uri)
            return None
        if record.method:
            self._dropped(f"capture.method.{record.method}", record.uri)
            return None
        return uri

    def _complete(self, record: Record, uri: bytes | None) -> Iterable[Capture]:
        """The captures that are complete with a record. uri: of a capture."""
        if uri is not None:
            title = self._taken_title(uri)
            row = capture_of(record, uri, self._archive, self._counters, self._options, title)
            return self._rows.add_capture(record, row)
        return self._rows.add_metadata(record) if is_metadata(record) else ()

    def _linked(self, record: Record, uri: bytes | None) -> list[LinkRun | AnchorRun | Damage]:
        """The links that are known with a record. uri: of a capture."""
        if not self._options.bodies:
            return []
        if uri is not None:
            return self._or_damage(record, partial(self._links_of, uri))
        if record.method:
            self._matching.add_other_method(record)
        if record.kind == "warcinfo":
            self.begin(as_heritrix=is_of_heritrix(record.body))
        items: list[LinkRun | AnchorRun | Damage] = []
        if self._options.outlinks != "html" and is_metadata(record):
            for counting in self._matching.add_metadata(record):
                items += self._or_damage(counting, self._outlinks)
        return items

    def rest(self) -> Iterator[Row]:
        yield from self._rows.rest()
        for record in self._matching.rest():
            yield from self._or_damage(record, self._outlinks)

    def _or_damage(
        self, record: Record, links_of: Callable[[Record], Iterable[LinkRun | AnchorRun | Damage]]
    ) -> list[LinkRun | AnchorRun | Damage]:
        """The links of a record or, if a parser fails on them, damage instead of all of them."""
        before, mark = dict(self._counters), self._links.mark()
        try:
            return list(links_of(record))
        except Exception as error:
            if not is_of_record(error):
                raise
            self._counters.clear()
            self._counters.update(before)
            self._links.back_to(mark)
            return [self.counted(Damage(record.offset, "failed", words(error)))]

    def _links_of(self, uri: bytes, record: Record) -> list[LinkRun | AnchorRun | Damage]:
        """The links of a capture."""
        links: list[LinkRun | AnchorRun | Damage] = []
        status = 200 if record.status is None else record.status
        good, outlinks = 200 <= status < 300, self._options.outlinks
        body, name = self._document(record, links) if good else (b"", "")
        if name:
            self._counters[f"pages.{name}"] += 1
        self._links.begin(uri, record.timestamp)
        fields = LINKING_FIELDS.intersection([name for name, _ in record.http_headers])
        page, is_read = None, bool(name) and outlinks != "metadata"
        if is_read and name == "html":
            page = html_document(body, record.media_type, self._counters, self._html_options)
            self._title = page.title
        nofollow = page is not None and page.nofollow
        if "x-robots-tag" in fields:
            nofollow = nofollow or header_nofollow(record.http_headers)
        if fields:
            others = good and outlinks != "metadata"
            links += self._header(record, uri, status, others=others, nofollow=nofollow)
        if is_read:
            links += self._body(
                record, body if page is None else page, uri, name, nofollow=nofollow
            )
        elif name == "html" and (self._options.titles or self._options.anchor_text):
            links += self._texts(record, body, uri)
        lines_count = good and not (name == "html" and outlinks in ("html", "auto"))
        for metadata in self._matching.add_capture(record, lines_count):
            links += self._or_damage(metadata, self._outlinks)
        return links

    def _dropped(self, reason: str, uri: str) -> None:
        count_dropped(reason, uri, self._counters, self._examples)

    def _document(
        self, record: Record, items: list[LinkRun | AnchorRun | Damage]
    ) -> tuple[bytes, str]:
        """The body as it can be read, and the kind of document; '' if its links are not read.
        items: gets the damage to a body that begins like a packed one."""
        body, name, damage = readable(record, self._options.max_record)
        items += [self.counted(Damage(record.offset, *each)) for each in damage]
        if not name and (like := unread(record.media_type, body)):
            self._dropped(f"unread.{like}", record.uri)
        return body, "" if name == "pdf" and not self._options.pdf else name

    def _header(
        self, record: Record, uri: bytes, status: int, *, others: bool, nofollow: bool
    ) -> list[LinkRun]:
        """others: whether fields beside Location count."""
        fields = record.http_headers
        references = [*location(fields, status)]
        if others:
            references += header_references(fields, canonical=self._options.canonical)
        options, examples = self._html_options, self._examples
        links = resolved(references, uri.decode(), self._counters, examples, options)
        return self._links.add(uri, with_nofollow(links) if nofollow else links, "header")

    def _body(
        self, record: Record, body: bytes | Document, uri: bytes, name: str, *, nofollow: bool
    ) -> list[LinkRun | AnchorRun | Damage]:
        counters, examples, most = self._counters, self._examples, self._links.room
        words: WordsOfLinks | None = [] if self._options.anchor_text else None
        if not isinstance(body, bytes):
            links = document_links(body, uri.decode(), counters, examples, most, words)
        else:
            links = body_links(
                name, body, uri.decode(), record.media_type, counters, examples,
                self._html_options, most,
            )  # fmt: skip
        runs = self._links.add(uri, with_nofollow(links) if nofollow else links, name)
        return [*runs, *self._links.anchors(uri, words)] if words else [*runs]

    def _texts(self, record: Record, body: bytes, uri: bytes) -> list[AnchorRun]:
        """The words of links, and the title, of a page whose links are those of its metadata: it is
        counted as if it was not read."""
        words: WordsOfLinks = []
        options = self._html_options._replace(nav=True, kinds=False)
        page = html_document(body, record.media_type, Counter(), options)
        self._title = page.title
        if self._options.anchor_text:
            for _ in document_links(page, uri.decode(), Counter(), {}, self._links.room, words):
                pass
        return self._links.anchors(uri, words, of_links=False)

    def _outlinks(self, record: Record) -> Iterator[LinkRun | AnchorRun | Damage]:
        source = as_crawled(record.uri)
        if isinstance(source, str):
            self._dropped(f"metadata.{named_reason(source, record.uri)}", record.uri)
            return
        self._counters["metadata.used"] += 1
        if self._links.page != (source, record.timestamp):
            self._links.begin(source, record.timestamp)
        junk: list[str] = []
        groups = outlink_groups(record.body, source, junk, self._counters, self._examples)
        yield from self._links.add(source, groups, "metadata")
        if junk:
            yield self.counted(Damage(record.offset, "bad-metadata", ascii(junk[0])))
