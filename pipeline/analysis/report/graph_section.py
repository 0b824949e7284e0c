"""The graph of a run: what its steps counted, and its structure."""

from __future__ import annotations

import os
from typing import Any

from crawlrank.jobs.kernel.formats.rows import LINKS_WITHOUT_ID, SELF_LINKS, SOURCES_WITHOUT_ID
from crawlrank.pipeline.analysis.compare.diff_side import Side
from crawlrank.pipeline.data.csr import Csr
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
from crawlrank.pipeline.workfolder.imported import GRAPH
from crawlrank.pipeline.workfolder.manifest import Manifest


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
