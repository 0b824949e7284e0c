"""Arrays of one dimension in .npy files, mapped, and checked before anything goes by what they say.

A compiled loop reads wherever an index leads: what comes from a file passes a check here, or one
made for it (csr.py, ids.py, ranks.py), first.
"""

from __future__ import annotations

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
