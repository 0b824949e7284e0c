"""Arrays to .npy files, also where the length is known only when all is written.

Python writes the files: numpy's own error for a full disk has numbers of items, and no cause.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


class Growing(AbstractContextManager["Growing"]):
    """Writes arrays of one type to a .npy file, one behind the other; `length` numbers so far."""

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
