"""The page of `watch`: one file with its graphs, its scripts and what they run on.

A graph of a finished run shows the neighbourhood of a page, or the best pages. Pages come by their
distance from the page, over links in either direction, and of equal distance by their scores. Each
distance takes a pass over the graph. Links between the pages stay, other links of theirs are
counted. Memory: 8 bytes a node, and 16 bytes a link of the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.pipeline.analysis.compare.explain import unknown_page
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.lab.watch_graphs import (
    EXAMPLES,
    MOST_NODES,
    OWN,
    Drawn,
)
from crawlrank.pipeline.lab.windows import LEAST
from crawlrank.pipeline.pages.page import page
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.version import crawlrank_version
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.page_keys import key_maker
from crawlrank.pipeline.workfolder.results.weights import nodes_of

LONGEST = 200  # characters of a URI in the page's own words


def drawn_around(finished: Finished, uri: str, most: int) -> Drawn:
    """The page of a URI or key, and at most `most - 1` others. Raises NotAURI for what is neither,
    BadInput for a page that the folder lacks or that has no score."""
    start = _node_of(finished, uri)
    chosen = around(finished, start, finished.scores(), most)
    name = printable(uri) if len(uri) <= LONGEST else f"{printable(uri[:LONGEST])}…"
    note = f"The {len(chosen)} pages of a crawl nearest to {name}, over links both ways."
    return _drawn(finished, chosen, "A neighbourhood", note, start)


def drawn_best(finished: Finished, most: int) -> Drawn:
    """The pages of the highest scores."""
    chosen = best(finished.scores(), most)
    note = f"The {len(chosen)} pages of a crawl that have the highest scores."
    return _drawn(finished, chosen, "The best pages", note, None)


def around(finished: Finished, start: int, scores: Floats, most: int) -> list[int]:
    """Ids, nearest first, then highest score, then lowest id. scores: by id."""
    chosen, last = [start], [start]
    while last and len(chosen) < most:
        new = np.setdiff1d(np.concatenate(finished.links_of(last)), chosen)
        last = _by_score(new, scores)[: most - len(chosen)]
        chosen += last
    return chosen


def best(scores: Floats, most: int) -> list[int]:
    """Ids, highest score first, then lowest id."""
    most = min(most, len(scores))
    least = np.partition(scores, -most)[-most]
    return _by_score(np.flatnonzero(scores >= least), scores)[:most]


def _by_score(ids: Positions, scores: Floats) -> list[int]:
    ordered: list[int] = ids[np.lexsort((ids, -scores[ids]))].tolist()
    return ordered


def _node_of(finished: Finished, uri: str) -> int:
    key = key_maker(finished)(uri)
    ids, _, _ = nodes_of([uri], finished)
    if (node := int(ids[0])) >= 0:
        return node
    query = "SELECT 1 FROM {spelled} WHERE key = $key LIMIT 1"
    if finished.has_uris and finished.rows(query, key=key):
        raise BadInput(
            str(finished.work), f"{uri} is no node of the graph", "a page that has a score",
            "`crawlrank explain` says why it has none.",
        )  # fmt: skip
    raise unknown_page(finished, uri, key)


def _drawn(
    finished: Finished, chosen: Sequence[int], title: str, note: str, start: int | None
) -> Drawn:
    links, number = finished.links_of(chosen), {node: at for at, node in enumerate(chosen)}
    inner = np.isin(links.sources, chosen)
    inner &= np.isin(links.targets, chosen)
    targets: list[list[int]] = [[] for _ in chosen]
    pairs = zip(links.sources[inner].tolist(), links.targets[inner].tolist(), strict=True)
    for source, target in pairs:
        targets[number[source]].append(number[target])
    nodes, outer = finished.nodes(chosen), ~inner
    leaving = int(np.count_nonzero(np.isin(links.sources[outer], chosen)))
    return Drawn(
        OWN, title, note,
        [nodes[node].uri for node in chosen],
        [sorted(each) for each in targets],
        None if start is None else number[start],
        (leaving, int(np.count_nonzero(outer)) - leaving),
    )  # fmt: skip


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
