"""Text lines to the datasets links and captures of this engine, a line at a time.

Lines are held to their formats (jobs/kernel/formats/lines.py), and those whose URIs are of no page
(usable.py) are left out and counted, as canonicalize does with them in text. A dataset
becomes parts of PART rows, in the order of the lines, for several processes to work on. Memory: a
block of a part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path

from jobs.kernel.errors import BadInput, BadLine
from jobs.kernel.formats.lines import (
    CAPTURE,
    Parser,
    Row,
    parse_canonical_link,
    parse_capture,
    parse_input_link,
    parse_link,
    parse_map_row,
)
from jobs.kernel.formats.reading import read_lines
from jobs.kernel.formats.rows import UNKNOWN, Capture, Link
from jobs.kernel.formats.usable import DROPPED, why_unusable
from pipeline.engines.embedded.columns import CapturesWriter, LinksWriter

PART = 1 << 22  # rows
BATCH = 1 << 12  # lines, of which those of a source in a row are written together
EXAMPLES = 5
_STATUS = re.compile(rb"(?:[0-9]{1,9}|-)\Z")
_OFFSET = re.compile(rb"(?:[0-9]{1,18}|-)\Z")


def parse_swapped_link(line: bytes) -> Link:
    """A link whose source stands first."""
    try:
        source, target, *hop = parse_link(line)
    except BadLine as error:
        raise BadLine(
            error.found, error.expected.replace("target source", "source target")
        ) from error
    return Link(target, source, *hop)


def parse_typed_capture(line: bytes) -> Capture:
    """A capture whose numbers are such, as the dataset in Parquet has them."""
    row = parse_capture(line)
    if row.uri == UNKNOWN:
        raise BadLine("no URI", CAPTURE)
    if not _STATUS.match(row.status):
        raise BadLine(f"status {row.status.decode('latin-1')!a}", "a number or `-`")
    if not _OFFSET.match(row.offset):
        raise BadLine(f"offset {row.offset.decode('latin-1')!a}", "a number or `-`")
    return row


class Reading:
    """Reads text files; remembers what was left out.

    dropped: lines, by reason. examples: the places of the first ones.
    """

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()
        self.examples: list[str] = []

    def links(self, wheres: Iterable[str], output: Path, source_first: bool) -> int:
        """Links of URIs, into a new folder; how many."""
        parser = parse_swapped_link if source_first else parse_link
        return _write_links(self._rows(wheres, parser, _uris_of_link), output)

    def captures(self, wheres: Iterable[str], output: Path) -> int:
        output.mkdir()
        rows = self._rows(wheres, parse_typed_capture, _uris_of_capture)
        return sum(_write_captures(some, path) for some, path in _in_parts(rows, output))

    def key_links(self, canonical: Iterable[str], given: Iterable[str], output: Path) -> int:
        """Links of keys, from canonical links and from input links, whose ids are made anew."""

        def links() -> Iterator[Link]:
            for row in self._rows(canonical, parse_canonical_link):
                yield Link(*row)
            for _, target, source in self._rows(given, parse_input_link):
                yield Link(target, source)

        return _write_links(links(), output)

    def map_keys(self, wheres: Iterable[str], output: Path) -> int:
        """The keys of a map, some of which no link may have, as captures of which nothing is known
        but the key."""
        output.mkdir()
        unknown = [UNKNOWN] * (len(Capture._fields) - 1)
        rows = (Capture(row.key, *unknown) for row in self._rows(wheres, parse_map_row))
        return sum(_write_captures(some, path) for some, path in _in_parts(rows, output))

    def _rows(
        self,
        wheres: Iterable[str],
        parser: Parser[Row],
        uris: Callable[[Row], tuple[bytes, ...]] = lambda row: (),
    ) -> Iterator[Row]:
        """The rows of the lines that count. uris: those of a row, where it has such."""
        for where in wheres:
            for path, number, line in read_lines(where):
                try:
                    row = parser(line)
                except BadLine as error:
                    raise BadInput(f"{path}, line {number}", error.found, error.expected) from error
                if why := why_unusable(line, *uris(row)):
                    self.dropped[DROPPED + why] += 1
                    if len(self.examples) < EXAMPLES:
                        self.examples.append(f"{path}, line {number}")
                else:
                    yield row


def _uris_of_link(link: Link) -> tuple[bytes, ...]:
    return link.target, link.source


def _uris_of_capture(capture: Capture) -> tuple[bytes, ...]:
    return (capture.uri,)


def _in_parts(rows: Iterator[Row], output: Path) -> Iterator[tuple[Iterator[Row], Path]]:
    """PART rows at a time, each with the file that they go to; at least one file."""
    number, first = 0, next(rows, None)
    while first is not None or not number:
        begin = () if first is None else (first,)
        yield chain(begin, islice(rows, PART - 1)), output / f"{output.name}-{number:05d}.parquet"
        number, first = number + 1, next(rows, None)


def _write_links(rows: Iterator[Link], output: Path) -> int:
    output.mkdir()
    return sum(_write_part(some, path) for some, path in _in_parts(rows, output))


def _write_part(links: Iterator[Link], path: Path) -> int:
    with LinksWriter(path) as writer:
        while batch := list(islice(links, BATCH)):
            for source, page in groupby(batch, attrgetter("source")):
                targets, _, hops, _ = zip(*page, strict=True)
                writer.add(source, targets, hops)
    return int(writer.rows)


def _write_captures(rows: Iterator[Capture], path: Path) -> int:
    with CapturesWriter(path) as writer:
        writer.add(rows)
    return int(writer.rows)
