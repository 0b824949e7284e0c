"""The pages of a ranking as a list: a line a page, best first (score_formats.py), or as the file
that Heritrix loads, with all spellings of the pages that filters take.

To crawlers other than Heritrix, which know no keys, every other spelling would be a page of its
own, so a list has each page once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.pipeline.data.database import batches
from crawlrank.pipeline.data.output.standard_output import write_output
from crawlrank.pipeline.precedence.export import PartOfPages, PrecedenceSummary, export_precedence
from crawlrank.pipeline.precedence.filters import Filter, PageFilters
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.page_table import RankedPages, Taken, open_pages
from crawlrank.pipeline.precedence.score_formats import FORMATS, with_bounds

WITH_ALL_COLUMNS = ("csv", "jsonl", "parquet")
KEYS = pa.schema([("key", pa.string())])
NO_FILTERS = PageFilters()


@dataclass
class Written:
    """pages: lines. without_score: those of them. left_out: pages that no line was written for,
    by reason. taken: what filters left."""

    pages: int = 0
    without_score: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    taken: Taken = field(default_factory=Taken)


def export_scores(
    ranked: RankedPages,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    form: str,
    filters: PageFilters = NO_FILTERS,
    chosen: list[Filter] | None = None,
) -> Written:
    """Write the file `output`, or to standard output, in a format of FORMATS. chosen: the
    conditions of the filters. tmp: a folder for data larger than memory. Raises BadInput."""
    written = Written()
    columns = form in WITH_ALL_COLUMNS
    with open_pages(ranked, tmp, options, filters, chosen or [], columns=columns) as table:
        written.taken = table.count(ranked.where)
        written.left_out["without a URI"] = written.taken.without_uri
        pages = _counted(table.rows(), written)
        if columns:
            pages = (with_bounds(batch, options) for batch in pages)
        write_output(FORMATS[form](pages, written.left_out, options.bins), output)
    return written


def _counted(pages: Iterable[pa.RecordBatch], written: Written) -> Iterator[pa.RecordBatch]:
    for batch in pages:
        written.pages += len(batch)
        written.without_score += batch["score"].null_count
        yield batch


def export_filtered_precedence(
    ranked: RankedPages,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    filters: PageFilters,
    chosen: list[Filter],
) -> tuple[PrecedenceSummary, Taken]:
    """The file that Heritrix loads, with the pages that the filters take. Raises BadInput."""
    keys = tmp / "taken.parquet"
    with open_pages(ranked, tmp, options, filters, chosen, columns=False) as table:
        taken = table.count(ranked.where)
        with pq.ParquetWriter(keys, KEYS, compression="lz4") as writer:
            for batch in batches(table.db, table.taken("key")):
                writer.write_batch(batch.cast(KEYS))
    part = PartOfPages(keys, taken.summary())
    summary = export_precedence(ranked.scores, ranked.uris, output, tmp, options, part=part)
    return summary, taken
