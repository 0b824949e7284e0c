"""A graph small enough to be drawn: pages with names and links, as the page of `watch` takes it."""

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
