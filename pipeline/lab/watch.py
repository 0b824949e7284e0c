"""The page of `watch`: one file with its graphs, its scripts and what they run on.

A graph of a finished run shows the neighbourhood of a page, or the best pages. Pages come by their
distance from the page, over links in either direction, and of equal distance by their scores. Each
distance takes a pass over the graph. Links between the pages stay, other links of theirs are
counted. Memory: 8 bytes a node, and 16 bytes a link of the pages.

EXAMPLES are graphs that are known from books and programs. six: the graph of Langville and Meyer's
book (2006), with a page without links, in the numbers of networkx, whose tests have its PageRank
for the damping 0.9. web: scale_free_graph(24, seed=3) of networkx (Bollobás, Borgs, Chayes,
Riordan, 2003), without self-links and repeated links. hubs: the graph with which aduana, the
crawler's backend of scrapinghub, explains HITS, and later OPIC-HITS.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.reading import read_lines
from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.pipeline.analysis.compare.explain import unknown_page
from crawlrank.pipeline.data.graph import Floats, Graph, Positions, read_graph
from crawlrank.pipeline.lab.simulation import LEAST
from crawlrank.pipeline.pages.page import page
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.version import crawlrank_version
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.weights import key_maker, nodes_of

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
    ids, _ = nodes_of([uri], finished)
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


MOST_NODES = 300
OWN = "own"  # how a link to a state names a graph that is no example


@dataclass(frozen=True)
class Drawn:
    """targets: of each page the positions of its targets, ascending. names: keys, URIs or numbers,
    as many. note: where it is from. start: the page that it is around, if any. outside: links from
    its pages to others, and from others to its pages, None where it is all that there is."""

    id: str
    title: str
    note: str
    names: Sequence[str]
    targets: Sequence[Sequence[int]]
    start: int | None = None
    outside: tuple[int, int] | None = None


def drawn_file(dataset: Path) -> Drawn:
    """Graph lines. Raises BadInput for what is no graph, and for more than MOST_NODES pages."""
    lines = itertools.islice(read_lines(dataset), MOST_NODES + 2)  # with the line of dummy
    if sum(1 for _ in lines) > MOST_NODES + 1:
        raise BadInput(
            str(dataset),
            f"more than {MOST_NODES} pages",
            "a graph that can be drawn",
            "Draw a part of a crawl: crawlrank lab watch DIR --around URI.",
        )
    graph = read_graph(dataset)
    return Drawn(
        OWN,
        printable(dataset.name),
        "Graph lines of a file. Pages are named by their ids.",
        list(map(str, graph.ids.tolist())),
        targets_of(graph),
    )


def targets_of(graph: Graph) -> list[list[int]]:
    """Positions of the targets of each page."""
    return [part.tolist() for part in np.split(graph.targets, graph.offsets[1:-1])]


EXAMPLES = (
    Drawn(
        "six",
        "Six pages",
        "From Langville and Meyer, Google's PageRank and Beyond (2006). Page 2 has no links.",
        ("1", "2", "3", "4", "5", "6"),
        ((1, 2), (), (0, 1, 4), (4, 5), (3, 5), (3,)),
    ),
    Drawn(
        "web",
        "Twenty-four pages, scale-free",
        "A random graph that grew as the web does: well-known pages get more links.",
        tuple(map(str, range(24))),
        (
            (1,), (0, 2, 9, 19, 20), (0, 1, 6), (0, 1, 6, 9), (0, 1, 6, 9, 13, 15), (0, 1),
            (1, 20), (0,), (0,), (), (0, 9), (9,), (0,), (), (1,), (), (0,), (9,), (9,), (), (),
            (6,), (15,), (6,),
        ),
    ),
    Drawn(
        "hubs",
        "Hubs and authorities",
        "The graph that explains HITS: page 2 is the best hub, pages 1 and 3 are authorities.",
        ("0", "1", "2", "3"),
        ((1,), (3,), (0, 1, 3), ()),
    ),
)  # fmt: skip
