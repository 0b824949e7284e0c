"""The way of each URI from a seed: the letters of its hops, and the URI that led to it.

Heritrix writes it with each capture. What was only linked to has the way of a page that links to
it, and one hop more. Archives of other crawlers have no ways: the shortest ones by links begin at
the seeds of the job there or, where none of these was captured, at every capture.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from crawlrank.jobs.kernel.formats.rows import LINK_HOPS
from crawlrank.pipeline.precedence.heritrix_column import forms
from crawlrank.pipeline.workfolder.results.finished import Finished

MOST_HOPS = 1000  # Heritrix keeps the last 50 letters, and a number for those before


def read_ways(db: duckdb.DuckDBPyConnection, finished: Finished, seeds: Sequence[str]) -> None:
    """Make the table `way`: uri, hops, via, of the URIs in the table `met_uri` that have one.
    seeds: of the job. hops and via are empty for a seed."""
    db.execute(
        "CREATE TABLE way AS SELECT uri, coalesce(arg_min(hops, length(hops)), '') AS hops,"
        " coalesce(arg_min(via, length(hops)), '') AS via, bool_or(hops IS NOT NULL) AS told"
        f" FROM {finished.view('visited')} GROUP BY uri"
    )
    if not _scalar(db, "SELECT coalesce(bool_or(told), false) FROM way"):
        db.register("seeds", pa.table({"uri": forms(pa.array(seeds, pa.string())).forms}))
        if _scalar(db, "SELECT count(*) FROM way SEMI JOIN seeds USING (uri)"):
            db.execute("DELETE FROM way WHERE uri NOT IN (SELECT uri FROM seeds)")
        db.unregister("seeds")
    db.execute(
        "CREATE TABLE step AS SELECT source, target, any_value(hop) AS hop FROM"
        f" {finished.view('kept')} SEMI JOIN (SELECT uri AS target FROM met_uri"
        " ANTI JOIN way USING (uri)) USING (target)"
        f" WHERE contains('{LINK_HOPS}', hop) GROUP BY source, target"
    )
    for _ in range(MOST_HOPS):
        more = _scalar(
            db,
            "INSERT INTO way SELECT target, arg_min(way.hops || hop, length(way.hops)),"
            " arg_min(source, length(way.hops)), false FROM step JOIN way ON source = uri"
            " WHERE target NOT IN (SELECT uri FROM way) GROUP BY target",
        )
        if not more:
            break


def _scalar(db: duckdb.DuckDBPyConnection, statement: str) -> int:
    ((value,),) = db.execute(statement).fetchall()  # of a count, and of an insertion
    return int(value)
