"""Datasets in Parquet, read as lines of text, so that every reader of lines reads them too.

A column that may be absent in lines may be absent here; null is `-`. Captures keep the 14 digits of
their timestamps: archives hold impossible dates, and text and Parquet say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import CAPTURES, LINKS, SCORES, Dataset
from crawlrank.jobs.kernel.storage.arrow_files import open_parquet

AT_ONCE = 20_000  # rows in memory
AS_LINES = (LINKS, CAPTURES, SCORES)


def is_table(path: Path) -> bool:
    return path.suffix == ".parquet"


def table_lines(path: Path, kinds: Sequence[Dataset] = AS_LINES) -> Iterator[bytes]:
    """The rows as lines with their ends. kinds: what the table may be one of. Raises OSError for
    what is no Parquet, and BadInput for a table with other columns."""
    import pyarrow as pa  # half a second that lines do not need
    import pyarrow.compute as pc

    try:
        with open_parquet(path) as table:
            dataset, names = _columns_of_lines(path, table.schema_arrow.names, kinds)
            for batch in table.iter_batches(AT_ONCE, columns=names):
                texts: list[Any] = [pc.cast(batch[name], pa.string()) for name in names]
                lines = pc.binary_join_element_wise(
                    *texts, dataset.separator, null_handling="replace", null_replacement="-"
                )
                yield from (f"{line}\n".encode() for line in lines.to_pylist())
    except pa.ArrowException as error:
        raise OSError(str(error).partition("\n")[0]) from error


def _columns_of_lines(
    path: Path, names: list[str], kinds: Sequence[Dataset]
) -> tuple[Dataset, list[str]]:
    """The dataset that has these columns, and those of them that a line has: as many as may be.
    Raises BadInput."""
    for dataset in kinds:
        for width in sorted(dataset.widths, reverse=True):
            columns = list(dataset.first(width))
            if dataset.required <= width == len(columns) and set(columns) <= set(names):
                return dataset, columns
    columns_of = (f"{each.name} ({_listed(each.first(each.required))})" for each in kinds)
    raise BadInput(
        str(path),
        f"a table with the columns {_listed(names)[:200]}",
        f"the columns of {' or '.join(columns_of)}",
        "Name a table of crawlrank, or give its columns these names.",
    )


def _listed(names: Iterable[str]) -> str:
    """Names as they are, but for control characters."""
    return ", ".join(ascii(name)[1:-1] for name in names)
