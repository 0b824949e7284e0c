"""Rankings with weights of pages on every runner: the same scores, and the same certificates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.crawls import WEB, ok
from support.paths import LOOPBACK
from support.runs import copy_of, finished, shared_warc
from support.work_folders import manifest_of

RUNNERS = ("embedded", "inline")
METHODS = ("personalized", "trustrank", "hits")
BRIEFLY = ("--no-validate", "--quiet", "--jobs", 1)
#: pages that no other page links to
ISLAND = {
    "http://island.example/": ["http://island.example/other"],
    "http://island.example/other": ["http://island.example/"],
}
Options = dict[str, tuple[Any, ...]]


@pytest.fixture(scope="module")
def archives() -> list[Path]:
    return [LOOPBACK, shared_warc("island.warc.gz", ISLAND)]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory, archives: list[Path]) -> Options:
    """The options of each method: a few pages of the crawl, one of which dangles, and one that is
    not in it."""
    folder = tmp_path_factory.mktemp("weights")
    ok(
        "export",
        "--format",
        "text",
        "--work",
        finished(archives, "--no-validate"),
        "--out",
        folder / "text",
    )
    keys = [line.split()[1] for line in (folder / "text" / "map.txt").read_text().splitlines()]
    keys = [key for key in keys if "island" not in key]
    lines = [f"{key} {0.1 + n}" for n, key in enumerate(keys[:: len(keys) // 5])]
    teleport, seeds = folder / "teleport.txt", folder / "seeds.txt"
    teleport.write_text("\n".join([*lines, "http://nowhere.example/ 3"]))
    relevance = folder / "relevance.txt"
    relevance.write_text("".join(f"{key} {n % 3 / 2}\n" for n, key in enumerate(keys)))
    seeds.write_text("\n".join(line.split()[0] for line in lines))
    return {
        "personalized": ("--teleport", teleport),
        "trustrank": ("--seeds", seeds),
        "hits": ("--relevance", relevance),
    }


def ranks_of(work: Path) -> dict[str, np.ndarray]:
    """And hubs, of HITS."""
    out = work.with_name(f"{work.name}-text")
    ok("export", "--format", "text", "--work", work, "--out", out)
    rows = [line.split()[:2] for line in (out / "pr.txt").read_text().splitlines()]
    ranked = {
        "ids": np.array([i for i, _ in rows]),
        "scores": np.array([float(x) for _, x in rows]),
    }
    if (hubs := out / "hubs.txt").exists():
        ranked["hubs"] = np.array([float(line.split()[1]) for line in hubs.open()])
    return ranked


def check_bits(
    method: str, runners: Sequence[str], archives: list[Path], weights: Options, tmp_path: Path
) -> None:
    """After three rounds."""
    options = ("--iterations", 3, "--method", method, *weights[method], *BRIEFLY)
    ranked = {}
    for runner in runners:
        ok("run", *archives, "--work", tmp_path / runner, "--runner", runner, *options)
        ranked[runner] = ranks_of(tmp_path / runner)
    assert (ranked["embedded"]["scores"] == 0).any()
    for runner in runners[1:]:
        for name, column in ranked["embedded"].items():
            assert (ranked[runner][name] == column).all()
        assert ("hubs" in ranked[runner]) == (method == "hits")
        one, other = (tmp_path / name / "precedence.txt" for name in ("embedded", runner))
        assert one.read_bytes() == other.read_bytes()
        rounds = [
            manifest_of(tmp_path / name)["steps"]["page-rank"]["rounds"]
            for name in ("embedded", runner)
        ]
        for name in ("certificate", "eta", "mass"):
            assert rounds[1][-1][name] == pytest.approx(rounds[0][-1][name], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_after_rounds_the_same_bits(
    method: str, archives: list[Path], weights: Options, tmp_path: Path
) -> None:
    """And explain says the same: on the jobs' runners, too, the readers who start at a page are
    part of its score."""
    check_bits(method, RUNNERS, archives, weights, tmp_path)
    page = (tmp_path / "inline" / "precedence.txt").read_text().split()[0]
    said = [ok("explain", "--work", tmp_path / runner, page).out for runner in RUNNERS]
    assert said[1].replace("inline", "embedded") == said[0].replace("inline", "embedded")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["trustrank"])
def test_by_local_processes(
    method: str, archives: list[Path], weights: Options, tmp_path: Path
) -> None:
    check_bits(method, ("embedded", "local"), archives, weights, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", ["personalized", pytest.param("trustrank", marks=pytest.mark.slow)]
)
def test_after_a_tolerance_within_the_certified_errors(
    method: str, archives: list[Path], weights: Options, tmp_path: Path
) -> None:
    options = ("--tolerance", "1e-9", "--method", method, *weights[method], *BRIEFLY)
    scores, eta = [], 0.0
    for runner in RUNNERS:
        work = tmp_path / runner
        ok("run", *archives, "--work", work, "--runner", runner, *options)
        last = manifest_of(work)["steps"]["page-rank"]["rounds"][-1]
        assert last["certificate"] <= 1e-9
        eta += last["eta"]
        scores.append(ranks_of(work)["scores"])
    one, other = scores
    assert 0 < eta < 1e-4
    assert (abs(one - other) <= 1.01 * eta * np.minimum(one, other)).all()


def check_hits(archives: list[Path], relevance: Path, tolerance: float, tmp_path: Path) -> None:
    """Each certificate bounds the length of the difference from the exact scores."""
    options = ("--tolerance", tolerance, "--method", "hits", "--relevance", relevance, *BRIEFLY)
    scores = []
    for runner in RUNNERS:
        work = tmp_path / runner
        ok("run", *archives, "--work", work, "--runner", runner, *options)
        last = manifest_of(work)["steps"]["page-rank"]["rounds"][-1]
        assert last["certificate"] <= tolerance
        scores.append(ranks_of(work)["scores"])
        ok("status", "--check", "--work", work)
    assert np.linalg.norm(scores[0] - scores[1]) <= 2 * tolerance


@pytest.mark.slow
def test_hits_to_a_tolerance(tmp_path: Path) -> None:
    relevance = tmp_path / "relevance.txt"
    relevance.write_text("http://a.example/news 0.5\n")
    check_hits([shared_warc("web.warc.gz", WEB)], relevance, 1e-3, tmp_path)


@pytest.mark.slow
def test_another_ranking_leaves_no_hubs(tmp_path: Path) -> None:
    run = (LOOPBACK, "--runner", "inline", "--no-validate", "--iterations", 2)
    work = copy_of(finished(*run, "--method", "hits"), tmp_path / "work")
    assert (work / "hubs").is_dir()
    ok("run", *run, "--work", work, "--force", "--quiet")
    assert not (work / "hubs").exists()
    ok("status", "--check", "--work", work)
