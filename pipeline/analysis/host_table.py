"""The hosts of a finished run, and the sites of a ranking, as tables.

Hosts. What `export-precedence` lists of each, added up, and its links.

A host is that of the keys, or the domain under a public suffix that somebody has registered
(data/site_names.py). pages, captured, captures, classes: of the list of all pages, so also of
captured pages without a score, which are in the last class. score, best, share: of those with one.
captured and captures are not known of an import without URIs. links_in, links_out: links of the
graph from other hosts, and to others; links_within: between pages of the host. Classes are cut as
the run has cut them.

The pages are read once, in the order of their keys, and the links once; sums are made in these
orders, so equal folders give equal numbers. Memory: that of page_table.py, then 12 bytes a page
for the links, and a row for each host.

Sites. They come best first. Columns: position, from 1; class, cut over all sites as classes of
pages are (ranking/classes.py), with the bins and ties of the ranking, ties by name where they are
by links; then those of ranks/sites.parquet. The class is cut here, as --bins may change without a
new ranking. Memory: the table and CUT_BYTES a site.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.analysis.linked_hosts import count_links, host_ranges
from crawlrank.pipeline.data.database import batches, database
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.data.parquet import parquet_batches
from crawlrank.pipeline.data.site_names import NAMES
from crawlrank.pipeline.options import HostSort
from crawlrank.pipeline.precedence.filters import PageFilters
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.page_table import BUDGET, RankedPages, open_pages
from crawlrank.pipeline.ranking.bounds import Bounds
from crawlrank.pipeline.ranking.classes import cut
from crawlrank.pipeline.ranking.inputs import SiteBy
from crawlrank.pipeline.ranking.methods import method_of
from crawlrank.pipeline.terminal import TextTable
from crawlrank.pipeline.workfolder.manifest import GRAPH, Manifest
from crawlrank.pipeline.workfolder.results.dataset_folders import DatasetFolders, finished_manifest
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished

SCHEMA = "crawlrank-hosts/1"
MOST_CLASSES = 10  # in the table for people; with more classes it has class 1 alone
SUMS = ("pages", "captured", "captures", "score", "best")
OF_CAPTURES = ("captured", "captures")
LINKS = ("links_in", "links_out", "links_within")
HOST_COLUMNS = ("host", *SUMS, "share", *LINKS)
NO_SCORE = -1.0  # below all scores
BY_KEY = "SELECT key, score, captures, class FROM pages ORDER BY key"


class HostNumbers:
    """Numbers of names, in the order in which they come."""

    def __init__(self, by: SiteBy) -> None:
        self._name: Callable[[str], str] = NAMES[by]
        self._numbers: dict[str, int] = {}
        self._parts: tuple[str, int] = (
            "",
            -1,
        )  # the last one: pages of a host follow

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, part: str) -> int:
        """part: of a key, before the first `)`."""
        if part != self._parts[0] or self._parts[1] < 0:
            number = self._numbers.setdefault(self._name(part), len(self._numbers))
            self._parts = part, number
        return self._parts[1]

    def names(self) -> list[str]:
        return list(self._numbers)

    def of_keys(self, keys: pa.Array) -> Positions:
        """The number of the host of each key. The keys of a host follow each other."""
        before = pc.list_element(pc.split_pattern(keys, ")", max_splits=1), 0)
        runs = pc.run_end_encode(before)
        ends = runs.run_ends.to_numpy()
        numbers = np.array([self.of(part) for part in runs.values.to_pylist()], np.int64)
        return np.repeat(numbers, np.diff(ends, prepend=0))


class _Sums:
    """Sums of the pages by host, which grow as hosts come. classes: int64[H, bins]."""

    def __init__(self, bins: int) -> None:
        self.bins = bins
        self.columns = {name: np.zeros(0) for name in SUMS}
        self.classes: Positions = np.zeros((0, bins), np.int64)

    def add(self, hosts: Positions, count: int, batch: pa.RecordBatch) -> None:
        """hosts: of each page of the batch. count: hosts so far."""
        scores = batch["score"].fill_null(0.0).to_numpy()
        captures = batch["captures"].fill_null(0).to_numpy()
        for name, column in self.columns.items():
            more = np.full(count - len(column), NO_SCORE if name == "best" else 0.0)
            self.columns[name] = np.concatenate((column, more))
        added = {"pages": None, "captured": captures > 0, "captures": captures, "score": scores}
        for name, values in added.items():
            self.columns[name] += np.bincount(hosts, values, minlength=count)
        scored = batch["score"].is_valid().to_numpy(zero_copy_only=False)
        np.maximum.at(self.columns["best"], hosts[scored], scores[scored])
        grown = np.zeros((count - len(self.classes), self.bins), np.int64)
        self.classes = np.concatenate((self.classes, grown))
        np.add.at(self.classes, (hosts, batch["class"].to_numpy() - 1), 1)


def read_hosts(ranked: RankedPages, manifest: Manifest, by: SiteBy, sort: HostSort) -> pa.Table:
    """A row of HOST_COLUMNS for each host, and its classes, `class_1` to the last one; the highest
    of the column `sort` first, and names in their order. ranked: with the folder of a finished run.
    Raises BadInput for pages that are ids alone."""
    digits = int(manifest.steps["join-scores"]["parameters"]["digits"])
    options = replace(PrecedenceOptions.of_run(manifest.parameters), digits=digits)
    with temporary_folder() as name:
        tmp, numbers = name, HostNumbers(by)
        with open_pages(ranked, tmp, options, PageFilters(), [], columns=False) as table:
            sums = _Sums(options.bins)
            for batch in batches(table.db, BY_KEY):
                hosts = numbers.of_keys(batch["key"])
                sums.add(hosts, len(numbers), batch)
        links = _links(ranked.work or Path(), tmp, numbers)
    if manifest.imported.get("kind") == GRAPH and all(map(str.isdigit, numbers.names())):
        what, expected = "pages that are ids, without keys", "pages with keys"
        raise BadInput(str(ranked.work), what, expected, "Import the graph with its --map.")
    rows = _rows(numbers.names(), sums, links, known=ranked.uris is not None)
    return _ordered(rows, sort)


def _links(work: Path, tmp: Path, numbers: HostNumbers) -> dict[str, Positions]:
    """Links by host. Every node has a page, so that all hosts have numbers."""
    threads = os.cpu_count() or 1
    with database(tmp, budget=BUDGET // 2, threads=threads) as (db, near):
        finished = open_finished(work, db, near, "run")
        with finished.reading():
            of_node, csr = _of_nodes(finished, numbers), finished.links()
            within, incoming, outgoing = count_links(csr, of_node, len(numbers))
    return dict(zip(LINKS, (incoming, outgoing, within), strict=True))


def _of_nodes(finished: Finished, numbers: HostNumbers) -> Positions:
    ranges = host_ranges(finished.keys())
    pairs = np.array([(each.end - each.begin, numbers.of(each.key)) for each in ranges], np.int64)
    lengths, hosts = pairs.reshape(-1, 2).T
    kind = np.int32 if len(numbers) < 2**31 else np.int64
    of_node: Positions = np.repeat(hosts.astype(kind), lengths)
    return of_node


def _rows(names: list[str], sums: _Sums, links: dict[str, Positions], *, known: bool) -> pa.Table:
    """known: whether it is known what was captured."""
    columns = sums.columns
    total = float(columns["score"].sum()) or 1.0  # a ranking may give 0 to all pages
    floats = {"score": columns["score"], "share": columns["score"] / total}
    best = pa.array(columns["best"], mask=columns["best"] == NO_SCORE)
    whole = {name: columns[name].astype(np.int64) for name in ("pages", *OF_CAPTURES)}
    every = {"host": pa.array(names, pa.string()), **whole, **floats, "best": best, **links}
    if not known:
        every |= {name: pa.nulls(len(names), pa.int64()) for name in OF_CAPTURES}
    classes = {f"class_{n + 1}": sums.classes[:, n] for n in range(sums.bins)}
    return pa.table({name: every[name] for name in HOST_COLUMNS} | classes)


def _ordered(rows: pa.Table, sort: HostSort) -> pa.Table:
    keys = [("host", "ascending")]
    return rows.sort_by(keys if sort == "host" else [(sort, "descending"), *keys])


def host_rows(rows: pa.Table) -> Iterator[dict[str, object]]:
    """The rows with their classes as one list, for JSON."""
    for row in rows.to_pylist():
        classes = [value for name, value in row.items() if name.startswith("class_")]
        yield {name: row[name] for name in HOST_COLUMNS} | {"classes": classes}


def hosts_table(
    rows: pa.Table, top: int, count: int, by: SiteBy, sort: HostSort, bounds: Bounds
) -> TextTable:
    """The first rows for people. count: how many there are in all. bounds: of scores of pages."""
    names = [name for name in rows.column_names if name.startswith("class_")]
    shown = names if len(names) <= MOST_CLASSES else names[:1]
    first = min(top, len(rows))
    title = f"{first:,} of {count:,} {by}s, " + (
        "by name" if sort == "host" else f"the {_most(sort)} {sort.replace('_', ' ')} first"
    )
    table = TextTable(
        title, by, ">pages", ">captured", ">captures", ">score", ">share", ">best",
        *(f">{name.replace('_', ' ')}" for name in shown), ">links in", ">links out", ">within",
    )  # fmt: skip
    for row in rows.slice(0, first).to_pylist():
        best = "" if row["best"] is None else bounds.text(row["best"])
        score = bounds.text(row["score"], row["pages"])
        table.add(
            row["host"], row["pages"], row["captured"], row["captures"], score,
            f"{row['share']:.2%}", best, *(row[name] for name in shown), row["links_in"],
            row["links_out"], row["links_within"],
        )  # fmt: skip
    return table


def _most(sort: HostSort) -> str:
    """The word for the highest of a column: scores are high, all else is counted."""
    return "highest" if sort in ("score", "best") else "most"


SITES = "sites.parquet"
RANKED = ("site", "pages", "links_in", "links_out", "sites_in", "sites_out", "score", "share")
SITE_COLUMNS = ("position", "class", *RANKED)


def read_sites(work: Path) -> pa.Table:
    """A row of SITE_COLUMNS for each site of a finished ranking. Raises BadInput for a folder of
    another method, or not finished, or damaged."""
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
