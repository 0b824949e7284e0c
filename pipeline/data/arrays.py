"""Arrays of one dimension in .npy files, mapped, and checked before anything goes by what they say.

A compiled loop reads wherever an index leads: what comes from a file passes a check here, or one
made for it (csr.py, ids.py, ranks.py), first.

What was read of a mapped file counts as memory of the process until the system takes it back. A
pass over the edges releases each piece after it, and so holds one piece at a time.

Python writes the files: numpy's own error for a full disk has numbers of items, and no cause. An
array may also grow until all is written.

Key numbers and ids from files are checked to be such: 0, 1, 2 … in their order.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput, count_of

if TYPE_CHECKING:
    import pyarrow as pa

Int64Array = npt.NDArray[np.int64]
IDS = (np.dtype(np.uint32), np.dtype(np.uint64))  # of ids, key numbers and outdegrees
PIECE = 1 << 20  # numbers that are looked at together


def open_array(path: Path, types: tuple[npt.DTypeLike, ...], cure: str) -> Any:
    """The array in a file, mapped. Raises BadInput for a file that is missing, of another type or
    shape, or longer or shorter than its head says."""
    names = " or ".join(np.dtype(kind).name for kind in types)
    expected = f"an array of {names}"
    try:
        array = np.lib.format.open_memmap(path, mode="r")
        size = path.stat().st_size
    except OSError as error:
        raise BadInput(str(path), f"cannot be read ({error})", expected, cure) from error
    except Exception as error:  # numpy raises what Python's parser does with the damaged head
        reason = str(error).partition("\n")[0][:200]
        raise BadInput(str(path), f"cannot be read ({reason})", expected, cure) from error
    if array.dtype not in types or array.ndim != 1:
        what = f"an array of {array.dtype.name} of the shape {array.shape}"
        raise BadInput(str(path), what, expected, cure)
    if array.offset + array.nbytes != size:
        whole = f"{array.offset + array.nbytes}, as its head says"
        raise BadInput(str(path), count_of(size, "byte"), whole, cure)
    return array


def refuse(path: Path, index: int, value: object, expected: str, cure: str) -> NoReturn:
    """Raise BadInput for a number of an array."""
    raise BadInput(f"{path}, index {index}", str(value), expected, cure)


def release(array: npt.NDArray[Any], begin: int, end: int) -> None:
    """Let go of the numbers from begin to end; nothing happens to an array that is in no file."""
    mapped = getattr(array, "_mmap", None)
    if mapped is None or end <= begin or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = array.ctypes.data - np.frombuffer(mapped, "u1").ctypes.data
    first = start + begin * array.itemsize
    first -= first % mmap.PAGESIZE
    last = start + end * array.itemsize
    mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


class Growing(AbstractContextManager["Growing"]):
    """Writes arrays of one type to a .npy file, one after the other; `length` numbers so far."""

    def __init__(self, path: Path, dtype: npt.DTypeLike) -> None:
        self._file = path.open("wb")
        self._dtype = np.dtype(dtype)
        self._begin = 0
        self.length = 0
        self._begin = self._head()

    def _head(self) -> int:
        """Write the header, which numpy pads so that any length fits; where the numbers begin."""
        described = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self.length,),
        }
        self._file.seek(0)
        np.lib.format.write_array_header_1_0(self._file, described)
        if self._begin and self._file.tell() != self._begin:
            raise AssertionError("the header of a .npy file has grown into its numbers")
        return self._file.tell()

    def write(self, numbers: npt.NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(numbers, self._dtype).data)
        self.length += len(numbers)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._file:
            if kind is None:
                self._head()


def save(path: Path, numbers: npt.NDArray[Any]) -> None:
    """An array of one dimension to a .npy file."""
    with Growing(path, numbers.dtype) as file:
        file.write(numbers)


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
