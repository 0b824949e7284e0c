"""Arrays of one dimension in .npy files, mapped, and checked before anything goes by what they say.

A compiled loop reads wherever an index leads: what comes from a file passes a check here, or one
made for it (csr.py, ids.py, ranks.py), first.

What was read of a mapped file counts as memory of the process until the system takes it back. A
pass over the edges releases each piece after it, and so holds one piece at a time.

Python writes the files: numpy's own error for a full disk has numbers of items, and no cause. An
array may also grow until all is written.
"""

from __future__ import annotations

import mmap
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput, count_of

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
