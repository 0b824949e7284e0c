"""`diff`: rankings beside each other and beside ratings, through the real command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from support.crawls import crawlrank, ok
from support.graphs import web_like
from support.paths import LOOPBACK
from support.runs import finished, ranked, shared_warc
from support.terminals import on_terminal

NODES = 120
GRAPH = web_like(NODES, seed=11)
INDEGREES = np.bincount(GRAPH.targets, minlength=NODES)
SOURCES = np.repeat(np.arange(NODES), GRAPH.outdegrees)
URIS = [f"http://h{number % 7}.example/{number:03}" for number in range(NODES)]


@pytest.fixture(scope="module")
def work() -> Path:
    web = {
        URIS[node]: [URIS[to] for to in GRAPH.targets[node == SOURCES].tolist()]
        for node in range(NODES)
    }
    run = finished(shared_warc("agree.warc.gz", web), "--nodes", "all")
    return ranked(ranked(run, "--method", "degree"), "--method", "hits")


def said(work: Path, *options: object) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(ok("diff", work, *options, "--json", "-").out)
    return told


def scores(work: Path, label: str, tmp: Path, digits: int) -> np.ndarray:
    """By id, rounded."""
    named = () if label == "run" else ("--ranking", label)
    ok("export", "--format", "text", "--work", work, *named, "--out", tmp / label)
    lines = (tmp / label / "pr.txt").read_text().splitlines()
    return np.array([float(f"{float(line.split()[1]):.{digits - 1}e}") for line in lines])


@pytest.mark.slow
def test_all_pairs_against_scipy(work: Path, tmp_path: Path) -> None:
    pairs = said(work, "--ranking", "run", "--ranking", "degree", "--ranking", "hits")["pairs"]
    labels = [tuple(pair["labels"]) for pair in pairs]
    assert labels == [("run", "degree"), ("run", "hits"), ("degree", "hits")]
    for pair in pairs:
        one, other = (scores(work, name, tmp_path, pair["digits"]) for name in pair["labels"])
        agreed = pair["agreement"]
        assert agreed["spearman"] == pytest.approx(scipy.stats.spearmanr(one, other)[0])
        assert agreed["kendall"] == pytest.approx(scipy.stats.kendalltau(one, other)[0])
        assert sum(map(sum, agreed["confusion"])) == agreed["nodes"] == NODES
        same = sum(agreed["confusion"][k][k] for k in range(5))
        assert agreed["same_class"] == pytest.approx(same / NODES)


@pytest.mark.slow
def test_a_ranking_agrees_with_itself(work: Path) -> None:
    work = ranked(work, "--name", "again")
    (pair,) = said(work, "--ranking", "again")["pairs"]
    assert pair["labels"] == ["run", "again"]
    agreed = pair["agreement"]
    assert agreed["spearman"] == pytest.approx(1, abs=1e-12)
    assert agreed["kendall"] == agreed["same_class"] == 1
    assert agreed["rank_biased"] == pytest.approx(1, abs=1e-12)
    assert pair["moved"] == []


@pytest.mark.slow
def test_pages_that_differ_most_have_their_best_links(work: Path, tmp_path: Path) -> None:
    (pair,) = said(work, "--ranking", "degree", "--ranking", "run", "--top", 5)["pairs"]
    both = [scores(work, name, tmp_path, pair["digits"]) for name in pair["labels"]]
    apart = np.abs(scipy.stats.rankdata(both[0]) - scipy.stats.rankdata(both[1]))
    listed = [abs(page["ours"] - page["theirs"]) for page in pair["moved"]]
    assert listed == pytest.approx(np.sort(apart)[::-1][:5])
    keys = (tmp_path / "run" / "map.txt").read_text().splitlines()
    assert len(keys) == NODES
    for page in pair["moved"]:
        node = URIS.index(page["uri"])
        assert page["links"] == INDEGREES[node]
        for best in filter(None, page["best"]):
            assert URIS.index(best["uri"]) in SOURCES[GRAPH.targets == node]
        if page["links"]:  # each gives 1 to the indegree
            assert page["best"][0]["share"] == pytest.approx(1 / page["links"])


def test_tables(work: Path) -> None:
    told = ok("diff", work, "--ranking", "run", "--ranking", "hits").out
    assert "how far rankings agree" in told
    assert "pages by class in run (rows) and hits (columns)" in told
    assert "pages that differ most" in told
    assert "pages that differ most" not in ok("diff", work).out


def test_no_address_is_cut_at_80_columns() -> None:
    """Tables of a real crawl, on a terminal."""
    work = ranked(finished(LOOPBACK), "--method", "degree")
    words = ("diff", work, "--ranking", "run", "--ranking", "degree")
    document = json.loads(ok(*words, "--json", "-").out)
    told = on_terminal(80, *words)
    assert max(map(len, told.splitlines())) <= 80
    moved, links = told.partition("pages that differ most")[2].split("links that give them most")
    (pair,) = document["pairs"]
    rows = [line.split() for line in moved.splitlines() if line[:2].strip().isdecimal()]
    assert [row[-1] for row in rows] == [page["uri"] for page in pair["moved"]]
    sources = [line.split() for line in links.splitlines() if line[:4].strip().isdecimal()]
    assert [(row[1], row[2], row[-1]) for row in sources] == [
        (label, f"{best['share']:.0%}", best["uri"])
        for page in pair["moved"]
        for label, best in zip(pair["labels"], page["best"], strict=True)
    ]


def test_raters_who_rate_by_indegree(work: Path, tmp_path: Path) -> None:
    best = np.argsort(-INDEGREES, kind="stable")[:8].tolist()
    rows = [f"{URIS[node]},{who},{4 - at // 2}" for who in "ab" for at, node in enumerate(best)]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["page,rater,rating", *rows, "http://none.example/,a,4"]))
    told = said(work, "--ratings", path)
    assert told["raters"] == ["a", "b"]
    ranking = next(entry for entry in told["rankings"] if entry["label"] == "degree")
    assert ranking["unknown"] == ["http://none.example/"]
    score = ranking["score"]
    assert score["ranking"]["pages"] == 8
    assert score["ranking"]["share"] == 1 or score["by_order"]  # equal indegrees are by name
    assert all(rater["share"] == 1 for rater in score["raters"])
    assert "rated pages without a score (1)" in ok("diff", work, "--ratings", path).out


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("page,rater,rating\nhttp://none.example/,a,4\n", "none of 1 rated page,"),
        (f"page,rater,rating\n{URIS[0]},a,5\n", "the rating 5"),
        (f"page;rater;rating\n{URIS[0]};a;4\n", "semicolons"),
        (f"page,rater,rating\n{URIS[0]},a,4\n{URIS[0]}?,a,3\n", "which are one page"),
        ("", "no ratings"),
    ],
)
def test_ratings_that_are_none(text: str, reason: str, work: Path, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    refused = crawlrank("diff", work, "--ratings", path)
    assert refused.code == 3
    assert reason in refused.err


def test_one_ranking_alone() -> None:
    work = finished(LOOPBACK)
    refused = crawlrank("diff", work)
    assert refused.code == 2
    assert "one ranking only" in refused.err
    unknown = crawlrank("diff", work, "--ranking", "yours")
    assert unknown.code == 3
    assert "no ranking yours" in unknown.err


def test_a_page_with_the_score_0_is_explained(work: Path) -> None:
    page = URIS[int(np.flatnonzero(INDEGREES == 0)[0])]
    told = ok("explain", "--work", work, "--ranking", "degree", page).out
    assert "score     0, 0.000% of all" in told
