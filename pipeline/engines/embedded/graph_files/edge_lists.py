"""Edge lists: lines of text with two fields, and tables in Parquet.

Fields are separated by a comma or a semicolon in files named .csv, by a tab where the first line
has one, else by blanks. Without a header the first field is the source, the second the target. A
header names them, in any order, and with `type` which edges are undirected, as Gephi has it. A
further field is a weight or something else, and is left out. Blanks around a field are none of it,
but in quotation marks. Lines of many words between blanks are prose; networkx writes attributes as
a dictionary.

Common Crawl's graphs are two kinds of files: vertices, `id<TAB>name`, and edges, `id<TAB>id`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.arrow_files import open_parquet
from crawlrank.pipeline.data.parquet import reading_parquet
from crawlrank.pipeline.engines.embedded.graph_files.sources import (
    EDGES,
    NODES,
    PIECE,
    Batches,
    GraphSource,
    are_ids,
    batch_of,
    blocks_of,
    columns_in,
    lines_in,
)

ENDINGS = ("txt", "tsv", "csv", "edges", "edgelist", "el", "ncol")
SOURCE = {"source", "from", "src", "fromnodeid", "from_id", "source_id", "from_node"}
TARGET = {"target", "to", "dst", "dest", "destination", "tonodeid", "to_id", "target_id", "to_node"}
TRIMMED = (",", ";")  # fields between them may have blanks around
TYPE, UNDIRECTED = "type", "undirected"
MORE_FIELDS = "edges with further fields, not taken over"
MOST_FIELDS = 4  # source, target, weight, time
EXPECTED = "a source and a target"
CURE = "Correct or remove the line."
TYPES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_binary)


def plain_ending(path: Path) -> str:
    """The ending of the name, but for that of a packed file."""
    return re.sub(r"\.(gz|bz2|xz)$", "", path.name.lower()).rpartition(".")[2]


class LineForm(NamedTuple):
    """How the lines of a file have edges. delimiter: "" for blanks. source, target, type: which
    field, -1 for none."""

    delimiter: str
    source: int = 0
    target: int = 1
    type: int = -1

    def ends_of(self, row: Sequence[str]) -> tuple[str, str] | None:
        """Source and target, if both are there."""
        if len(row) <= max(self.source, self.target):
            return None
        ends = row[self.source], row[self.target]
        return ends if all(ends) else None

    def is_both(self, row: Sequence[str]) -> bool:
        """Whether an edge is one in both directions."""
        return -1 < self.type < len(row) and row[self.type].lower() == UNDIRECTED


def line_form(path: Path, number: int, line: str) -> tuple[LineForm, bool]:
    """The form of a file by its first line, and whether that is a header."""
    delimiter = "\t" if "\t" in line else ""
    if plain_ending(path) == "csv":
        delimiter = ";" if ";" in line and "," not in line else ","
    where = f"{path}, line {number}"
    names = fields_of(line, delimiter, where)
    if not delimiter and names and names[0][-1] in TRIMMED:
        what, cure = f"{names[0][-1]!r} after a field", "Name the file .csv."
        raise BadInput(where, what, "fields between blanks", cure)
    if columns := columns_of(names):
        lowered = [name.strip().lower() for name in names]
        return LineForm(delimiter, *columns, lowered.index(TYPE) if TYPE in lowered else -1), True
    return LineForm(delimiter), False


def fields_of(line: str, delimiter: str, where: str) -> list[str]:
    """The fields of a line. Raises BadInput for prose."""
    if not delimiter:
        return _words(line, where)
    if '"' not in line:
        fields = line.split(delimiter)
        return [field.strip(" ") for field in fields] if delimiter in TRIMMED else fields
    try:
        trims = delimiter in TRIMMED
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=trims))
    except csv.Error as error:
        raise BadInput(where, f"no fields ({error})", EXPECTED, CURE) from error


def _words(line: str, where: str) -> list[str]:
    """The fields of a line that has blanks between them."""
    words = line.split()
    if len(words) > MOST_FIELDS and not words[2].startswith("{"):
        what, most = f"{len(words)} words", f"{MOST_FIELDS} fields between blanks at most"
        raise BadInput(where, what, f"an edge, of {most}", f"{CURE} Or put tabs between fields.")
    return words


def columns_of(names: Sequence[str]) -> tuple[int, int] | None:
    """Where source and target are by the names of columns, if these say so."""
    lowered = [name.strip().lower() for name in names]
    at = [next((k for k, name in enumerate(lowered) if name in of), -1) for of in (SOURCE, TARGET)]
    return (at[0], at[1]) if min(at) >= 0 else None


class EdgeLists(GraphSource):
    named = False

    def edges(self) -> Batches:
        return chain.from_iterable(map(self._batches, self.paths))

    def _batches(self, path: Path) -> Batches:
        form: LineForm | None = None
        for number, block in blocks_of(path):
            batch = self._at_once(block, form) if form else None
            if batch is None:
                lines = lines_in(block, number, path, self.counters)
                if form is None:
                    if (first := next(lines, None)) is None:
                        continue
                    form, is_header = line_form(path, *first)
                    lines = lines if is_header else chain([first], lines)
                batch = batch_of(self._pairs(lines, form, path), EDGES)
            yield batch
        if form is None:
            raise BadInput(str(path), "no line with an edge", EXPECTED)

    def _at_once(self, block: bytes, form: LineForm) -> pa.RecordBatch | None:
        """The edges of lines that are all alike."""
        columns = columns_in(block, form.delimiter) or ()
        wide = not form.delimiter and len(columns) > MOST_FIELDS
        if wide or len(columns) <= max(form.source, form.target, form.type):
            return None
        ends = [columns[form.source], columns[form.target]]
        if form.delimiter in TRIMMED:
            ends = [pc.utf8_trim(each, " ") for each in ends]
        if any(map(_has_empty, ends)):
            return None
        self.counters[MORE_FIELDS] += len(ends[0]) * (len(columns) > 2 + (form.type >= 0))
        if form.type >= 0:
            types = pc.utf8_lower(pc.utf8_trim(columns[form.type], " "))
            both = pc.equal(types, UNDIRECTED)
            ends = [
                pa.concat_arrays([one, other.filter(both)])
                for one, other in zip(ends, ends[::-1], strict=True)
            ]
        return pa.record_batch(ends, EDGES)

    def _pairs(
        self, lines: Iterator[tuple[int, str]], form: LineForm, path: Path
    ) -> Iterator[tuple[str, str]]:
        for number, line in lines:
            row = fields_of(line, form.delimiter, f"{path}, line {number}")
            if (ends := form.ends_of(row)) is None:
                count = len([each for each in row if each])
                what = f"{count} field{'' if count == 1 else 's'}"
                raise BadInput(f"{path}, line {number}", what, EXPECTED, CURE)
            self.counters[MORE_FIELDS] += len(row) > 2 + (form.type >= 0)
            yield ends
            if form.is_both(row):
                yield ends[::-1]


def _has_empty(column: pa.Array) -> bool:
    return bool(pc.any(pc.equal(column, "")).as_py())


class CommonCrawl(GraphSource):
    """vertices: the files of names. paths: those and the ones of edges."""

    reversed_names = True

    def __init__(self, vertices: Sequence[Path], edges: Sequence[Path]) -> None:
        super().__init__([*vertices, *edges])
        self._vertices, self._edges = vertices, edges

    def nodes(self) -> Batches:
        return self._batches(self._vertices, NODES, "an id and a name")

    def edges(self) -> Batches:
        return self._batches(self._edges, EDGES, "two ids")

    def _batches(self, paths: Sequence[Path], schema: pa.Schema, expected: str) -> Batches:
        for path in paths:
            for number, block in blocks_of(path):
                columns = columns_in(block, "\t")
                plain = columns and len(columns) > 1 and are_ids(columns[0])
                if columns and plain and not _has_empty(columns[1]):
                    yield pa.record_batch(columns[:2], schema)
                else:
                    yield batch_of(self._pairs(block, number, path, expected), schema)

    def _pairs(
        self, block: bytes, number: int, path: Path, expected: str
    ) -> Iterator[tuple[str, str]]:
        for at, line in lines_in(block, number, path, self.counters):
            row = line.split("\t")
            if len(row) < 2 or not row[0].isdigit() or not row[1]:
                raise BadInput(f"{path}, line {at}", f"{line[:80]!r}", expected, CURE)
            yield row[0], row[1]


class ParquetEdges(GraphSource):
    """Tables with a row for each edge, whose columns are named as in a header of text, or are
    two."""

    named = False

    def edges(self) -> Batches:
        for path in self.paths:
            with reading_parquet(path, "a table of edges"), open_parquet(path) as file:
                names = file.schema_arrow.names
                at = columns_of(names)
                chosen = [names[k] for k in at] if at else names
                if len(chosen) != 2:
                    what = f"the columns {', '.join(names)}"
                    raise BadInput(str(path), what, "source and target", "Rename two columns.")
                self.counters[MORE_FIELDS] += file.metadata.num_rows * (len(names) > 2)
                row = 0
                for batch in file.iter_batches(PIECE, columns=chosen, use_threads=False):
                    columns = [_labels(batch[name], path, name, row) for name in chosen]
                    yield pa.record_batch(columns, EDGES)
                    row += len(batch)


class ParquetAdjacency(GraphSource):
    """Tables as `export --format adjacency-parquet` writes them."""

    def nodes(self) -> Batches:
        for path in self.paths:
            with reading_parquet(path, "a table of nodes"), open_parquet(path) as file:
                label = next(name for name in LABELS if name in file.schema_arrow.names)
                for batch in file.iter_batches(PIECE, columns=["id", label], use_threads=False):
                    yield pa.record_batch([batch["id"].cast(pa.string()), batch[label]], NODES)

    def edges(self) -> Batches:
        for path in self.paths:
            with reading_parquet(path, "a table of edges"), open_parquet(path) as file:
                for batch in file.iter_batches(1 << 12, columns=["id", "links"], use_threads=False):
                    links = batch["links"]
                    sources = batch["id"].take(pc.list_parent_indices(links))
                    targets = pc.list_flatten(links)
                    yield pa.record_batch([c.cast(pa.string()) for c in (sources, targets)], EDGES)


LABELS = ("url", "host", "id")  # of nodes, the first that a table has


def _labels(column: pa.Array, path: Path, name: str, row: int) -> pa.Array:
    """The column as strings. row: the number of rows before it."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not any(is_type(column.type) for is_type in TYPES):
        what = f"the column {name} of the type {column.type}"
        raise BadInput(str(path), what, "labels or whole numbers", "Convert the column.")
    if column.null_count:
        at = row + pc.index(column.is_null(), True).as_py() + 1
        raise BadInput(f"{path}, row {at}", f"no {name}", EXPECTED, "Leave such rows out.")
    return column.cast(pa.string())
