"""The graph of a run: what its steps counted, and its structure."""

from __future__ import annotations

from typing import Any

from jobs.kernel.formats.counters import LINKS_WITHOUT_ID, SELF_LINKS, SOURCES_WITHOUT_ID
from pipeline.analysis.compare.diff_side import Side
from pipeline.contract import RANK
from pipeline.data.csr import Csr
from pipeline.workfolder.manifest import Manifest


def counts_section(manifest: Manifest) -> dict[str, Any] | None:
    """Nodes, edges, and links that count for nothing; None before there is a graph."""
    counters = manifest.steps.get("gen-graph", {}).get("counters", {})
    rounds = manifest.steps.get(RANK, {}).get("rounds", ())
    if not counters and not rounds:
        return None
    last = rounds[-1] if rounds else {}
    return {
        "nodes": last.get("nodes", counters.get("nodes")),
        "edges": last.get("edges", counters.get("edges")),
        "dangling": last.get("dangling", counters.get("dangling")),
        "self_links": counters.get(SELF_LINKS, 0),
        "unranked_sources": counters.get(SOURCES_WITHOUT_ID, 0),
        "unranked_links": counters.get(LINKS_WITHOUT_ID, 0),
    }


def structure_section(side: Side, csr: Csr) -> dict[str, Any]:
    return {}
