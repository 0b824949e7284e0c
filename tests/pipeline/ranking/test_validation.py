"""The validation: what it passes, what it fails, and the figures in between."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from support.crawls import ok
from support.drawing import examples
from support.graphs import (
    NAMED,
    exact_scores,
    graph_of,
    graphs,
    published,
    scored,
    star,
    two_components,
    web_like,
)

from crawlrank.jobs.kernel.errors import BadInput, NotConverged
from crawlrank.pipeline.data.graph import Floats, Graph, Mask
from crawlrank.pipeline.precedence.scored import spelled_nodes
from crawlrank.pipeline.ranking.classes import cut
from crawlrank.pipeline.ranking.opic import opic
from crawlrank.pipeline.ranking.options import ValidationOptions
from crawlrank.pipeline.ranking.validation.report import ValidationReport, tables
from crawlrank.pipeline.ranking.validation.validate import validate
from crawlrank.pipeline.terminal.text import json_text

WEB = web_like(400, seed=11)
require = ValidationReport.require


def ranked(graph: Graph) -> Graph:
    return scored(graph, exact_scores(graph))


def rounds(graph: Graph, count: int) -> Graph:
    """Plain rounds by a dense matrix: early ones are far from PageRank."""
    n = graph.nodes
    matrix = np.zeros((n, n))
    for node in range(n):
        targets = graph.targets[graph.offsets[node] : graph.offsets[node + 1]]
        matrix[targets, node] = 1 / max(len(targets), 1)
    x = np.ones(n)
    for _ in range(count):
        x = 0.15 + 0.85 * (matrix @ x)
    return scored(graph, x)


@pytest.mark.parametrize("count", [1, 5, 10])
def test_a_claim_without_room_is_kept(count: int, tmp_path: Path) -> None:
    """A page and pages that link back alone: each round makes the error exactly 0.85 times as
    large, so that what page-rank proves and what is measured anew are the same number."""
    path = tmp_path / "star.csv"
    pairs = [f"http://h/c,http://h/{n}\nhttp://h/{n},http://h/c\n" for n in range(3)]
    path.write_text("source,target\n" + "".join(pairs))
    ok("run", path, "--work", tmp_path / "work", "--iterations", count)


@pytest.mark.few(8)
@pytest.mark.parametrize("policy", ["cycle", "random", "greedy"])
@pytest.mark.parametrize("name", NAMED)
def test_exact_ranks_pass(name: str, policy: str) -> None:
    options = ValidationOptions(policy)  # type: ignore[arg-type]
    report = validate(NAMED[name], ranked(NAMED[name]), options)
    report.require()
    assert report.verdict == "pass"
    assert report.distance <= report.allowed


@settings(max_examples=examples(60), deadline=None)
@given(graphs())
def test_any_small_graph_passes_with_its_exact_ranks(graph: Graph) -> None:
    report = validate(graph, ranked(graph))
    assert report.verdict == "pass"
    assert report.classes.agreement == 1
    assert sum(map(sum, report.classes.confusion)) == graph.nodes


def test_figures_of_a_converged_run() -> None:
    report = validate(WEB, ranked(WEB))
    assert (report.nodes, report.edges) == (400, WEB.edges)
    assert report.dangling == int((WEB.outdegrees == 0).sum())
    assert report.order.digits >= 5
    assert report.order.spearman == pytest.approx(1, abs=1e-6)
    assert report.order.kendall == pytest.approx(1, abs=1e-4)
    assert [(t.percent, t.nodes, t.overlap) for t in report.order.top] == [(1, 4, 1), (10, 40, 1)]
    assert report.classes.agreement == 1
    assert report.classes.same_class > 0.99
    assert report.classes.nodes_open <= 2
    assert report.notes == report.reasons == ()


def test_published_ranks_pass() -> None:
    graph, values = published("pr__dir")
    dangling = values[graph.outdegrees == 0].sum()
    scores = values * graph.nodes * 0.15 / (0.15 + 0.85 * dangling)
    require(validate(graph, scored(graph, scores)))


def test_another_order_fails_by_agreement() -> None:
    """Reversed scores: their certificate is honest about them, so only the classes give way."""
    exact = exact_scores(WEB)
    backwards = np.empty(400)
    backwards[np.argsort(exact)] = np.sort(exact)[::-1]
    report = validate(WEB, scored(WEB, backwards))
    assert report.distance <= report.allowed
    assert report.verdict == "fail"
    assert report.classes.agreement < 0.3
    assert report.order.spearman is not None and report.order.spearman < -0.9
    assert report.order.top[0].overlap == 0
    with pytest.raises(NotConverged, match=r"of the nodes agree in their class, expected 99"):
        require(report)
    lenient = ValidationOptions(min_agreement=0.0)
    assert validate(WEB, scored(WEB, backwards), lenient).verdict == "pass"


NOISE = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]
LARGE = web_like(5000, seed=3)


@pytest.fixture(scope="module")
def exact() -> Floats:
    return rank(LARGE)


def rank(graph: Graph) -> Floats:
    """To the last digits, by plain rounds."""
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    x = np.ones(graph.nodes)
    for _ in range(250):
        shares = x[sources] / graph.outdegrees[sources]
        x = 0.15 + 0.85 * np.bincount(graph.targets, shares, graph.nodes)
    return x


@pytest.mark.parametrize("noise", [0.0, *NOISE])
@pytest.mark.few(1)
def test_scores_that_were_changed_are_told(noise: float, exact: Floats) -> None:
    """Scores of which page-rank has proved an error of 1e-9 at most."""
    wrong = exact * (1 + noise * np.random.default_rng(1).uniform(-1, 1, len(exact)))
    options = ValidationOptions(bins=100, certificate=1e-9)
    report = validate(LARGE, scored(LARGE, wrong), options)
    assert (report.verdict == "pass") == (not noise)
    if noise:
        assert "these are other scores than it left" in report.reasons[0]


@pytest.mark.parametrize("noise", [0.0, *NOISE])
@pytest.mark.few(1)
def test_wrong_classes_are_counted_but_for_those_that_opic_leaves_open(
    noise: float, exact: Floats
) -> None:
    wrong = exact * (1 + noise * np.random.default_rng(1).uniform(-1, 1, len(exact)))
    true, written = (cut(scores, 100) for scores in (exact, wrong))
    report = validate(LARGE, scored(LARGE, wrong), ValidationOptions(bins=100))
    classes = report.classes
    apart = ~written.by_key
    off = int(((true.classes != written.classes) & apart).sum())
    assert classes.nodes_apart == apart.sum()
    assert classes.agreement_apart is not None
    told = round((1 - classes.agreement_apart) * (classes.nodes_apart - classes.nodes_open))
    assert off - classes.nodes_open <= told <= off
    assert classes.nodes_open < 0.15 * len(exact)  # most of these have the least score
    assert (report.verdict == "fail") == (classes.agreement_apart < 0.99)
    assert told > 0 or noise < 1e-4


@pytest.mark.parametrize("ties", ["key", "together"])
def test_swapped_and_other_scores_are_told(ties: str, exact: Floats) -> None:
    options = ValidationOptions(ties=ties, certificate=1e-9)  # type: ignore[arg-type]
    swapped = exact.copy()
    best, worst = np.argsort(exact)[[-1, 1000]]
    swapped[[best, worst]] = swapped[[worst, best]]
    others = rank(web_like(5000, seed=4))
    for wrong in (swapped, 1.1 * exact, others, exact[::-1]):
        report = validate(LARGE, scored(LARGE, wrong), options)
        assert report.verdict == "fail"
        if wrong is not swapped and not np.allclose(wrong, 1.1 * exact):
            assert any("of the nodes agree in their class" in reason for reason in report.reasons)


def test_a_wrong_program_fails_by_distance() -> None:
    """OPIC's result moved by more than both certificates: the validation says so."""
    true = opic(WEB)
    tilt = np.linspace(1 - 1e-3, 1 + 1e-3, 400)
    wrong = replace(true, window=true.window * tilt)
    report = validate(WEB, ranked(WEB), other_program=lambda *_: wrong)
    assert report.distance > report.allowed
    with pytest.raises(NotConverged, match="one of the two programs is wrong"):
        require(report)


@pytest.mark.parametrize("count", [2, 5, 10, 60])
def test_few_rounds_are_compared_for_what_they_are(count: int) -> None:
    report = validate(WEB, rounds(WEB, count))
    assert report.distance <= report.allowed
    assert any("PageRank resolves no digit" in note for note in report.notes) == (count <= 10)
    assert (report.verdict == "pass") == (report.classes.agreement >= 0.99)
    assert count < 60 or report.verdict == "pass"


def test_equal_scores_leave_correlations_undefined() -> None:
    report = validate(two_components(), ranked(two_components()))
    assert report.order.spearman is None and report.order.kendall is None
    assert report.verdict == "pass"
    assert "undefined" in shown(report)


def test_agreement_on_ties_is_no_success() -> None:
    """A ring: the key alone makes its classes, and a validation cannot say anything of them."""
    ring = graph_of(40, [(n, (n + 1) % 40) for n in range(40)])
    for options in (ValidationOptions(), ValidationOptions(ties="together")):
        report = validate(ring, ranked(ring), options)
        assert (report.classes.nodes_apart, report.classes.agreement_apart) == (0, None)
        assert any("nothing is said of the classes" in note for note in report.notes)
        assert "nothing to compare" in shown(report)
        assert report.as_dict()["agreement_apart"] is None


def test_one_class_tells_nothing_apart() -> None:
    assert validate(WEB, ranked(WEB), ValidationOptions(bins=1)).classes.nodes_apart == 0


def test_ties_do_not_hide_a_wrong_order() -> None:
    """Six pages of 2,006 that are certainly wrong, and six in each class after the first that they
    move: nearly all agree, as the key places the others, and none of those that scores tell apart
    does."""
    exact = np.array([*[0.15] * 2000, 3.0, 2.5, 2.0, 1.9, 1.8, 1.7])
    graph = graph_of(2006, [])
    report = validate(graph, scored(graph, exact))
    assert report.classes.agreement == 1976 / 2006
    assert (report.classes.nodes_apart, report.classes.agreement_apart) == (6, 0)
    (reason,) = report.reasons
    assert reason == (
        "0.00% of the nodes agree in their class, expected 99.00%, of the 6 that scores tell apart"
        " and whose class OPIC proves"
    )


@pytest.mark.parametrize("ties", ["key", "together"])
def test_nodes_that_scores_tell_apart(ties: str) -> None:
    """By the definition: no node of the same score has another class."""
    steps = ValidationOptions(ties=ties, bins=7)  # type: ignore[arg-type]
    values = np.array([0.15, 1.0, 1.0, 2.0, 0.15, 3.0, 0.15, 0.15, 1.0, 5.0, 0.15])
    graph = graph_of(11, [])
    classes = cut(values, 7, ties=ties).classes  # type: ignore[arg-type]
    alone = [len({*classes[values == value]}) == 1 for value in values]
    assert validate(graph, scored(graph, values), steps).classes.nodes_apart == sum(alone)


def test_one_page_and_no_edges() -> None:
    for nodes in (1, 2, 500):
        graph = graph_of(nodes, [])
        report = validate(graph, scored(graph, [0.15] * nodes))
        assert report.verdict == "pass"
        assert report.dangling == nodes
        assert report.order.top[0].nodes == max(1, math.ceil(nodes / 100))


def test_the_virtual_page_as_an_edge_gets_no_verdict() -> None:
    report = validate(WEB, ranked(WEB), ValidationOptions(virtual_page="edge"))
    require(report)
    assert report.verdict == "none"
    assert report.reasons == ()
    document = json.loads(json_text(report.as_dict()))
    assert document["opic"]["best"]["certificate"] is document["allowed"] is None


def test_what_was_not_reached_is_noted() -> None:
    options = ValidationOptions("random", max_visits=2)
    report = validate(WEB, ranked(WEB), options)
    assert any("after 800 visits, not 1e-06" in note for note in report.notes)
    assert any("OPIC resolves no digit" in note for note in report.notes)
    assert report.classes.agreement_apart is None
    assert any("OPIC proves that of no node" in note for note in report.notes)
    assert report.order.digits == 0
    assert "none: compared at " in shown(report)


def test_lost_mass_is_noted() -> None:
    ranks = scored(WEB, exact_scores(WEB), dummy=1.0)
    assert any("miss N+1" in note for note in validate(WEB, ranks).notes)


OTHERS = {
    "another target": (graph_of(3, [(0, 1)]), graph_of(3, [(0, 2)]), "id 0 has other targets"),
    "one edge more": (graph_of(3, []), graph_of(3, [(1, 2)]), "id 1 has another number of targets"),
    "a node more": (star(3), star(4), "id 3 is in test ranks only"),
    "a node less": (star(4), star(3), "id 3 is in test graph only"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_ranks_of_another_graph_are_bad_input(case: str) -> None:
    graph, other, found = OTHERS[case]
    with pytest.raises(BadInput, match=found) as refused:
        validate(graph, scored(other, np.ones(other.nodes)))
    assert refused.value.where == "test ranks"
    assert "page-rank" in refused.value.cure


def shown(report: ValidationReport) -> str:
    return "\n".join(line for table in tables(report) for line in table.lines(None))


def test_json_and_tables_hold_all_of_it() -> None:
    report = validate(WEB, ranked(WEB), ValidationOptions(bins=3))
    found = json.loads(json_text(report.as_dict()))
    assert found["verdict"] == "pass"
    assert found["agreement"] == 1
    assert found["options"]["policy"] == "cycle"
    assert found["pagerank"]["eta"] == report.pagerank.eta
    assert found["opic"]["history"][-1]["visits"] == found["opic"]["visits"]
    assert found["confusion"] == [list(row) for row in report.classes.confusion]
    assert [top["percent"] for top in found["top"]] == [1, 10]
    text = shown(report)
    for words in ("Kendall", "classes agree", "wrong by at most", "top 1 %", "pages by class"):
        assert words in text
    inner = ("eta", "sum of PageRank's scores", "1/sum(H)")
    assert not any(words in text for words in inner)
    verbose = "\n".join(line for each in tables(report, verbose=True) for line in each.lines(None))
    assert all(words in verbose for words in inner)


def test_many_classes_make_no_table() -> None:
    assert len(tables(validate(WEB, ranked(WEB), ValidationOptions(bins=125)))) == 1


def test_classes_are_cut_over_the_captured_nodes() -> None:
    captured = np.arange(400) % 7 == 0
    report = validate(WEB, ranked(WEB), captured=captured)
    expected = cut(exact_scores(WEB), 5, mask=captured).classes
    assert [sum(row) for row in report.classes.confusion] == np.bincount(expected)[1:].tolist()
    assert report.classes.agreement == 1
    assert (report.classes.classes_cut_over, report.classes.nodes_cut_over) == ("captured", 58)
    assert "58 captured pages" in shown(report)
    everywhere = ValidationOptions(classes_over="all")
    found = validate(WEB, ranked(WEB), everywhere, captured=captured).as_dict()
    assert (found["classes_cut_over"], found["nodes_cut_over"]) == ("all", 400)


def hub_and_pages(pages: int) -> Graph:
    """One home page that links to all others, each of which links back."""
    return graph_of(
        pages + 1, [*((0, n + 1) for n in range(pages)), *((n + 1, 0) for n in range(pages))]
    )


@pytest.mark.parametrize("captured", [None, np.arange(41) % 3 > 0])
@pytest.mark.parametrize("bins", [2, 5, 50])
@pytest.mark.parametrize("policy", ["cycle", "random", "greedy"])
def test_ties_together_that_errors_of_opic_split(
    policy: str, bins: int, captured: Mask | None
) -> None:
    """OPIC gives forty equal pages scores that differ by less than its certificate."""
    graph = hub_and_pages(40)
    options = ValidationOptions(policy, ties="together", bins=bins)  # type: ignore[arg-type]
    report = validate(graph, ranked(graph), options, captured=captured)
    report.require()
    assert report.classes.agreement == 1
    assert report.classes.agreement_apart in (1, None)
    assert report.classes.nodes_apart == 41


@settings(max_examples=examples(60), deadline=None)
@given(graphs())
def test_any_small_graph_passes_with_ties_together(graph: Graph) -> None:
    report = validate(graph, ranked(graph), ValidationOptions(ties="together"))
    assert (report.verdict, report.classes.agreement) == ("pass", 1)


def test_a_wrong_order_fails_with_ties_together() -> None:
    exact = exact_scores(WEB)
    backwards = np.empty(400)
    backwards[np.argsort(exact)] = np.sort(exact)[::-1]
    report = validate(WEB, scored(WEB, backwards), ValidationOptions(ties="together"))
    assert (report.verdict, report.classes.agreement < 0.3) == ("fail", True)
    hub = hub_and_pages(40)
    wrong = exact_scores(hub)
    wrong[0], wrong[1] = wrong[1], wrong[0]  # a page in the place of the home page
    report = validate(hub, scored(hub, wrong), ValidationOptions(ties="together"))
    assert (report.verdict, round(41 * report.classes.agreement)) == ("fail", 39)


def test_captured_nodes_by_position(tmp_path: Path) -> None:
    uris, ids = tmp_path / "uris.txt", tmp_path / "map.txt"
    row = "{0}\thttp://{0}/\t{1}\t1\t-\n"
    uris.write_text("".join(row.format(*r) for r in (("c", 0), ("a", 0), ("b", 0), ("b", 2))))
    ids.write_text("2 c\n0 a\n1 b\n")
    nodes = spelled_nodes(graph_of(3, [(0, 1)]), uris, [ids], tmp_path)
    assert nodes.captured.tolist() == [False, True, False]
    with pytest.raises(BadInput, match="other ids than test graph"):
        spelled_nodes(graph_of(4, [(0, 1)]), uris, [ids], tmp_path)
    ids.write_text("2 c\n0 d\n1 b\n")
    with pytest.raises(BadInput, match="no line for the key d"):
        spelled_nodes(graph_of(3, [(0, 1)]), uris, [ids], tmp_path)
