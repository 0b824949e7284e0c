"""PageRank of a topic: its scores and bounds, and which texts are of a topic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import csr_of, web_like

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.solution import Problem, Solution
from crawlrank.pipeline.ranking.topic import ABOUT, BOOST, TopicLinks, solve
from crawlrank.pipeline.ranking.topic_words import TopicWords, folded
from crawlrank.pipeline.workfolder.weight_files import read_words

DAMPING = 0.85


def drawn(seed: int, nodes: int) -> tuple[Any, Any, TopicLinks]:
    """A graph, how much its pages are of a topic, and links that are: some not of the graph."""
    graph, random = web_like(nodes, seed=seed), np.random.default_rng(seed)
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    chosen = random.random(len(sources)) < 0.2
    pairs = np.column_stack((sources[chosen], graph.targets[chosen]))
    pairs = np.unique(np.vstack((pairs, random.integers(0, graph.nodes, (5, 2)))), axis=0)
    weights = random.integers(1, 4096, len(pairs)) / 1024
    pages = np.where(random.random(graph.nodes) < 0.3, random.integers(1, 9, graph.nodes), 0.0)
    pages[0] = 1.0
    links = TopicLinks(pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64), weights)
    return graph, pages, links


def solved(graph: Any, pages: Any, links: TopicLinks, stop: Stop) -> Solution:
    return solve(Problem(csr_of(graph), stop, 1, 1 << 40, {"weights": pages, "topic": links}))


def exact(graph: Any, pages: Any, links: TopicLinks) -> Any:
    """The solution of the equations, by numpy."""
    matrix = np.zeros((graph.nodes, graph.nodes))
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    matrix[graph.targets, sources] = 1.0
    for source, target, weight in zip(links.sources, links.targets, links.weights, strict=True):
        matrix[target, source] += BOOST * weight * (matrix[target, source] > 0)
    sums = matrix.sum(axis=0)
    shares = np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums > 0)
    base = (1 - DAMPING) * (ABOUT * pages / pages.mean() + 1 - ABOUT)
    return np.linalg.solve(np.eye(graph.nodes) - DAMPING * shares, base)


@settings(max_examples=examples(100))
@given(
    seed=st.integers(0, 10**6), nodes=st.integers(8, 60), rounds=st.sampled_from([None, 1, 3, 9])
)
def test_scores_are_within_their_bounds(seed: int, nodes: int, rounds: int | None) -> None:
    graph, pages, links = drawn(seed, nodes)
    stop = Stop(iterations=rounds, tolerance=1e-9)
    solution = solved(graph, pages, links, stop)
    last, true, slack = solution.rounds[-1], exact(graph, pages, links), 1 + 1e-9
    off = np.abs(solution.scores - true)
    assert off.sum() <= last["certificate"] * solution.scores.sum() * slack + 1e-12
    assert (off <= last["eta"] * true * slack + 1e-12).all()
    p, q = solution.scores / solution.scores.sum(), true / true.sum()
    assert np.abs(p - q).sum() <= last["probability_certificate"] * slack + 1e-12
    assert solution.scores.sum() + solution.dummy == pytest.approx(nodes + 1)
    if rounds is None:
        assert last["certificate"] <= 1e-9
        assert solution.scores == pytest.approx(true, rel=1e-8)


def test_it_continues_to_the_same_bits() -> None:
    given, states = drawn(3, 40), list[Any]()
    stop = Stop(iterations=None, tolerance=1e-9)
    inputs = {"weights": given[1], "topic": given[2]}
    whole = solve(
        Problem(
            csr_of(given[0]), stop, 1, 1 << 40, inputs,
            on_round=lambda _, rounds, state: states.append(replace(state(), rounds=rounds[:])),
        )
    )  # fmt: skip
    again = solve(Problem(csr_of(given[0]), stop, 1, 1 << 40, inputs, state=states[1]))
    assert again.scores.tobytes() == whole.scores.tobytes()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Café\u0301 — THÉ, 3!", " cafe the 3 "), ("Straße ﬁn", " strasse fin "), ("…", ""),
        ("Ελλάδα", " ελλαδα "), ("日本 語", " 日本 語 "), ("Ёлка", " елка "), ("a_b", " a_b "),
        ("हिन्दी साहित्य", " हिन्दी साहित्य "), ("ガイド カイト", " ガイド カイト "),
        ("ไทยภาพยนตร์", " ไทยภาพยนตร์ "),
    ],
)  # fmt: skip
def test_words_are_folded(text: str, words: str) -> None:
    assert folded(text) == words


def test_phrases_are_words_that_follow_each_other() -> None:
    words = TopicWords(((" machine learning ", 2.0), (" data ", 0.5)), "")
    texts = (
        "Machine-Learning",
        "machines learning",
        "data: DATA",
        "learning machine data",
        "databases",
    )
    assert [words.weight(text) for text in texts] == [2.0, 0.0, 0.5, 0.5, 0.0]
    assert words.weight("big data & machine learning") == 2.5


def test_the_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("\ufeff# a topic\nMachine learning\n\ndata\t0.5\n")
    assert read_words(path) == [(" machine learning ", 1.0), (" data ", 0.5)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\n…\n", "line 2"), ("a\tb\n", "the weight 'b'"), ("a\t0\n", "the weight '0'"),
        ("a\t-1\n", "1,000,000 at most"), ("a\t1e999\n", "1,000,000 at most"),
        ("a\t1000001\n", "1,000,000 at most"),
        ("Thé\nthe\t2\n", "line 2"), ("# nothing\n", "no word"), ("", "no word"),
        ("a\n\x01b\n", "control character"), (b"a\nb\xff\n", "no UTF-8"), ("a\t1\t2\n", "weight"),
    ],
)  # fmt: skip
def test_what_is_no_such_file(text: str | bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput, match=reason):
        read_words(path)
