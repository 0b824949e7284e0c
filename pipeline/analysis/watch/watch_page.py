"""The page of `watch`: one file with its graphs, its scripts and what they run on."""

from __future__ import annotations

from dataclasses import asdict

from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.pipeline.analysis.watch.examples import EXAMPLES
from crawlrank.pipeline.analysis.watch.graphs import MOST_NODES, Drawn
from crawlrank.pipeline.pages.page import page
from crawlrank.pipeline.ranking.aopic.windows import LEAST
from crawlrank.pipeline.version import crawlrank_version

SCRIPTS = (
    "random", "opic", "windows", "session", "fragment", "layout", "names", "drawing", "pages",
    "gestures", "chart", "table", "sentences", "player", "editing", "controls", "watch",
)  # fmt: skip


def watch_page(own: Drawn | None = None) -> str:
    """own: the graph that it begins with, before the examples."""
    graphs = [*([own] if own else []), *EXAMPLES]
    data = {
        "schema": "crawlrank-watch/1",
        "version": crawlrank_version(),
        "graphs": [asdict(graph) for graph in graphs],
        "equation": {"base": RECIPE.base, "damping": RECIPE.damping},
        "least": LEAST,
        "most": MOST_NODES,
    }
    return page(
        "watch.html",
        data,
        libraries=["d3"],
        scripts=[f"watch/{name}.js" for name in SCRIPTS],
        styles=["watch.css"],
        graphs=graphs,
    )
