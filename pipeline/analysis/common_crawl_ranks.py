"""Ranks of hosts or domains as Common Crawl publishes them: harmonic centrality and PageRank.

Columns, best first by harmonic centrality: #harmonicc_pos, #harmonicc_val, #pr_pos, #pr_val (the
share of all scores), #host_rev (the name from its last label to its first), and of domains #n_hosts
(how many of their hosts have a page in the graph). Source: the files of commoncrawl/cc-webgraph.
Memory: two tables of sites.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.analysis.host_table import read_sites
from crawlrank.pipeline.analysis.linked_hosts import host_ranges
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.site_names import domain_name, host_name, is_address
from crawlrank.pipeline.ranking.inputs import SITE_BY
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.rankings import labels, ranking_folder
from crawlrank.pipeline.workfolder.results.opened import open_finished

RANK_ENDINGS = ("txt", "tsv", "parquet")
BUDGET = 1 << 28
HARMONIC, PAGERANK = "site-harmonic", "site"


def read_ranks(work: Path, label: str | None) -> pa.Table:
    """label: of the ranking by harmonic centrality or by PageRank, where there are several. Raises
    BadInput where one of the two rankings is missing, or cannot be told."""
    if label and _parameters(work, label).get("--method") == PAGERANK:
        harmonic, pagerank = _only(work, HARMONIC, _alike(work, label)), label
    else:
        harmonic = _only(work, HARMONIC, [label] if label else labels(work))
        pagerank = _only(work, PAGERANK, _alike(work, harmonic))
    by = _parameters(work, harmonic)[SITE_BY.option]
    near, far = (read_sites(ranking_folder(work, each)) for each in (harmonic, pagerank))
    rows = near.join(far, "site", right_suffix="_pr").sort_by("position")
    names = rows["site"].to_pylist()
    columns = {
        "#harmonicc_pos": rows["position"],
        "#harmonicc_val": rows["score"],
        "#pr_pos": rows["position_pr"],
        "#pr_val": rows["share_pr"],
        "#host_rev": pa.array(map(reversed_name, names), pa.string()),
    }
    if by == "domain":
        counts = _hosts(work)
        columns["#n_hosts"] = pa.array([counts[name] for name in names], pa.int64())
    return pa.table(columns)


def _parameters(work: Path, label: str) -> dict[str, str]:
    parameters: dict[str, str] = Manifest(ranking_folder(work, label)).parameters
    return parameters


def _alike(work: Path, label: str) -> list[str]:
    """The rankings with the --site-by of this one."""
    by = _parameters(work, label).get(SITE_BY.option)
    return [each for each in labels(work) if _parameters(work, each).get(SITE_BY.option) == by]


def _only(work: Path, method: str, among: list[str]) -> str:
    chosen = [each for each in among if _parameters(work, each).get("--method") == method]
    if len(chosen) == 1 or method in chosen:
        return method if method in chosen else chosen[0]
    what = f"the rankings {', '.join(chosen)}" if chosen else f"no ranking by --method {method}"
    cure = f"Make one: `crawlrank rank {work} --method {method}`, with the --site-by of the other."
    if chosen:
        cure = f"Name one of them with --ranking; the other one is that named {method}, if there is"
        cure += " one."
    raise BadInput(str(work), what, f"one ranking by --method {method}", cure)


def reversed_name(name: str) -> str:
    """`uk.co.bbc.news:8080` of `news.bbc.co.uk:8080`; an address as it is."""
    host, colon, port = name.rpartition(":")
    if not port.isdigit() or ":" in host:
        host, colon, port = name, "", ""
    if is_address(host):
        return name
    return ".".join(reversed(host.split("."))) + colon + port


def _hosts(work: Path) -> dict[str, int]:
    """How many hosts each domain has."""
    hosts = defaultdict[str, set[str]](set)
    with temporary_folder() as tmp, database(tmp, budget=BUDGET, threads=1) as (db, near):
        finished = open_finished(work, db, near, "run")
        with finished.reading():
            for each in host_ranges(finished.keys()):
                hosts[domain_name(each.key)].add(host_name(each.key).partition(":")[0])
    return {domain: len(names) for domain, names in hosts.items()}
