"""assign-ids: which keys are nodes, and their ids, 0 to N - 1 in the order of the key numbers.

map/map.parquet: id and key, ascending. map/ids.npy: for every key number its id, or `missing`.
Nodes are with `linked` the keys of which a spelling is linked, also from itself, and with `all` all
keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crawlrank.jobs.kernel.errors import no_nodes
from crawlrank.jobs.kernel.formats import datasets
from crawlrank.pipeline.data.arrays import missing, numbered, open_ids, save
from crawlrank.pipeline.data.csr import id_type
from crawlrank.pipeline.data.database import read_ahead
from crawlrank.pipeline.data.parquet import parquet_batches, parquet_writer, schema_of
from crawlrank.pipeline.ranking.classes import SpelledNodes, tie_weights

NODE_BYTES = 16  # a key, with its output; gen-graph needs as much
MAP, IDS = "map.parquet", "ids.npy"
SCHEMA = schema_of(datasets.MAP.columns)


@dataclass(frozen=True)
class IdCounts:
    """keys: of all spellings; nodes: keys with an id."""

    keys: int
    nodes: int


def assign_ids(uris: Path, output: Path, *, nodes: str = "linked") -> IdCounts:
    """Ids for the keys of a file of uris, in a new folder `output`.

    Raises BadInput where no key gets one: a crawl without links has no ranks. Memory: NODE_BYTES a
    key, and a row group of uris.
    """
    noded = _noded(uris, everything=nodes == "all")
    count = int(np.count_nonzero(noded))
    if not count:
        raise no_nodes(str(uris), nodes)
    ids: npt.NDArray[Any] = np.cumsum(noded, dtype=id_type(count))
    ids -= 1
    ids[~noded] = missing(ids)
    output.mkdir(parents=True)
    save(output / IDS, ids)
    _write_map(uris, ids, output / MAP)
    return IdCounts(len(ids), count)


def _batches(uris: Path, *columns: str, keys: int | None = None) -> Iterator[list[Any]]:
    """Columns of uris, a batch at a time: the key number as an array, then the given ones."""
    rows = parquet_batches(uris, ("number", *columns))
    for batch in numbered(uris, rows, keys):
        if len(batch):
            numbers, *rest = batch.columns
            yield [numbers.to_numpy(), *rest]


def _noded(uris: Path, *, everything: bool) -> npt.NDArray[np.bool_]:
    """Which key numbers are nodes."""
    keys = 0
    for (numbers,) in _batches(uris):
        keys = int(numbers[-1]) + 1
    noded = np.full(keys, everything)
    if not everything:
        for numbers, links in read_ahead(_batches(uris, "links", keys=keys)):
            noded[numbers[links.to_numpy() > 0]] = True
    return noded


def _write_map(uris: Path, ids: npt.NDArray[Any], path: Path) -> None:
    latest = -1
    encodings = {"id": "DELTA_BINARY_PACKED", "key": "DELTA_BYTE_ARRAY"}
    with parquet_writer(path, SCHEMA, use_dictionary=False, column_encoding=encodings) as rows:
        for numbers, keys in read_ahead(_batches(uris, "key", keys=len(ids))):
            first = np.flatnonzero(np.diff(numbers, prepend=latest))  # spelling of each key
            latest = int(numbers[-1])
            nodes = ids[numbers[first]]
            kept = nodes != missing(ids)
            if kept.any():
                columns = [pa.array(nodes[kept].astype(np.int64)), keys.take(first[kept])]
                rows.write_table(pa.table(columns, SCHEMA))


def spelled_nodes(uris: Path, ids: Path, nodes: int, *, weighed: bool) -> SpelledNodes:
    """What the spellings say of the nodes, by id."""
    of_key = open_ids(ids, nodes)
    result = SpelledNodes(nodes, weighed=weighed)
    for numbers, captures, links in _batches(uris, "captures", "links", keys=len(of_key)):
        of_rows = of_key[numbers]
        known = of_rows != missing(of_key)
        counts = captures.to_numpy()[known]
        weights = tie_weights(links.to_numpy()[known], counts)
        result.add(of_rows[known], counts > 0, weights)
    return result
