"""Rankings with weights of pages on every runner: the same scores, and the same certificates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.crawls import ok, write_warc
from support.paths import LOOPBACK
from support.work_folders import manifest_of

RUNNERS = ("embedded", "inline", "local")
METHODS = ("personalized", "trustrank", "hits")


@pytest.fixture
def archives(tmp_path: Path) -> list[Path]:
    """The last one has pages that no other page links to."""
    one, other = "http://island.example/", "http://island.example/other"
    return [LOOPBACK, write_warc(tmp_path / "island.warc.gz", {one: [other], other: [one]})]


@pytest.fixture
def weights(tmp_path: Path, archives: list[Path]) -> dict[str, tuple[object, ...]]:
    """The options of each method: a few pages of the crawl, one of which dangles, and one that is
    not in it."""
    ok("run", *archives, "--work", tmp_path / "plain", "--quiet", "--no-validate")
    ok("export-text", "--work", tmp_path / "plain", "--out", tmp_path / "text")
    keys = [line.split()[1] for line in (tmp_path / "text" / "map.txt").read_text().splitlines()]
    keys = [key for key in keys if "island" not in key]
    lines = [f"{key} {0.1 + n}" for n, key in enumerate(keys[:: len(keys) // 5])]
    teleport, seeds = tmp_path / "teleport.txt", tmp_path / "seeds.txt"
    teleport.write_text("\n".join([*lines, "http://nowhere.example/ 3"]))
    relevance = tmp_path / "relevance.txt"
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
    ok("export-text", "--work", work, "--out", out)
    rows = [line.split()[:2] for line in (out / "pr.txt").read_text().splitlines()]
    ranked = {
        "ids": np.array([i for i, _ in rows]),
        "scores": np.array([float(x) for _, x in rows]),
    }
    if (hubs := out / "hubs.txt").exists():
        ranked["hubs"] = np.array([float(line.split()[1]) for line in hubs.open()])
    return ranked


@pytest.mark.parametrize("method", METHODS)
def test_after_rounds_the_same_bits(
    method: str, archives: list[Path], weights: dict[str, tuple[object, ...]], tmp_path: Path
) -> None:
    options = ("--iterations", 3, "--no-validate", "--quiet", "--method", method, *weights[method])
    ranked = {}
    for runner in RUNNERS:
        ok("run", *archives, "--work", tmp_path / runner, "--runner", runner, *options)
        ranked[runner] = ranks_of(tmp_path / runner)
    assert (ranked["embedded"]["scores"] == 0).any()
    for runner in RUNNERS[1:]:
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


@pytest.mark.parametrize("method", METHODS[:2])
def test_after_a_tolerance_within_the_certified_errors(
    method: str, archives: list[Path], weights: dict[str, tuple[object, ...]], tmp_path: Path
) -> None:
    options = (
        "--tolerance",
        "1e-9",
        "--no-validate",
        "--quiet",
        "--method",
        method,
        *weights[method],
    )
    scores, eta = [], 0.0
    for runner in RUNNERS[:2]:
        work = tmp_path / runner
        ok("run", *archives, "--work", work, "--runner", runner, *options)
        last = manifest_of(work)["steps"]["page-rank"]["rounds"][-1]
        assert last["certificate"] <= 1e-9
        eta += last["eta"]
        scores.append(ranks_of(work)["scores"])
    one, other = scores
    assert 0 < eta < 1e-4
    assert (abs(one - other) <= 1.01 * eta * np.minimum(one, other)).all()


def test_hits_to_a_tolerance(
    archives: list[Path], weights: dict[str, tuple[object, ...]], tmp_path: Path
) -> None:
    """Each certificate bounds the length of the difference from the exact scores."""
    options = ("--tolerance", "1e-5", "--no-validate", "--quiet", "--method", "hits")
    scores = []
    for runner in RUNNERS[:2]:
        work = tmp_path / runner
        ok("run", *archives, "--work", work, "--runner", runner, *options, *weights["hits"])
        last = manifest_of(work)["steps"]["page-rank"]["rounds"][-1]
        assert last["certificate"] <= 1e-5
        scores.append(ranks_of(work)["scores"])
        ok("check", "--work", work)
    assert np.linalg.norm(scores[0] - scores[1]) <= 2e-5


def test_another_ranking_leaves_no_hubs(archives: list[Path], tmp_path: Path) -> None:
    work = tmp_path / "work"
    run = ("run", *archives, "--work", work, "--runner", "inline", "--no-validate", "--quiet")
    ok(*run, "--iterations", 2, "--method", "hits")
    assert (work / "hubs").is_dir()
    ok(*run, "--iterations", 2, "--force")
    assert not (work / "hubs").exists()
    ok("check", "--work", work)


def test_explain_sums_to_the_score(
    archives: list[Path], weights: dict[str, tuple[object, ...]], tmp_path: Path
) -> None:
    """On the jobs' runners, too, the readers who start at a page are part of its score."""
    said = {}
    for runner in RUNNERS[:2]:
        work = tmp_path / runner
        options = ("--iterations", 60, "--quiet", "--no-validate", "--method", "personalized")
        ok("run", *archives, "--work", work, "--runner", runner, *options, *weights["personalized"])
        page = (work / "precedence.txt").read_text().split()[0]
        said[runner] = ok("explain", "--work", work, page).out
    assert said["inline"].replace("inline", "embedded") == said["embedded"].replace(
        "inline", "embedded"
    )
