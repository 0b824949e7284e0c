"""Hosts of a crawl as the ranking sees them: pages, scores, classes, links from host to host."""

from __future__ import annotations

import numpy as np

from crawlrank.pipeline.analysis.compare.diff_side import Side
from crawlrank.pipeline.analysis.hosts.linked_hosts import (
    LinkedHosts,
    class_counts,
    host_ranges,
    hosts_of,
    links_among,
)
from crawlrank.pipeline.analysis.hosts.site_table import read_sites
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.ranking.sites.names import domain_name, host_name
from crawlrank.pipeline.workfolder.imported import GRAPH
from crawlrank.pipeline.workfolder.results.finished import Finished

LISTED = 200  # hosts with the highest sum of scores
SITES = 50  # listed
LINKED = 20  # of these, those whose links among each other are counted

HostRow = dict[str, object]


def hosts_section(side: Side, csr: Csr) -> dict[str, object] | None:
    """The hosts of all pages with a score; None where pages have no URIs, but ids alone.

    linked: links from the host of the row to that of the column, of the first hosts.

    host: as in a URI. site: its registrable domain. share: of the sum of all scores. best: the
    highest score of a page. classes: pages in each class. Other columns: see LinkedHosts.
    """
    if side.finished.manifest.imported.get("kind") == GRAPH and not _named(side.finished):
        return None
    begins = _begins(side)
    hosts = hosts_of(begins, csr, side.scores, side.captured)
    chosen = hosts.largest(LISTED)
    bins = int(side.finished.parameters["--bins"])
    total = float(hosts.scores.sum()) or 1.0  # a ranking may give 0 to all pages
    rows = [_row(side, hosts, host, bins, total) for host in chosen]
    names = side.finished.nodes(hosts.begins[chosen].tolist())
    for host, row in zip(chosen, rows, strict=True):
        part = names[int(hosts.begins[host])].key.partition(")")[0]
        row["host"], row["site"] = host_name(part), domain_name(part)
    return {
        "hosts": len(begins),
        "links_between": int(hosts.incoming.sum()),
        "links_within": int(hosts.within.sum()),
        "listed": rows,
        "linked": links_among(begins, csr, chosen[:LINKED]),
    }


def _named(finished: Finished) -> bool:
    """Whether the first page of an imported graph has a key of a host, not an id."""
    return ")" in finished.nodes([0])[0].key


def _begins(side: Side) -> Positions:
    """The first node of each host."""
    finished = side.finished
    return np.fromiter((host.begin for host in host_ranges(finished.keys())), np.int64)


def _row(side: Side, hosts: LinkedHosts, host: int, bins: int, total: float) -> HostRow:
    begin, pages = int(hosts.begins[host]), int(hosts.pages[host])
    return {
        "pages": pages,
        "captured": int(hosts.captured[host]),
        "share": float(hosts.scores[host]) / total,
        "best": float(hosts.best[host]),
        "classes": class_counts(side.classes, begin, begin + pages, bins).tolist(),
        "within": int(hosts.within[host]),
        "incoming": int(hosts.incoming[host]),
        "outgoing": int(hosts.outgoing[host]),
    }


def sites_section(finished: Finished) -> list[HostRow] | None:
    """The best rows of `export --format sites`; None for a ranking of pages."""
    if not finished.method.of_sites:
        return None
    rows: list[HostRow] = read_sites(finished.work).slice(0, SITES).to_pylist()
    return rows
