"""Key numbers and ids from files, checked to be such: 0, 1, 2 … in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.arrays import IDS, PIECE, open_array, refuse

URIS_CURE = "Run canonicalize to make it anew, and the steps after it."
IDS_CURE = "Run assign-ids to make it anew, and the steps after it."
NUMBERS_CURE = "Run canonicalize again."


def missing(numbers: npt.NDArray[Any]) -> int:
    """The value that stands for no number or id: the greatest of the type."""
    return int(np.iinfo(numbers.dtype).max)


def numbered(
    path: Path, spellings: Iterable[pa.RecordBatch], keys: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Rows of uris, whose first column is the number of the key: it begins at 0 and grows by 0
    or 1 from row to row, always below `keys` if that is known. Raises BadInput."""
    latest = -1
    for rows in spellings:
        numbers = rows["number"].to_numpy()
        steps = np.diff(numbers, prepend=latest)
        wrong = (steps != 0) & (steps != 1)
        wrong[:1] |= latest < 0 and numbers[:1] != 0
        if wrong.any():
            what = f"key number {numbers[int(np.argmax(wrong))]} after {latest}"
            raise BadInput(str(path), what, "numbers that ascend one by one", URIS_CURE)
        latest = int(numbers[-1]) if len(numbers) else latest
        if keys is not None and latest >= keys:
            expected = f"those below {keys}, which the ids are for"
            raise BadInput(str(path), f"key number {latest}", expected, URIS_CURE)
        yield rows


def open_ids(path: Path, nodes: int | None = None) -> npt.NDArray[Any]:
    """For every key number its id, the type's greatest value without one, mapped.

    nodes: all ids are below it, if that is known. Raises BadInput unless they are 0, 1, 2 …
    """
    ids: npt.NDArray[Any] = open_array(path, IDS, IDS_CURE)
    none, known = missing(ids), 0
    for begin in range(0, len(ids), PIECE):
        places = np.flatnonzero(ids[begin : begin + PIECE] != none) + begin
        wrong = ids[places] != np.arange(known, known + len(places), dtype=ids.dtype)
        if wrong.any():
            at = int(np.argmax(wrong))
            refuse(path, int(places[at]), ids[places[at]], f"id {known + at}", IDS_CURE)
        known += len(places)
    if nodes is not None and known > nodes:
        raise BadInput(str(path), f"ids of {known} nodes", f"of {nodes} at most", IDS_CURE)
    return ids


def open_numbers(path: Path, keys: int) -> npt.NDArray[Any]:
    """The key number of every string of a part of links, the type's greatest value without one,
    mapped. Raises BadInput for one that is not below `keys`."""
    numbers: npt.NDArray[Any] = open_array(path, IDS, NUMBERS_CURE)
    none = missing(numbers)
    for begin in range(0, len(numbers), PIECE):
        some = numbers[begin : begin + PIECE]
        wrong = (some >= keys) & (some != none)
        if wrong.any():
            at = int(np.argmax(wrong))
            refuse(path, begin + at, some[at], f"a key number below {keys}", NUMBERS_CURE)
    return numbers
