"""The sites of a ranking, best first, with their positions and classes.

Columns: position, from 1; class, cut over all sites as classes of pages are (ranking/classes.py),
with the bins and ties of the ranking, ties by name where they are by links; then those of
ranks/sites.parquet. The class is cut here, as --bins may change without a new ranking. Memory: the
table and CUT_BYTES a site.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.data.parquet import parquet_batches
from crawlrank.pipeline.ranking.bounds import Bounds
from crawlrank.pipeline.ranking.classes import cut
from crawlrank.pipeline.ranking.methods import method_of
from crawlrank.pipeline.terminal import TextTable
from crawlrank.pipeline.workfolder.results.dataset_folders import DatasetFolders, finished_manifest

SITES = "sites.parquet"
RANKED = ("site", "pages", "links_in", "links_out", "sites_in", "sites_out", "score", "share")
COLUMNS = ("position", "class", *RANKED)


def read_sites(work: Path) -> pa.Table:
    """A row of COLUMNS for each site of a finished ranking. Raises BadInput for a folder of another
    method, or not finished, or damaged."""
    manifest = finished_manifest(work)
    method = method_of(manifest.parameters)
    if not method.of_sites:
        cure = "Rank sites with `crawlrank rank --method site`, and name that with --ranking."
        raise BadInput(str(work), f"a ranking by {method.title}", "a ranking of sites", cure)
    with temporary_folder() as tmp:
        folders = DatasetFolders(work, manifest, tmp)
        with folders.reading():
            batches = list(parquet_batches(folders.folder("ranks") / SITES, RANKED))
    rows = pa.Table.from_batches(batches)
    classes = cut(
        rows["score"].to_numpy(),
        int(manifest.parameters["--bins"]),
        digits=int(manifest.steps["join-scores"]["parameters"]["digits"]),
        ties=manifest.parameters["--ties"],
    )
    rows = rows.add_column(0, "class", pa.array(classes.classes.astype("int64")))
    rows = rows.add_column(0, "position", pa.array(classes.positions.astype("int64")))
    return rows.take(pa.array(classes.order))


def best_sites(rows: pa.Table, count: int, bounds: Bounds) -> TextTable:
    """The first rows of `read_sites` for people."""
    table = TextTable(
        f"best of {count_of(len(rows), 'site')}",
        ">", "site", ">class", ">score", ">share", ">pages", ">links in", ">links out",
        ">sites in", ">sites out",
    )  # fmt: skip
    for row in rows.slice(0, count).to_pylist():
        score, share = bounds.text(row["score"]), f"{row['share']:.2%}"
        counts = (row[name] for name in ("pages", "links_in", "links_out", "sites_in", "sites_out"))
        table.add(row["position"], row["site"], row["class"], score, share, *counts)
    return table
