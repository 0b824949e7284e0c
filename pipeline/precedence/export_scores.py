"""Scores for crawlers other than Heritrix: a line a page, best first (score_formats.py).

The URL of a page is the spelling in the scores: other crawlers know no keys, so every other
spelling would be a page of its own for them. Classes are cut as for Heritrix (classes.py). Captured
pages without score come last, in the last class, without position. DuckDB joins and sorts within
its memory limit; memory besides: about 12 arrays of N.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.lines import parse_uri_row
from jobs.kernel.formats.reading import read_rows
from jobs.kernel.keys.uris import HTTP_PREFIXES
from pipeline.data.database import batches, database
from pipeline.data.datasets import write_file
from pipeline.data.parquet import parquet_batches, parquet_file
from pipeline.options import PrecedenceOptions
from pipeline.precedence.export import BUDGET
from pipeline.precedence.score_formats import FORMATS, ScoredPage
from pipeline.precedence.scored import ByKey, decoded, insert, row_batches
from pipeline.ranking.classes import cut, preferences, preferred_first

COUNTS = pa.schema(
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
PAGES = """
    SELECT uri, score, class, position, key, captures FROM nodes JOIN placed USING (node)
    UNION ALL
    SELECT first(uri ORDER BY captures DESC, links DESC, uri), NULL, {bins}, NULL, key,
           sum(captures)::BIGINT
    FROM counts WHERE key NOT IN (SELECT key FROM scored) GROUP BY key HAVING sum(captures) > 0
    ORDER BY position NULLS LAST, key
"""


@dataclass
class Written:
    """pages: lines. without_score: those of them. left_out: keys without a known URI."""

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

    Without uris it is not known which pages were captured, and classes are cut over all pages.
    form: a name of FORMATS. tmp: a folder for data larger than memory. Raises BadInput.
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
        pages = _pages(db, options.bins, str(scores), written)
        write_file(map(str.encode, FORMATS[form](pages)), output)
    return written


def _counted(uris: str | Path) -> Iterator[pa.RecordBatch]:
    """Spellings of text or Parquet, as COUNTS."""
    if path := parquet_file(uris):
        return parquet_batches(path, COUNTS.names)
    rows = (
        (decoded(row.key), decoded(row.uri), row.captures, row.links)
        for row in read_rows(uris, parse_uri_row)
    )
    return row_batches(COUNTS, rows)


def _placed(db: duckdb.DuckDBPyConnection, by_key: ByKey, options: PrecedenceOptions) -> pa.Table:
    """The class and the position of each node."""
    counted = db.sql(COUNTED).fetchnumpy()
    classes = cut(
        by_key.scores,
        options.bins,
        digits=options.digits,
        mask=counted["captures"] > 0 if options.classes_over == "captured" else None,
        ties=options.ties,
        preferred=preferred_first(preferences(counted["links"], counted["captures"])),
    )
    nodes = np.arange(len(classes.order))
    return pa.table({"node": nodes, "class": classes.classes, "position": classes.positions})


def _pages(
    db: duckdb.DuckDBPyConnection, bins: int, scores: str, written: Written
) -> Iterator[ScoredPage]:
    for batch in batches(db, PAGES.format(bins=bins)):
        for page in map(ScoredPage, *(column.to_pylist() for column in batch.columns)):
            if not page.url.lower().startswith(HTTP_PREFIXES):
                written.left_out += 1
                continue
            written.pages += 1
            written.without_score += page.score is None
            yield page
    if not written.pages:
        cure = "Scores of an import without URIs name keys only."
        raise BadInput(scores, "no URI in it", "at least one http or https URI", cure)
