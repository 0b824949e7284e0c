"""Which URIs of a host came behind most URIs of later classes of the same host.

A queue of Heritrix counts as its best waiting URI. So a URI that cannot be fetched yet, or that is
found late, puts the worse URIs before it ahead of other hosts. A URI that was tried without an
answer (forbidden by robots.txt, beyond a limit) is one, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.analysis.audit.joining import HOST, UNORDERED_HOPS, arrays, label
from crawlrank.pipeline.analysis.audit.order import CLASSES
from crawlrank.pipeline.data.database import feed

SHOWN = 5  # URIs, one a host
ROWS = pa.schema([("position", pa.int64()), ("behind", pa.int64())])
LEAST = 10  # URIs of later classes before one that is worth a line


class Holder(NamedTuple):
    """A URI, and how many URIs of later classes of its host came before it. status: of its last
    line in the log."""

    host: str
    uri: str
    precedence: str
    status: int
    behind: int


@loop
def count_behind(counts: Any, groups: Any, classes: Any, behind: Any) -> None:
    """For each row the rows of its group before it that have a later class. counts: int64[CLASSES +
    1], of the group that is open, whose number is the last."""
    most = len(counts) - 1
    for row in range(len(classes)):
        if groups[row] != counts[most]:
            counts[:] = 0
            counts[most] = groups[row]
        later = 0
        for number in range(classes[row] + 1, most):
            later += counts[number]
        behind[row] = later
        counts[classes[row]] += 1


def find_holders(db: duckdb.DuckDBPyConnection) -> list[Holder]:
    """Of the tables of joining.py: of each host the URI that came behind most, the most first."""
    feed(db, "rows", ROWS, _behind(db.cursor()))
    query = (
        f"SELECT {HOST}, uri, class, status, behind FROM rows JOIN seen USING (position)"
        f" WHERE behind >= {LEAST}"
        f" QUALIFY row_number() OVER (PARTITION BY {HOST} ORDER BY behind DESC, position) = 1"
        f" ORDER BY behind DESC, position LIMIT {SHOWN}"
    )
    holders = db.execute(query).fetchall()
    db.unregister("rows")
    return [Holder(host, uri, label(number), *rest) for host, uri, number, *rest in holders]


def _behind(db: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    unordered = ", ".join(str(ord(hop)) for hop in UNORDERED_HOPS)
    query = (
        f"SELECT dense_rank() OVER (ORDER BY {HOST}) AS number, class, position FROM seen WHERE"
        f" class IS NOT NULL AND hop NOT IN ({unordered}) AND uri LIKE 'http%'"
        " ORDER BY number, position"
    )
    counts = np.full(CLASSES + 1, -1)
    for rows in arrays(db, query):
        behind = np.zeros(len(rows["class"]), np.int64)
        count_behind(counts, rows["number"], rows["class"], behind)
        yield pa.record_batch([pa.array(rows["position"]), pa.array(behind)], ROWS)
