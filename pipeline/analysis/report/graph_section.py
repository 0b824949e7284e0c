"""The graph of a run: what its steps counted, and its structure.

Hosts of a crawl as the ranking sees them: pages, scores, classes, links from host to host.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.formats.rows import LINKS_WITHOUT_ID, SELF_LINKS, SOURCES_WITHOUT_ID
from crawlrank.pipeline.analysis.compare.diff import Side
from crawlrank.pipeline.analysis.host_table import read_sites
from crawlrank.pipeline.analysis.linked_hosts import (
    LinkedHosts,
    class_counts,
    host_ranges,
    hosts_of,
    links_among,
)
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.data.site_names import domain_name, host_name
from crawlrank.pipeline.ranking.structure.bow_tie import PARTS, bow_tie
from crawlrank.pipeline.ranking.structure.components import (
    strong_components,
    weak_components,
)
from crawlrank.pipeline.ranking.structure.degrees import (
    Degrees,
    gini,
    indegrees,
    outdegrees,
    reciprocity,
)
from crawlrank.pipeline.steps import RANK
from crawlrank.pipeline.workfolder.manifest import GRAPH, Manifest
from crawlrank.pipeline.workfolder.results.finished import Finished


def counts_section(manifest: Manifest) -> dict[str, Any] | None:
    """Nodes, edges, and links that count for nothing; None before there is a graph. What was left
    out of a graph that was imported is not known."""
    counters = manifest.steps.get("gen-graph", {}).get("counters", {})
    counted = (manifest.steps.get(RANK, {}).get("rounds") or [counters])[-1]
    if "nodes" not in counted:
        return None
    left_out = None if manifest.imported.get("kind") == GRAPH else 0
    return {
        "nodes": counted["nodes"],
        "edges": counted["edges"],
        "dangling": counted["dangling"],
        "self_links": counters.get(SELF_LINKS, left_out),
        "unranked_sources": counters.get(SOURCES_WITHOUT_ID, left_out),
        "unranked_links": counters.get(LINKS_WITHOUT_ID, left_out),
    }


#: part of the bow tie -> what its pages are, see ranking/structure/bow_tie.py
MEANINGS = {
    "core": "lead to each other",
    "in": "lead to the core",
    "out": "are led to by the core",
    "tubes": "are on a way from in to out, past the core",
    "tendrils": "hang on in or out only",
    "disconnected": "no link joins with the core",
}


def structure_section(side: Side, csr: Csr) -> dict[str, Any]:
    """Degrees, components and bow tie."""
    threads = os.cpu_count() or 1
    weak, strong = weak_components(csr), strong_components(csr)
    tie = bow_tie(csr, weak, strong, threads)
    nodes = max(csr.nodes, 1)
    return {
        "indegrees": _degrees(indegrees(csr)),
        "outdegrees": _degrees(outdegrees(csr)),
        "reciprocity": reciprocity(csr, threads),
        "gini": gini(side.scores),
        "weak": {"components": weak.sizes.components, "largest": weak.sizes.largest},
        "strong": {"components": strong.sizes.components, "largest": strong.sizes.largest},
        "parts": [
            {"part": part, "meaning": MEANINGS[part], "nodes": count, "share": count / nodes}
            for part, count in zip(PARTS, tie.nodes.tolist(), strict=True)
        ],
        "links": tie.links.tolist(),
    }


def _degrees(degrees: Degrees) -> dict[str, Any]:
    """curve: [degree, share of pages with at least as many]."""
    points = degrees.distribution
    pairs = zip(points.values.tolist(), points.shares.tolist(), strict=True)
    return {
        "curve": [[int(degree), share] for degree, share in pairs],
        "mean": degrees.mean,
        "median": degrees.median,
        "largest": degrees.largest,
        "zeros": degrees.zeros,
        "top_share": degrees.top_share,
    }


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
