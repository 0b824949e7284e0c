"""The table of sites of a ranking: ranks/sites.parquet, a row for each site, by name.

Columns: site; pages; links_in and links_out, the links between its pages and those of other sites;
sites_in and sites_out, how many sites these lead from and to; score; share, the score by the sum of
all sites' scores. Memory: 8 bytes a site, and a batch.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.pipeline.data.parquet import CHECKED, parquet_batches
from crawlrank.pipeline.data.scores_file import SCORES, open_scores
from crawlrank.pipeline.engines.embedded.sites.collapsing import COUNTED, SITES, open_sites

SCHEMA = pa.schema([*COUNTED, ("score", pa.float64()), ("share", pa.float64())])


def write_sites(collapsed: Path, ranks: Path) -> None:
    """Add the table to the folder `ranks`, which has the scores. collapsed: of `collapse`."""
    sites, done = open_sites(collapsed), 0
    scores = np.empty(sites.nodes)
    scores[sites.of_pages] = open_scores(ranks / SCORES, len(sites.of_pages))
    total = float(scores.sum())
    with (ranks / SITES).open("wb") as stream, pq.ParquetWriter(stream, SCHEMA, **CHECKED) as file:
        for batch in parquet_batches(collapsed / SITES, COUNTED.names):
            some = scores[done : done + len(batch)]
            done += len(batch)
            columns = [*batch.columns, pa.array(some), pa.array(some / total)]
            file.write_batch(pa.record_batch(columns, SCHEMA))
