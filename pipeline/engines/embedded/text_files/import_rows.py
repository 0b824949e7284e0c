"""Text lines to the datasets links and captures of this engine, a line at a time.

Lines must have their formats (jobs/kernel/formats/lines.py). Those whose URIs are not of pages
(usable.py) are dropped and counted, as in canonicalize of the text engine. A dataset becomes parts
of some rows each, in the order of the lines, for several processes. Memory: a block of a part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadLine
from crawlrank.jobs.kernel.formats.datasets import CAPTURES
from crawlrank.jobs.kernel.formats.lines import (
    AnyRow,
    Parser,
    parse_canonical_link,
    parse_capture,
    parse_input_link,
    parse_link,
    parse_map_row,
)
from crawlrank.jobs.kernel.formats.reading import bad_line, read_lines, refuse_foreign_start
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture, Link
from crawlrank.jobs.kernel.formats.usable import DROPPED, why_unusable
from crawlrank.pipeline.engines.embedded.columns import CapturesWriter, LinksWriter

PART = 1 << 22
BATCH = 1 << 12
EXAMPLES = 5
_STATUS = re.compile(rb"(?:[0-9]{1,9}|-)\Z")
_OFFSET = re.compile(rb"(?:[0-9]{1,18}|-)\Z")


def parse_swapped_link(line: bytes) -> Link:
    """A link in a line whose first field is the source."""
    try:
        source, target, *hop = parse_link(line)
    except BadLine as error:
        raise BadLine(
            error.found, error.expected.replace("target source", "source target")
        ) from error
    return Link(target, source, *hop)


def parse_typed_capture(line: bytes) -> Capture:
    """A capture whose numbers are valid, as they have a type in Parquet."""
    row = parse_capture(line)
    if row.uri == UNKNOWN:
        raise BadLine("no URI", CAPTURES.expected)
    if not _STATUS.match(row.status):
        raise BadLine(f"status {row.status.decode('latin-1')!a}", "a number or `-`")
    if not _OFFSET.match(row.offset):
        raise BadLine(f"offset {row.offset.decode('latin-1')!a}", "a number or `-`")
    return row


class TextReader:
    """Reads text files. part: rows of a part. batch: lines of links that are written together, if
    of one source. dropped: lines by reason; examples: where the first ones are."""

    def __init__(self, part: int = PART, batch: int = BATCH) -> None:
        self._part, self._batch = part, batch
        self.dropped: Counter[str] = Counter()
        self.examples: list[str] = []

    def links(self, paths: Iterable[str], output: Path, source_first: bool) -> int:
        """Write links of URIs into a new folder. Returns their number."""
        parser = parse_swapped_link if source_first else parse_link
        return self._write_links(self._rows(paths, parser, _uris_of_link), output)

    def captures(self, paths: Iterable[str], output: Path) -> int:
        rows = self._rows(paths, parse_typed_capture, _uris_of_capture)
        return self._write_captures(rows, output)

    def key_links(
        self, canonical: Iterable[str], numbered: Iterable[str], output: Path, source_first: bool
    ) -> int:
        """Links of keys, from canonical links and from input links, whose ids are not kept."""

        def links() -> Iterator[Link]:
            for first, second in chain(
                self._rows(canonical, parse_canonical_link),
                (row[1:] for row in self._rows(numbered, parse_input_link)),
            ):
                yield Link(second, first) if source_first else Link(first, second)

        return self._write_links(links(), output)

    def map_keys(self, paths: Iterable[str], output: Path) -> int:
        """The keys of a map, also those without links, as captures with no field but the key."""
        unknown = [UNKNOWN] * (len(Capture._fields) - 1)
        rows = (Capture(row.key, *unknown) for row in self._rows(paths, parse_map_row))
        return self._write_captures(rows, output)

    def _rows(
        self,
        paths: Iterable[str],
        parser: Parser[AnyRow],
        uris: Callable[[AnyRow], tuple[bytes, ...]] = lambda row: (),
    ) -> Iterator[AnyRow]:
        """The rows of lines that are not dropped. uris: of a row."""
        for given_path in paths:
            for path, number, line in read_lines(given_path):
                if number == 1:
                    refuse_foreign_start(path, line, "a line of links, captures or keys")
                try:
                    row = parser(line)
                except BadLine as error:
                    raise bad_line(path, number, line, error) from error
                if why := why_unusable(line, *uris(row)):
                    self.dropped[DROPPED + why] += 1
                    if len(self.examples) < EXAMPLES:
                        self.examples.append(f"{path}, line {number}")
                else:
                    yield row

    def _write_links(self, rows: Iterator[Link], output: Path) -> int:
        count = 0
        for links, path in _in_parts(rows, output, self._part):
            with LinksWriter(path) as writer:
                while batch := list(islice(links, self._batch)):
                    for source, page in groupby(batch, attrgetter("source")):
                        targets, _, hops, *_ = zip(*page, strict=True)
                        writer.add(source, targets, hops)
            count += writer.rows
        return count

    def _write_captures(self, rows: Iterator[Capture], output: Path) -> int:
        count = 0
        for captures, path in _in_parts(rows, output, self._part):
            with CapturesWriter(path) as writer:
                writer.add(captures)
            count += writer.rows
        return count


def _uris_of_link(link: Link) -> tuple[bytes, ...]:
    return link.target, link.source


def _uris_of_capture(capture: Capture) -> tuple[bytes, ...]:
    return (capture.uri,)


def _in_parts(
    rows: Iterator[AnyRow], output: Path, part: int
) -> Iterator[tuple[Iterator[AnyRow], Path]]:
    """Some rows at a time, with the file to write them to; at least one file, in a new folder."""
    output.mkdir()
    number, first = 0, next(rows, None)
    while first is not None or not number:
        begin = () if first is None else (first,)
        yield chain(begin, islice(rows, part - 1)), output / f"{output.name}-{number:05d}.parquet"
        number, first = number + 1, next(rows, None)
