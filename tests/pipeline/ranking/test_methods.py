"""The table of rankings: every row has what its users need, and is a choice of the command."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from support.crawls import crawlrank
from support.graphs import csr_of, web_like

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.ranking.methods import METHODS, Scoring, method_of
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.solution import Problem

WEB = web_like(300, seed=2)


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].of_links])
def test_scores_are_the_base_and_the_shares_of_all_links(name: str) -> None:
    """By numpy's own sums over edges; the certificate bounds the difference."""
    scoring = METHODS[name].scoring
    weights = np.arange(WEB.nodes) % 3 / 2 if METHODS[name].takes else None
    problem = Problem(csr_of(WEB), Stop(tolerance=1e-12), 2, 1 << 40, {"weights": weights})
    solution = scoring.solve(problem)
    sources = np.repeat(np.arange(WEB.nodes), WEB.outdegrees)
    assert set(METHODS[name].more) == solution.more.keys()
    more = {column: values[sources] for column, values in solution.more.items()}
    given = scoring.shares(solution.scores[sources], WEB.outdegrees[sources], more)
    sums = scoring.base(weights) + np.bincount(WEB.targets, given, WEB.nodes)
    assert sums == pytest.approx(solution.scores, rel=1e-9, abs=1e-9)
    assert METHODS[name].name == name


@pytest.mark.parametrize("name", METHODS)
def test_modules_have_what_the_table_says(name: str) -> None:
    def parameters(function: Any) -> list[str]:
        return [p.name for p in inspect.signature(function).parameters.values()
                if p.default is p.empty and p.name != "self"]  # fmt: skip

    for function in (Scoring.solve, Scoring.base, Scoring.shares):
        own = getattr(METHODS[name].scoring, function.__name__)
        assert parameters(own) == parameters(function)


def test_a_folder_without_a_name_is_of_pagerank() -> None:
    """Folders of earlier versions have no name."""
    assert method_of({}) is METHODS["pagerank"]


def test_a_folder_of_an_unknown_ranking_is_refused() -> None:
    with pytest.raises(BadInput, match="--method alphabet; expected pagerank"):
        method_of({"--method": "alphabet"})


def test_another_name_is_refused() -> None:
    said = crawlrank("run", "none.warc", "--work", "none", "--method", "alphabet")
    assert said.code == 2
    assert "pagerank" in said.err
