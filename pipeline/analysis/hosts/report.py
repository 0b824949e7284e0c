"""The table of hosts for people, and as a file: CSV, JSON lines or Parquet."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.bounds import Bounds
from crawlrank.pipeline.data.output.spreadsheets import csv_pieces
from crawlrank.pipeline.data.output.standard_output import STDOUT, write_output
from crawlrank.pipeline.options import HostSort, SiteBy
from crawlrank.pipeline.terminal import TextTable
from crawlrank.pipeline.terminal.json_text import json_text

SCHEMA = "crawlrank-hosts/1"
MOST_CLASSES = 10  # in the table; with more of them, class 1 alone
PIECE = 1 << 14  # rows


def hosts_table(
    rows: pa.Table, top: int, count: int, by: SiteBy, sort: HostSort, bounds: Bounds
) -> TextTable:
    """The first rows for people. count: how many there are in all. bounds: of scores of pages."""
    names = [name for name in rows.column_names if name.startswith("class_")]
    shown = names if len(names) <= MOST_CLASSES else names[:1]
    first = min(top, len(rows))
    title = f"{first:,} of {count:,} {by}s, " + (
        "by name" if sort == "host" else f"the {_most(sort)} {sort.replace('_', ' ')} first"
    )
    table = TextTable(
        title, by, ">pages", ">captured", ">captures", ">score", ">share", ">best",
        *(f">{name.replace('_', ' ')}" for name in shown), ">links in", ">links out", ">within",
    )  # fmt: skip
    for row in rows.slice(0, first).to_pylist():
        best = "" if row["best"] is None else bounds.text(row["best"])
        score = bounds.text(row["score"], row["pages"])
        table.add(
            row["host"], row["pages"], row["captured"], row["captures"], score,
            f"{row['share']:.2%}", best, *(row[name] for name in shown), row["links_in"],
            row["links_out"], row["links_within"],
        )  # fmt: skip
    return table


def _most(sort: HostSort) -> str:
    """The word for the highest of a column: scores are high, all else is counted."""
    return "highest" if sort in ("score", "best") else "most"


def _rows(rows: pa.Table) -> Iterator[dict[str, object]]:
    for begin in range(0, len(rows), PIECE):
        yield from rows.slice(begin, PIECE).to_pylist()


def _csv(rows: pa.Table) -> Iterator[bytes]:
    lines = csv_pieces(rows.column_names, (row.values() for row in _rows(rows)))
    return map(str.encode, lines)


def _jsonl(rows: pa.Table) -> Iterator[bytes]:
    for row in _rows(rows):
        yield json_text(row).encode() + b"\n"


def _parquet(rows: pa.Table) -> Iterator[bytes]:
    file = io.BytesIO()
    pq.write_table(rows, file, compression="zstd")
    yield file.getvalue()


FORMS: dict[str, Callable[[pa.Table], Iterator[bytes]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
}


def form_of(output: Path) -> str:
    """The form of a file by the end of its name; CSV on standard output. Raises BadInput."""
    form = "csv" if output == STDOUT else output.name.removesuffix(".gz").rpartition(".")[2]
    if form not in FORMS:
        expected = "a name that ends in .csv, .jsonl or .parquet"
        raise BadInput(str(output), "another ending", expected, "Name the file so.")
    return form


def write_hosts(rows: pa.Table, output: Path) -> None:
    """Write rows of `read_hosts` to a file, or as CSV to standard output."""
    pieces = FORMS[form_of(output)](rows)
    if output != STDOUT:
        output.parent.mkdir(parents=True, exist_ok=True)
    write_output(pieces, output)
