"""Scores for crawlers other than Heritrix: a line a page, best first.

    csv     RFC 4180, with a header: url,score,class,position,key,captures; an apostrophe before
            what a spreadsheet would take for a formula
    jsonl   the same by name, an object a line
    nutch   `url<TAB>nutch.score=score`, what `nutch inject` reads: no blank beside the tab, as that
            would belong to the name, and a decimal that Java's Float.parseFloat takes

The URL is the spelling that the scores show: other crawlers know nothing of keys, and every further
spelling would be a page of its own to them. Classes are cut as for Heritrix (classes.py).
Behind the pages with a score come those that were captured and have none: in the last class, at no
position; nutch gets 0.15 for them, what the equation gives to a page without incoming links.
DuckDB joins and sorts within its memory limit; memory beside it: about 12 arrays of N.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.lines import parse_uri_row
from jobs.kernel.formats.reading import read_rows
from jobs.kernel.rank.plain_round import BASE
from pipeline.data.database import batches, database
from pipeline.data.datasets import write_file
from pipeline.data.parquet import parquet_batches, parquet_file
from pipeline.options import PrecedenceOptions
from pipeline.precedence.export import BUDGET
from pipeline.precedence.scored import ByKey, decoded, insert, row_batches
from pipeline.ranking.classes import cut, preferences, preferred_first

SPELLED = pa.schema(
    [
        ("key", pa.string()), ("uri", pa.string()), ("captures", pa.int64()), ("links", pa.int64())
    ]
)  # fmt: skip
NODES = """
    CREATE TABLE nodes AS
    SELECT s.key AS key, s.uri AS uri, s.score AS score, c.captures AS captures, c.links AS links,
           row_number() OVER (ORDER BY s.key) - 1 AS node
    FROM scored s LEFT JOIN
         (SELECT key, sum(captures)::BIGINT AS captures, sum(links)::BIGINT AS links
          FROM counts GROUP BY key) c USING (key)
"""
COUNTED = (
    "SELECT coalesce(captures, 0) AS captures, coalesce(links, 0) AS links FROM nodes ORDER BY node"
)
# without a score: the spelling captured most, else linked most, then first in byte order
ROWS = """
    SELECT uri, score, class, place, key, captures FROM nodes JOIN placed USING (node)
    UNION ALL
    SELECT first(uri ORDER BY captures DESC, links DESC, uri), NULL, {bins}, NULL, key,
           sum(captures)::BIGINT
    FROM counts WHERE key NOT IN (SELECT key FROM scored) GROUP BY key HAVING sum(captures) > 0
    ORDER BY place NULLS LAST, key
"""


PIECE = 1 << 16  # characters
FORMULA = tuple("=+-@\t\r'")  # what a formula begins with, and the apostrophe that makes text of it


class Row(NamedTuple):
    """A page. score and position: None where it has none; captures: None where unknown."""

    url: str
    score: float | None
    precedence: int
    position: int | None
    key: str
    captures: int | None


NAMES = ("url", "score", "class", "position", "key", "captures")


@dataclass
class Written:
    """pages: lines; without_score: of them; left_out: keys that no URI is known of."""

    pages: int = 0
    without_score: int = 0
    left_out: int = 0


def export_scores(
    scores: str | Path,
    uris: str | Path | None,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    form: str,
    *,
    budget: int = BUDGET,
    threads: int | None = None,
) -> Written:
    """Write the file `output` from the datasets `scores` and `uris`, text or Parquet.

    Without uris, nobody knows what was captured, and classes are cut over all pages. form: a name
    of FORMS. tmp: a folder for what does not fit into memory. Raises BadInput.
    """
    written = Written()
    limits = {"budget": budget // 2, "threads": threads or os.cpu_count() or 1}
    with (
        tempfile.TemporaryDirectory(prefix="scores-", dir=tmp) as name,
        database(Path(name), **limits) as (db, _),
    ):
        by_key = ByKey(db, scores, None)
        db.execute("CREATE TABLE counts (key VARCHAR, uri VARCHAR, captures BIGINT, links BIGINT)")
        insert(db, "counts", _counted(uris) if uris else ())
        db.execute(NODES)
        db.register("placed", _placed(db, by_key, options))
        rows = _rows(db, options.bins, str(scores), written)
        write_file(map(str.encode, FORMS[form](rows)), output)
    return written


def _counted(uris: str | Path) -> Iterator[pa.RecordBatch]:
    """Spellings of text or Parquet, as SPELLED."""
    if path := parquet_file(uris):
        return parquet_batches(path, SPELLED.names)
    found = read_rows(uris, parse_uri_row)
    rows = ((decoded(r.key), decoded(r.uri), r.captures, r.links) for r in found)
    return row_batches(SPELLED, rows)


def _placed(db: duckdb.DuckDBPyConnection, by_key: ByKey, options: PrecedenceOptions) -> pa.Table:
    """The class and the position of each node."""
    counted = db.sql(COUNTED).fetchnumpy()
    found = cut(
        by_key.scores,
        options.bins,
        digits=options.digits,
        mask=counted["captures"] > 0 if options.classes_over == "captured" else None,
        ties=options.ties,
        preferred=preferred_first(preferences(counted["links"], counted["captures"])),
    )
    places = np.empty(len(found.order), np.int64)
    places[found.order] = np.arange(1, len(places) + 1)
    return pa.table({"node": np.arange(len(places)), "class": found.classes, "place": places})


def _rows(db: duckdb.DuckDBPyConnection, bins: int, scores: str, written: Written) -> Iterator[Row]:
    for batch in batches(db, ROWS.format(bins=bins)):
        for row in map(Row, *(column.to_pylist() for column in batch.columns)):
            if not row.url.lower().startswith(("http://", "https://")):
                written.left_out += 1
                continue
            written.pages += 1
            written.without_score += row.score is None
            yield row
    if not written.pages:
        cure = "Scores of an import without URIs name keys only."
        raise BadInput(scores, "no URI in it", "at least one http or https URI", cure)


def _csv(rows: Iterable[Row]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\r\n")
    writer.writerow(NAMES)
    for row in rows:
        writer.writerow(row._replace(url=as_text(row.url), key=as_text(row.key)))
        if line.tell() > PIECE:
            yield line.getvalue()
            line.seek(0)
            line.truncate()
    yield line.getvalue()


def as_text(cell: str) -> str:
    """So that no spreadsheet takes it for a formula: a host may be called `=hyperlink`, and the key
    begins with it. One apostrophe taken off where a cell begins with one gives the cell again."""
    return f"'{cell}" if cell[:1] in FORMULA else cell


def _jsonl(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(dict(zip(NAMES, row, strict=True))) + "\n"


def _nutch(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        score = BASE if row.score is None else row.score
        yield f"{row.url}\tnutch.score={score:.9g}\n"  # a float holds no more digits


FORMS: dict[str, Callable[[Iterable[Row]], Iterator[str]]] = {
    "nutch": _nutch,
    "csv": _csv,
    "jsonl": _jsonl,
}
