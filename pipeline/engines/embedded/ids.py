"""assign-ids: which keys are nodes, and their ids, 0 to N - 1 in the order of the key numbers.

map/map.parquet: id and key, ascending. map/ids.npy: for every key number its id, the type's
greatest value without one. `linked`: keys of which a spelling is linked, by themselves too; `all`:
every key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.kernel.errors import BadInput
from pipeline.data.csr import id_type
from pipeline.data.growing import save
from pipeline.data.key_numbers import numbered, open_ids
from pipeline.data.parquet import CHECKED, parquet_batches
from pipeline.ranking.classes import Preferences, preferences, preferred_first

NODE_BYTES = 16  # a key, with what is written; gen-graph, which comes next, needs as much
MAP, IDS = "map.parquet", "ids.npy"
SCHEMA = pa.schema([("id", pa.int64()), ("key", pa.string())])


@dataclass(frozen=True)
class IdCounts:
    """keys: of all spellings; nodes: those that have an id."""

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
        raise BadInput(
            str(uris),
            "no links at all, so no page gets an id",
            "at least one link" + (" or capture" if nodes == "all" else ""),
            "Look at what extract-links counted; --nodes all ranks pages without links too.",
        )
    kind = id_type(count)
    ids: npt.NDArray[Any] = np.cumsum(noded, dtype=kind)
    ids -= 1
    ids[~noded] = np.iinfo(kind).max
    output.mkdir(parents=True)
    save(output / IDS, ids)
    _write_map(uris, ids, output / MAP)
    return IdCounts(len(ids), count)


def _batches(uris: Path, *columns: str, keys: int | None = None) -> Iterator[list[Any]]:
    """Columns of uris, some rows at a time; their first, the key number, as an array."""
    rows = parquet_batches(uris, ("number", *columns))
    for batch in numbered(uris, rows, keys):
        if len(batch):
            first, *others = batch.columns
            yield [first.to_numpy(), *others]


def _noded(uris: Path, *, everything: bool) -> npt.NDArray[np.bool_]:
    """Which key numbers are nodes."""
    keys = 0
    for (numbers,) in _batches(uris):
        keys = int(numbers[-1]) + 1
    noded = np.full(keys, everything)
    if not everything:
        for numbers, links in _batches(uris, "links", keys=keys):
            noded[numbers[links.to_numpy() > 0]] = True
    return noded


def _write_map(uris: Path, ids: npt.NDArray[Any], path: Path) -> None:
    none, latest = np.iinfo(ids.dtype).max, -1
    encodings = {"id": "DELTA_BINARY_PACKED", "key": "DELTA_BYTE_ARRAY"}
    with (
        path.open("wb") as stream,
        pq.ParquetWriter(
            stream,
            SCHEMA,
            compression="zstd",
            use_dictionary=False,
            column_encoding=encodings,
            **CHECKED,
        ) as rows,
    ):
        for numbers, keys in _batches(uris, "key", keys=len(ids)):
            first = np.flatnonzero(np.diff(numbers, prepend=latest))  # spelling of its key
            latest = int(numbers[-1])
            found = ids[numbers[first]]
            kept = found != none
            if kept.any():
                columns = [pa.array(found[kept].astype(np.int64)), keys.take(first[kept])]
                rows.write_table(pa.table(columns, SCHEMA))


def captured_nodes(uris: Path, ids: Path, nodes: int) -> npt.NDArray[np.bool_]:
    """Which nodes, by id, were captured in any spelling: bool[nodes]."""
    of_key = open_ids(ids, nodes)
    mask = np.zeros(nodes, np.bool_)
    for numbers, captures in _batches(uris, "captures", keys=len(of_key)):
        found = of_key[numbers[captures.to_numpy() > 0]]
        mask[found[found != np.iinfo(of_key.dtype).max]] = True
    return mask


def preferred_nodes(uris: Path, ids: Path, nodes: int) -> Preferences:
    """By id, what ties by links prefer, as pipeline/ranking/classes.py has it: uint64[nodes]."""
    of_key = open_ids(ids, nodes)
    sums = np.zeros(nodes, np.uint64)
    for numbers, captures, links in _batches(uris, "captures", "links", keys=len(of_key)):
        found = of_key[numbers]
        known = found != np.iinfo(of_key.dtype).max
        added = preferences(links.to_numpy(), captures.to_numpy())
        np.add.at(sums, found[known], added[known])
    return preferred_first(sums)
