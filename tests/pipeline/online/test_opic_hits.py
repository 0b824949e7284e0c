"""OPIC-HITS on stores: the fixed point of its chain by linear algebra, cash that is never lost, and
stores that are opened again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.opic_hits import NEUTRAL, START, OpicHits
from crawlrank.pipeline.online.stores.database import Database
from crawlrank.pipeline.online.stores.hits_cash import SqliteHitsCash
from crawlrank.pipeline.online.stores.page_graph import SqliteGraph, SqliteRelevance


def opened(path=":memory:", **options):
    database = Database(path)
    stores = SqliteGraph(database), SqliteHitsCash(database), SqliteRelevance(database)
    return OpicHits(*stores, **options), stores, database


def name(page):
    return b"page %d" % page


def fixed_point(links, relevance):
    """Shares of hub and authority cash by the eigenvector of the chain on 2N pages."""
    n = len(links)
    links = [targets - {page} for page, targets in enumerate(links)]  # none to itself
    parents = np.zeros(n)
    for targets in links:
        parents[list(targets)] += 1
    chain = np.zeros((2 * n, 2 * n))  # column gives to row; hubs, then authorities
    for page, targets in enumerate(links):
        chain[n + np.array(list(targets), int), page] += 1 / (len(targets) + 1)
        chain[:n, page] += 1 / (len(targets) + 1) / n
        r, p = relevance[page], parents[page]
        z = 0 if not p else min(2 * r * (2 * p / (p + 1) * (1 - r) + r - 0.5), 1) / p
        for parent, others in enumerate(links):
            chain[parent, n + page] += z * (page in others)
        chain[n:, n + page] += (1 - p * z) / n
    assert chain.sum(0) == pytest.approx(np.ones(2 * n))
    system = np.vstack([chain - np.eye(2 * n), np.ones(2 * n)])
    cash = np.linalg.lstsq(system, np.eye(2 * n + 1)[-1], rcond=None)[0]
    return cash[:n] / cash[:n].sum(), cash[n:] / cash[n:].sum()


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 8))
    links = [draw(st.sets(st.integers(0, n - 1), max_size=4)) for _ in range(n)]
    return links, [draw(st.sampled_from([NEUTRAL, 0.2, 0.8])) for _ in range(n)]


def check_fixed_point(opic, links, relevance):
    hubs, authorities = fixed_point(links, relevance)
    scores = dict(opic.iscores())
    assert [scores[name(page)].hub for page in range(len(links))] == pytest.approx(hubs, abs=0.02)
    assert [scores[name(page)].authority for page in range(len(links))] == pytest.approx(
        authorities, abs=0.02
    )


@settings(max_examples=examples(20), deadline=None)
@given(graphs())
def test_scores_come_to_the_fixed_point_of_the_chain(graph):
    links, relevance = graph
    opic, (_, scores, _), database = opened(time_window=60.0)
    for page, targets in enumerate(links):
        opic.add_page(name(page), map(name, sorted(targets)), relevance[page])
    while scores.clock() < 240:
        opic.update(4)
    check_fixed_point(opic, links, relevance)
    together = scores.total("hub") + scores.total("authority")
    assert together == pytest.approx(2 * START * len(links), rel=1e-9)
    database.close()


def test_links_that_are_gone_give_nothing_more():
    opic, (graph, _, _), _ = opened()
    opic.add_page(b"a", [b"b", b"c"])
    opic.add_page(b"a", [b"c", b"d"])
    assert sorted(graph.edges()) == [(b"a", b"c"), (b"a", b"d")]
    assert graph.node_count() == 4


def test_marked_pages_are_read_first():
    opic, _, _ = opened()
    for page in range(50):
        opic.add_page(name(page), [name((page + 1) % 50)])
    opic.mark_update(name(33))
    opic.mark_update(b"unknown")
    assert opic.update(3)[0] == name(33)
    assert len(opic.update(3)) == 3


def test_it_goes_on_where_it_was(tmp_path):
    opic, (_, scores, _), database = opened(tmp_path / "stores")
    for page in range(20):
        opic.add_page(name(page), [name(page // 2)], 0.7)
    opic.update(30)
    before, clock = dict(opic.iscores()), scores.clock()
    database.close()
    again, (_, scores, relevance), database = opened(tmp_path / "stores")
    assert (dict(again.iscores()), scores.clock()) == (before, clock)
    assert relevance.get(name(3)) == 0.7
    assert relevance.best(2) == [(name(0), 0.7), (name(1), 0.7)]
    database.close()


def test_pages_of_a_graph_that_was_there_are_introduced():
    database = Database()
    graph, scores = SqliteGraph(database), SqliteHitsCash(database)
    graph.add_edges([(b"a", b"b"), (b"b", b"c")])
    opic = OpicHits(graph, scores, SqliteRelevance(database))
    assert scores.count() == 3
    assert opic.get_scores(b"a") == pytest.approx((1 / 3, 1 / 3))
    assert (opic.h_mean(), opic.a_mean()) == pytest.approx((START, START), rel=0.02)


@settings(max_examples=examples(10), deadline=None)
@given(graphs())
def test_the_whole_history_comes_to_the_same_fixed_point(graph):
    """Nearer as 1/clock, as its beginning is forgotten no faster."""
    links, relevance = graph
    opic, (_, scores, _), _ = opened(time_window=None)
    for page, targets in enumerate(links):
        opic.add_page(name(page), map(name, sorted(targets)), relevance[page])
    assert opic.flow(name(0)) == pytest.approx((START, START))
    while scores.clock() < 400:
        opic.update(4)
    check_fixed_point(opic, links, relevance)


def test_links_of_a_page_to_itself_do_not_count(tmp_path):
    """Neither those that are added here, nor those that the graph has had before."""
    rings = [opened(), opened()]
    for (opic, (graph, _, _), _), own in zip(rings, ([], [b"a"]), strict=True):
        if own:
            graph.add_edge(b"a", b"a")
        opic.add_page(b"a", [b"b", *own])
        opic.add_page(b"b", [b"c"])
        opic.update(50)
    assert dict(rings[0][0].iscores()) == dict(rings[1][0].iscores())


def test_what_was_added_is_there_after_closing(tmp_path):
    opic, _, _ = opened(tmp_path / "crawl.db")
    opic.add_page(b"a", [b"b"])
    opic.update(3)
    before = dict(opic.iscores())
    opic.close()
    again, _, database = opened(tmp_path / "crawl.db")
    assert dict(again.iscores()) == before
    database.close()


def test_nothing_at_all_and_what_is_not_known():
    opic, _, _ = opened()
    assert opic.update(5) == []
    assert opic.get_scores(b"a") is None
    assert (list(opic.iscores()), opic.h_mean()) == ([], 0)


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_windows_and_relevance_are_checked(wrong):
    with pytest.raises(BadInput):
        opened(time_window=wrong)
    if wrong:
        with pytest.raises(BadInput):
            opened()[0].add_page(b"a", relevance=wrong)
