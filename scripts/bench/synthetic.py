"""A seeded graph like a crawl's, made by numpy: what the benchmarks rank when no real one is large.

Pages are numbered in key order, so that the pages of a host are neighbours. Two thirds are known
from links only and dangle. Hosts have Zipf-like sizes. A crawled page has many links, three of
four within its host: to the pages that its host's navigation names, which are few and the same for
all, or to its neighbours, as lists and "next page" do. The others follow the copying model (a link
to where an earlier link goes, or to a page at random), which gives indegrees a heavy tail.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

LINKS_A_PAGE = (
    8  # of all pages, crawled or not: as in a crawl of 50 million links, 6.2 million keys
)
FRONT, FRONT_CRAWLED, REST_CRAWLED = 0.2, 0.95, 0.2  # what a host links to most is crawled first
WITHIN_HOST, NAVIGATION, COPIED = 0.75, 0.6, 0.75
REACH = 10  # mean distance of a neighbour
STRIDE = 7919  # spreads the pages of the navigation over the host's keys
SURPLUS = 1.2  # links drawn for every edge wanted: many are drawn twice
BLOCK = 1 << 20


def web_like(
    edges: int, seed: int = 1, whole: float = 0.0, links_a_page: float = LINKS_A_PAGE
) -> tuple[int, Ints, Ints]:
    """(nodes, sources, targets) of about `edges` distinct edges, sorted by source, then target.

    whole: share of hosts of which every page was crawled. They give their scores on to each other
    for long, as in real crawls; without them dangling pages soon have them.
    """
    rng = np.random.default_rng(seed)
    pages = max(16, int(edges / links_a_page))
    sizes = np.minimum(rng.zipf(1.6, pages), pages // 20 + 1)
    first = np.minimum(np.concatenate(([0], np.cumsum(sizes))), pages)
    first = first[: np.searchsorted(first, pages) + 1]
    crawled = _crawled(rng, first, whole)
    mean = SURPLUS * edges / crawled.sum()
    lengths = np.rint(rng.exponential(mean, pages)).astype(np.int64)
    sources = np.repeat(np.arange(pages), np.where(crawled, lengths, 0))
    away = _copied(rng, len(sources), pages)
    pairs = np.concatenate(
        [
            _block(rng, sources[k : k + BLOCK], away[k : k + BLOCK], first)
            for k in range(0, len(sources), BLOCK)
        ]
    )
    pairs = _distinct(pairs)
    return pages, pairs // pages, pairs % pages


def _crawled(rng: np.random.Generator, first: Ints, whole: float) -> npt.NDArray[np.bool_]:
    """Which pages were crawled, by their place in the navigation of their host."""
    pages = np.arange(first[-1])
    sizes = np.diff(first)
    host = np.repeat(np.arange(len(sizes)), sizes)
    place = pages - first[host]
    chance = np.where(place < FRONT * sizes[host], FRONT_CRAWLED, REST_CRAWLED)
    if whole:
        chance[(rng.random(len(sizes)) < whole)[host]] = 1.0
    crawled = np.empty(len(pages), bool)
    crawled[_named(place, first[host], sizes[host])] = rng.random(len(pages)) < chance
    return crawled


def _named(place: Ints, low: Ints, size: Ints) -> Ints:
    """The page at a place of its host's navigation."""
    stride = np.where(size % STRIDE, STRIDE, 1)
    named: Ints = low + place * stride % size
    return named


def _block(rng: np.random.Generator, sources: Ints, away: Ints, first: Ints) -> Ints:
    """Edges of some links as source * pages + target, ascending, without self-loops."""
    host = np.searchsorted(first, sources, side="right") - 1
    low, size = first[host], first[host + 1] - first[host]
    named = _named((size * rng.random(len(sources)) ** 4).astype(np.int64), low, size)
    steps = np.rint(rng.laplace(0, REACH, len(sources))).astype(np.int64)
    near = np.clip(sources + steps, low, low + size - 1)
    inside = np.where(rng.random(len(sources)) < NAVIGATION, named, near)
    targets = np.where(rng.random(len(sources)) < WITHIN_HOST, inside, away)
    return _distinct((sources * first[-1] + targets)[sources != targets])


def _distinct(values: Ints) -> Ints:
    """Sorted, each once: numpy's unique goes through a hash table, which takes longer here."""
    values = np.sort(values, kind="stable")
    distinct: Ints = values[np.concatenate(([True], values[1:] != values[:-1]))]
    return distinct


def _copied(rng: np.random.Generator, links: int, pages: int) -> Ints:
    """Targets by the copying model: most are the target of an earlier link, drawn at random."""
    pointer = np.arange(links)
    copying = np.flatnonzero(rng.random(links) < COPIED)
    pointer[copying] = (copying * rng.random(len(copying))).astype(np.int64)
    while not np.array_equal(further := pointer[pointer], pointer):
        pointer = further
    targets: Ints = rng.integers(pages, size=links)[pointer]
    return targets
