"""`crawlrank step import-text`: text files to a new work folder, from which a run continues.

What is imported replaces the first steps. Links and captures of URIs replace extract-links. Links
of keys do so too, with keys for URIs. A graph replaces all steps before page-rank.

Lines must have their formats (jobs/kernel/formats/lines.py). Those whose URIs are not of pages
(lines.py) are dropped and counted, as in canonicalize of the text engine. A dataset becomes parts
of some rows each, in the order of the lines, for several processes. Memory: a block of a part.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.errors import BadInput, BadLine
from crawlrank.jobs.kernel.formats.datasets import CAPTURES
from crawlrank.jobs.kernel.formats.lines import (
    DROPPED,
    AnyRow,
    Parser,
    parse_canonical_link,
    parse_capture,
    parse_input_link,
    parse_link,
    parse_map_row,
    require_usable,
    why_unusable,
)
from crawlrank.jobs.kernel.formats.reading import bad_line, parts, read_lines, refuse_foreign_start
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture, Link
from crawlrank.pipeline.data.datasets import move
from crawlrank.pipeline.engines.embedded.columns import CapturesWriter, LinksWriter
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.workfolder.dataset_store import DatasetStore
from crawlrank.pipeline.workfolder.lock import locked
from crawlrank.pipeline.workfolder.manifest import (
    GRAPH,
    KEYS,
    LINKS,
    REPLACED,
    Manifest,
    file_fingerprint,
    fingerprint,
)
from crawlrank.pipeline.workfolder.work_folder import clear_leftovers, refuse_foreign, temporary

TextFiles = Sequence[str]


@dataclass(frozen=True)
class Texts:
    """What to import: files, globs or folders of parts. One of links, canonical_links, input_links
    and graph is given; captures belong to links, map to input_links or graph.

    source_first: the columns of links, of URIs or of keys, are `source target`.
    """

    links: TextFiles = ()
    captures: TextFiles = ()
    canonical_links: TextFiles = ()
    input_links: TextFiles = ()
    map: TextFiles = ()
    graph: str = ""
    source_first: bool = False

    @property
    def kind(self) -> str:
        return GRAPH if self.graph else LINKS if self.links else KEYS

    def files(self) -> list[Path]:
        """All that is read. Raises BadInput for what is not there."""
        named = [*self.links, *self.captures, *self.canonical_links, *self.input_links, *self.map]
        return [part for name in [*named, *filter(None, [self.graph])] for part in parts(name)]


@dataclass(frozen=True)
class Imported:
    """rows: by dataset. counters: what was left out, by reason. examples: of the lines of that."""

    rows: dict[str, int]
    counters: dict[str, int]
    examples: list[str]


def import_text(
    work: Path, texts: Texts, *, budget: int, threads: int, reader: TextReader | None = None
) -> Imported:
    """Make a work folder of text files. budget: bytes of memory. reader: of all but graphs.

    Raises BadInput for a line that is none, with file and line, and for a folder that was used.
    """
    files = texts.files()
    mark = fingerprint(texts.kind, texts.source_first, list(map(file_fingerprint, files)))

    def convert(tmp: Path) -> tuple[str, Imported]:
        return texts.kind, _convert(texts, tmp, budget, threads, reader)

    return import_files(work, files, mark, convert)


def import_files(
    work: Path, files: Sequence[Path], mark: str, convert: Callable[[Path], tuple[str, Imported]]
) -> Imported:
    """Make a work folder of files. mark: of their contents. convert: writes the datasets into a
    folder, and says their kind. Raises BadInput for a folder that was used."""
    refuse_foreign(work)
    with locked(work):
        clear_leftovers(work)
        manifest = Manifest(work)
        _refuse_used(work, manifest)
        started = time.monotonic()
        named = [str(path) for path in files]
        entry: dict[str, Any] = {"kind": GRAPH, "files": named, "datasets": {}}
        _save(manifest, entry)
        with temporary(work) as tmp:
            entry["kind"], imported = convert(tmp)
            folders = sorted(path for path in tmp.iterdir() if not path.name.startswith("."))
            for folder in folders:
                move(folder, work / folder.name)
        store = DatasetStore(work)
        entry["datasets"] = {folder.name: store.record(folder.name) for folder in folders}
        entry["fingerprint"] = mark
        _save(manifest, entry)
        manifest.done(
            REPLACED[entry["kind"]][-1],
            {
                "fingerprint": entry["fingerprint"],
                "parameters": {},
                "rows": imported.rows,
                "counters": imported.counters,
                "examples": imported.examples,
                "seconds": round(time.monotonic() - started, 3),
            },
        )
    return imported


def _refuse_used(work: Path, manifest: Manifest) -> None:
    if manifest.archives or manifest.steps:
        raise BadInput(
            str(work),
            "is a work folder already",
            "a new folder",
            "Name another folder; `crawlrank run` continues in one that was imported.",
        )


def _save(manifest: Manifest, entry: dict[str, Any]) -> None:
    manifest.imported.clear()
    manifest.imported.update(entry)
    manifest.parameters["--runner"] = EMBEDDED
    manifest.save()


def _convert(
    texts: Texts, tmp: Path, budget: int, threads: int, reader: TextReader | None
) -> Imported:
    """Write the datasets as folders in tmp."""
    # pyarrow and numpy take a while
    from crawlrank.pipeline.engines.embedded.text_files.import_graph import read_graph_lines

    if texts.graph:
        counts = read_graph_lines(texts.graph, texts.map, tmp, budget=budget, threads=threads)
        return Imported(counts.rows, counts.counters, [])
    reader = reader or TextReader()
    rows = {}
    if texts.links:
        rows["links"] = reader.links(texts.links, tmp / "links", texts.source_first)
        rows["captures"] = reader.captures(texts.captures, tmp / "captures")
        named = ", ".join([*texts.links, *texts.captures])
        require_usable(named, sum(rows.values()), reader.dropped)
    else:
        rows["links"] = reader.key_links(
            texts.canonical_links, texts.input_links, tmp / "links", texts.source_first
        )
        rows["keys"] = reader.map_keys(texts.map, tmp / "keys")
    return Imported(rows, dict(reader.dropped), reader.examples)


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
