"""Graphs on which rankings have been wrong, as links and pages to start at."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

Edges = Iterator[tuple[str, str]]


class HardGraph(NamedTuple):
    """links: in no order. seeds: pages that readers trust. weights: how often readers start."""

    links: list[tuple[str, str]]
    seeds: list[str]
    weights: dict[str, float]


def _lists(count: int = 100, items: int = 20) -> Edges:
    """List pages in a chain, each with items: a page has a 21st of the trust of the one before."""
    for page in range(count, -1, -1):
        if page:
            yield f"http://s.example/list/{page:04}", f"http://s.example/list/{page - 1:04}"
        for item in range(items):
            yield f"http://s.example/list/{page:04}", f"http://s.example/item/{page:04}/{item}"


def _clique(count: int = 200) -> Edges:
    """Pages that all link to each other, and to one page without links."""
    for source in range(count):
        for target in range(count):
            if source != target:
                yield f"http://a.example/{source:03}", f"http://a.example/{target:03}"
        yield f"http://a.example/{source:03}", "http://a.example/end"


def _copies(count: int = 300) -> Edges:
    """One graph again and again, whose pages have other names in each copy."""
    links = ((0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (3, 4), (4, 5), (5, 6), (6, 7), (7, 3), (7, 0))
    for copy in range(count):
        names = list(range(8))
        random.Random(copy).shuffle(names)
        for source, target in links:
            host = f"http://c{copy:03}.example"
            yield f"{host}/{names[source]}", f"{host}/{names[target]}"


def _star(count: int = 1000) -> Edges:
    for target in range(count):
        yield "http://h.example/", f"http://h.example/{target:04}"


def _web(count: int = 4000, seed: int = 7) -> Edges:
    """A power law: many scores that are close to each other."""
    draw = random.Random(seed)
    for source in range(count):
        for _ in range(1 + int(draw.paretovariate(1.3))):
            target = min(count - 1, int(count * draw.random() ** 3))
            if target != source:
                yield f"http://w.example/{source:04}", f"http://w.example/{target:04}"


def _of(edges: Edges, seeds: list[str], weights: dict[str, float] | None = None) -> HardGraph:
    return HardGraph(sorted(set(edges)), seeds, weights or dict.fromkeys(seeds, 1.0))


def hard_graphs() -> dict[str, HardGraph]:
    wide = {f"http://h.example/{n:04}": 10 ** (-190 * (1 - n / 999)) for n in range(1000)}
    return {
        "lists": _of(_lists(), ["http://s.example/list/0100"]),
        "clique": _of(_clique(), ["http://a.example/000"]),
        "copies": _of(_copies(), ["http://c000.example/0"]),
        "star": _of(_star(), ["http://h.example/"], wide),
        "web": _of(_web(), ["http://w.example/0000", "http://w.example/0007"]),
    }
