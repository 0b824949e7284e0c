"""The graph of a run: what its steps counted, and its structure."""

from __future__ import annotations

from typing import Any

from jobs.kernel.formats.counters import LINKS_WITHOUT_ID, SELF_LINKS, SOURCES_WITHOUT_ID
from pipeline.analysis.compare.diff_side import Side
from pipeline.contract import RANK
from pipeline.data.csr import Csr
from pipeline.workfolder.imported import GRAPH
from pipeline.workfolder.manifest import Manifest


def counts_section(manifest: Manifest) -> dict[str, Any] | None:
    """Nodes, edges, and links that count for nothing; None before there is a graph. What was left
    out of a graph that was imported is not known."""
    counters = manifest.steps.get("gen-graph", {}).get("counters", {})
    counted = manifest.steps.get(RANK, {}).get("rounds", [counters])[-1]
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


def structure_section(side: Side, csr: Csr) -> dict[str, Any]:
    return {}
