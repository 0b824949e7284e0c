"""Files on disk and bytes as Arrow's own, for all readers of Arrow.

Arrow reads in threads of its own. Where the file is an object of Python, such a thread may give a
buffer of Python back after the interpreter has begun to end. The process then aborts, or never
ends (apache/arrow issues 34314, 49942 and 50482). So no reader of Arrow is given a Python object.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def native_file(path: Path) -> Iterator[Any]:
    """The file as a pyarrow.NativeFile. Raises OSError as `open` does."""
    import pyarrow as pa  # half a second that lines of text do not need

    with path.open("rb") as stream:
        try:
            name = str(path).encode().decode()
        except UnicodeEncodeError:  # pyarrow takes names in UTF-8 only
            name = f"/dev/fd/{stream.fileno()}"
        with pa.OSFile(name) as file:
            yield file


def native_bytes(content: bytes) -> Any:
    """A pyarrow.NativeFile of a copy of these bytes in Arrow's memory."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    sink.write(content)
    return pa.BufferReader(sink.getvalue())


@contextlib.contextmanager
def open_parquet(path: Path, **options: Any) -> Iterator[Any]:
    """The file as a pyarrow.parquet.ParquetFile, which has these options and reads nothing ahead:
    pyarrow would keep all that it has read until the file is closed."""
    import pyarrow.parquet as pq

    with (
        native_file(path) as native,
        pq.ParquetFile(native, pre_buffer=False, **options) as file,
    ):
        yield file


def parquet_metadata(path: Path) -> Any:
    """The pyarrow.parquet.FileMetaData of the file."""
    import pyarrow.parquet as pq

    with native_file(path) as native:
        return pq.read_metadata(native)
