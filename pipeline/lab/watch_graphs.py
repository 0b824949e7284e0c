"""Graphs small enough to be drawn, with names and links, as the page of `watch` takes them.

EXAMPLES are graphs that are known from books and programs. six: the graph of Langville and Meyer's
book (2006), with a page without links, in the numbers of networkx, whose tests have its PageRank
for the damping 0.9. web: scale_free_graph(24, seed=3) of networkx (Bollobás, Borgs, Chayes,
Riordan, 2003), without self-links and repeated links. hubs: the graph with which aduana, the
crawler's backend of scrapinghub, explains HITS, and later OPIC-HITS.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.reading import read_lines
from crawlrank.pipeline.data.graph import Graph, read_graph
from crawlrank.pipeline.terminal import printable

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
