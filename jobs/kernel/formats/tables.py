"""Datasets as Parquet: which columns they have there, and their rows as lines of text again.

Every reader of lines thus reads them too (reading.py). A column that may be absent in
lines may be absent here; null is `-`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jobs.kernel.formats.rows import USUAL_CAPTURE, Capture, Link

AT_ONCE = 20_000  # rows in memory


class Shape(NamedTuple):
    """A dataset: its columns with Arrow's names of their types, those that each row must have, and
    what separates them in a line. Captures keep their 14 digits: archives hold impossible dates,
    and text and Parquet say the same."""

    columns: dict[str, str]
    required: int
    separator: str


_NUMBERS = {"status": "int32", "offset": "int64"}
_LINKS = dict.fromkeys(Link._fields, "string")
_CAPTURES = {name: _NUMBERS.get(name, "string") for name in Capture._fields}
LINKS = Shape(dict(list(_LINKS.items())[:3]), 2, " ")
CAPTURES = Shape(dict(list(_CAPTURES.items())[:USUAL_CAPTURE]), 8, "\t")
#: the same with the columns that extraction adds where asked for
DATED_LINKS = Shape(_LINKS, 4, " ")
REFERRING_CAPTURES = Shape(_CAPTURES, 14, "\t")
SCORES = Shape({"score": "double", "uri": "string", "key": "string"}, 3, "\t")


def is_table(path: Path) -> bool:
    return path.suffix == ".parquet"


def table_lines(path: Path) -> Iterator[bytes]:
    """The rows as lines with their ends. Raises OSError for what is no such table."""
    import pyarrow as pa  # half a second that lines do not need
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as stream, pq.ParquetFile(stream) as table:
            shape, names = _shape(table.schema_arrow.names)
            for batch in table.iter_batches(AT_ONCE, columns=names):
                texts: list[Any] = [pc.cast(batch[name], pa.string()) for name in names]
                lines = pc.binary_join_element_wise(
                    *texts, shape.separator, null_handling="replace", null_replacement="-"
                )
                yield from (f"{line}\n".encode() for line in lines.to_pylist())
    except pa.ArrowException as error:
        raise OSError(str(error).partition("\n")[0]) from error


def _shape(names: list[str]) -> tuple[Shape, list[str]]:
    """The dataset that has these columns, and those of them that a line has."""
    for shape in (DATED_LINKS, LINKS, REFERRING_CAPTURES, CAPTURES, SCORES):
        columns = list(shape.columns)
        if set(columns[: shape.required]) <= set(names):
            there = set(columns) <= set(names)
            return shape, columns if there else columns[: shape.required]
    raise OSError("a table with the columns " + ascii(names)[:200])
