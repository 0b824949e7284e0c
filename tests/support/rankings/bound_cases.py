"""Graphs and weights on which bounds of rankings have been false: chains, stars, cliques with a
page without links, weights of one page or of many magnitudes, dampings near 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from crawlrank.pipeline.data.graph import Floats, Graph
from support.graphs import chain, joined, star, web_like


class Case(NamedTuple):
    """weights: of mean 1. hosts: of each page."""

    graph: Graph
    weights: Floats
    damping: float
    hosts: Floats | None = None


def clique_with_end(n: int) -> Graph:
    """All but the last page link to all others; the last links to none."""
    pairs = np.array([(i, j) for i in range(n - 1) for j in range(n) if i != j])
    return joined(n, pairs[:, 0], pairs[:, 1])


def drawn(draw: st.DrawFn) -> Graph:
    n, seed = draw(st.integers(2, 60)), draw(st.integers(0, 10_000))
    shape = draw(st.sampled_from(["random", "web", "chain", "star", "clique", "fan", "loops"]))
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n, (draw(st.integers(0, 4 * n)), 2))
    match shape:
        case "chain":
            return chain(draw(st.integers(2, 300)))
        case "star":
            return star(n)
        case "fan":  # one page that links to all others
            return joined(n, np.zeros(n - 1, np.int64), np.arange(1, n))
        case "clique":
            return clique_with_end(n)
        case "web":
            return web_like(3 * n, seed)
        case "random":
            pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return joined(n, pairs[:, 0], pairs[:, 1])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    graph = drawn(draw)
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    match draw(st.sampled_from(["even", "one", "few", "magnitudes"])):
        case "even":
            weights = np.ones(graph.nodes)
        case "one":
            weights = np.eye(1, graph.nodes, int(rng.integers(graph.nodes)))[0]
        case "few":
            weights = (rng.random(graph.nodes) < 0.3) + np.eye(1, graph.nodes)[0]
        case _:
            weights = 10.0 ** rng.uniform(-12, 0, graph.nodes)
    damping = draw(st.one_of(st.just(0.85), st.floats(0.5, 0.999)))
    return Case(graph, weights / weights.mean(), damping, rng.integers(0, 4, graph.nodes))
