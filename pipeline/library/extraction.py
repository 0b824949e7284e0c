"""Links and captures of archives, one by one: `crawlrank.extract("crawl.warc.gz")`.

Archives are read in order, by one thread, with bounded memory. What is read, and what counts as a
link or a capture, is the same as in a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.captures.counters import Counters, require_pages
from crawlrank.jobs.kernel.captures.extraction import extract as extracted
from crawlrank.jobs.kernel.captures.extraction_options import (
    DEFAULTS,
    ExtractionOptions,
    LinksKept,
    Nofollow,
    Outlinks,
)
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Anchor, Capture, Link
from crawlrank.jobs.kernel.storage.opening import name_of, opened
from crawlrank.pipeline.library.calling import WrongUsage, require_usable
from crawlrank.pipeline.library.command_functions import Archives, several
from crawlrank.pipeline.workfolder.finding import find_archives

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 16  # of a batch


class ExtractedLink(NamedTuple):
    """A link of a page. hop: letter of Heritrix: L a link, E an embed, R a redirect, X a guess."""

    source: str
    target: str
    hop: str


class ExtractedAnchor(NamedTuple):
    """The words of a link, where they are asked for: the text of its `a`, and of images in it.
    around: with the words before and after it, where these are asked for, too."""

    source: str
    target: str
    words: str
    around: str | None = None


class ExtractedCapture(NamedTuple):
    """A fetched page; None where a field is unknown.

    timestamp: 14 digits, UTC. kind: response, resource, revisit or index. offset: bytes, in the
    archive. via: the URI that the crawler came from. hops: its way from the seed. title: of an HTML
    page, where titles are asked for.
    """

    uri: str
    timestamp: str | None
    status: int | None
    media_type: str | None
    digest: str | None
    kind: str
    archive: str
    offset: int | None
    via: str | None
    hops: str | None
    title: str | None = None


KINDS = {"links": ExtractedLink, "anchors": ExtractedAnchor, "captures": ExtractedCapture}


class Extraction:
    """The links and captures of archives, in the order of the records. Each iteration reads the
    archives anew.

    counters: of the iteration so far, by name: records, captures, links, and what was dropped.
    damage: damaged parts of archives, which are passed over: (archive, offset, reason, detail).
    Iterating raises BadInput at an archive that cannot be read.
    """

    def __init__(self, archives: Sequence[Any], options: ExtractionOptions) -> None:
        self.archives, self._options = archives, options
        self.counters: Counter[str] = Counters()
        self.damage: list[tuple[str, Damage]] = []

    def __iter__(self) -> Iterator[ExtractedLink | ExtractedAnchor | ExtractedCapture]:
        for row in self._rows():
            if isinstance(row, Link):
                yield ExtractedLink(*map(_text, (row.source, row.target, row.hop)))
            elif isinstance(row, Anchor):
                source, target, words = map(_text, (row.source, row.target, row.words))
                yield ExtractedAnchor(source, target, words, _known(row.around))
            elif isinstance(row, Capture):
                yield _capture(row)

    def links(self) -> Iterator[ExtractedLink]:
        """The links alone."""
        return (row for row in self if isinstance(row, ExtractedLink))

    def anchors(self) -> Iterator[ExtractedAnchor]:
        """The words of links alone."""
        return (row for row in self if isinstance(row, ExtractedAnchor))

    def captures(self) -> Iterator[ExtractedCapture]:
        """The captures alone."""
        return (row for row in self if isinstance(row, ExtractedCapture))

    def batches(
        self, rows: Literal["links", "anchors", "captures"], size: int = ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The rows of one kind as record batches of at most `size` rows, with the fields of
        ExtractedLink, ExtractedAnchor or ExtractedCapture as columns."""
        import pyarrow as pa

        if rows not in KINDS:
            raise WrongUsage(f"rows are {', '.join(KINDS)}, not {rows!r}")
        kind: type[Any] = KINDS[rows]
        schema = pa.schema(
            [
                pa.field(name, pa.int64() if name in ("status", "offset") else pa.string())
                for name in kind._fields
            ]
        )
        every = (row for row in self if isinstance(row, kind))
        while some := list(islice(every, size)):
            columns = zip(*some, strict=True)
            arrays = [pa.array(column, field.type)
                      for column, field in zip(columns, schema, strict=True)]  # fmt: skip
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _rows(self) -> Iterator[Any]:
        self.counters.clear()
        self.damage.clear()
        for archive in self.archives:
            name, own = name_of(archive), Counter[str]()
            with opened(archive) as stream:
                for row in extracted(stream, name, self._options, own):
                    if isinstance(row, Damage):
                        self.damage.append((name, row))
                    else:
                        yield row
            require_pages(name, own)
            self.counters.update(own)


def extract(
    archives: Archives,
    *,
    outlinks: Outlinks = DEFAULTS.outlinks,
    links: LinksKept = DEFAULTS.links,
    nofollow: Nofollow = DEFAULTS.nofollow,
    forms: bool = DEFAULTS.forms,
    pdf: bool = DEFAULTS.pdf,
    max_record: int = DEFAULTS.max_record,
    max_links_per_page: int = DEFAULTS.max_links_per_page,
    titles: bool = DEFAULTS.titles,
    anchor_text: bool = DEFAULTS.anchor_text,
    words_around: bool = DEFAULTS.words_around,
) -> Extraction:
    """The links and captures of archives: files, folders, globs or URLs, as of `crawlrank run`.

    The options are those of `extract-links`, in docs/commands.md. Raises BadInput for globs and
    folders without archives, and WrongUsage for values that the command refuses.
    """
    options: dict[str, Any] = {
        "outlinks": outlinks, "links": links, "nofollow": nofollow, "forms": forms, "pdf": pdf,
        "max_record": max_record, "max_links_per_page": max_links_per_page, "titles": titles,
        "anchor_text": anchor_text, "words_around": words_around,
    }  # fmt: skip
    require_usable("run", options)
    if words_around and not anchor_text:
        raise WrongUsage("words_around goes with anchor_text")
    wanted = several(archives)
    if not wanted:
        raise WrongUsage("no archives are given: a path or URL, or several")
    return Extraction(find_archives(wanted).archives, ExtractionOptions(**options))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _known(value: bytes, convert: Callable[[bytes], Any] = _text) -> Any:
    return None if value == UNKNOWN else convert(value)


def _capture(row: Capture) -> ExtractedCapture:
    return ExtractedCapture(
        _text(row.uri),
        _known(row.timestamp),
        _known(row.status, int),
        _known(row.media_type),
        _known(row.digest),
        _text(row.kind),
        _text(row.archive),
        _known(row.offset, int),
        _known(row.via),
        _known(row.hops),
        _known(row.title),
    )
