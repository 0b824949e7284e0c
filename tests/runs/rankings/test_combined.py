"""Rankings made of others: their scores, what they remember of their parts, and when they hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy
from support.crawls import WEB, crawlrank, ok
from support.runs import copy_of, finished, ranked, shared_warc

URI = "http://a.example/about"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    run = finished(shared_warc("web.warc.gz", WEB), "--nodes", "all")
    return copy_of(ranked(run, "--method", "degree"), tmp_path / "work")


def scores(work: Path, label: str = "") -> np.ndarray:
    folder = work / "rankings" / label if label else work
    return np.array(np.load(folder / "ranks" / "scores.npy"))


def combine(work: Path, parts: str, *options: object) -> None:
    ok("rank", "--work", work, "--combine", parts, "--quiet", *options)


@pytest.mark.slow
def test_by_position(work: Path) -> None:
    """Weighted Borda counts, with the mean rank for scores that are equal in the 9 digits that
    are proved."""
    combine(work, "run=3,degree=1")
    ranks = [scipy.stats.rankdata(scores(work, label).round(9)) for label in ("", "degree")]
    wanted = (0.75 * ranks[0] + 0.25 * ranks[1]) / len(ranks[0])
    assert scores(work, "combined") == pytest.approx(wanted, rel=1e-12)


def test_by_probability(work: Path) -> None:
    combine(work, "run=1,degree=1", "--combine-by", "probability", "--name", "both")
    parts = [scores(work), scores(work, "degree")]
    wanted = sum(part / part.sum() for part in parts) / 2
    assert scores(work, "both") == pytest.approx(wanted, rel=1e-12)


@pytest.mark.slow
def test_commands_read_it(work: Path, tmp_path: Path) -> None:
    combine(work, "run=0.7,degree=0.3", "--name", "mix")
    named = ("--work", work, "--ranking", "mix")
    explained = ok("explain", *named, URI).out
    assert "run=0.7,degree=0.3" in explained
    assert "what its score is made of" not in explained
    assert "a combination" in ok("status", "--work", work).out
    ok("status", "--check", *named)
    ok("export", "--format", "text", *named, "--out", tmp_path / "text")
    ok("diff", work, work / "rankings" / "mix")
    ok("diff", work, "--ranking", "mix", "--ranking", "run")
    again = ok("rank", "--work", work, "--combine", "run=0.7,degree=0.3", "--name", "mix")
    assert "unchanged, kept" in again.err


@pytest.mark.slow
def test_it_is_stale_once_a_part_is_another_one(work: Path) -> None:
    combine(work, "run=1,degree=1", "--name", "mix")
    combine(work, "mix=1,run=1", "--name", "more")
    before = scores(work, "mix")
    ok("rank", "--work", work, "--method", "hits", "--name", "degree", "--force", "--quiet")
    for label in ("mix", "more"):
        refused = crawlrank("explain", "--work", work, "--ranking", label, URI)
        assert refused.code == 3
        assert "is another one by now" in refused.err
    stale = crawlrank("rank", "--work", work, "--combine", "mix=1", "--name", "other")
    assert stale.code == 3
    combine(work, "run=1,degree=1", "--name", "mix")
    assert not np.array_equal(scores(work, "mix"), before)
    ok("explain", "--work", work, "--ranking", "mix", URI)


@pytest.mark.parametrize(
    ("parts", "options", "code", "reason"),
    [
        ("run=1,nope=1", (), 3, "no ranking nope"),
        ("run=1,run=2", (), 2, "run is there twice"),
        ("run", (), 2, "'run' is not LABEL=WEIGHT"),
        ("run=0", (), 2, "'run=0'"),
        ("run=-1", (), 2, "'run=-1'"),
        ("run=inf", (), 2, "'run=inf'"),
        ("run=nan", (), 2, "'run=nan'"),
        ("=1", (), 2, "'=1'"),
        ("run=1", ("--method", "hits"), 2, "exclude each other"),
        ("degree=1", ("--name", "degree", "--force"), 3, "made of itself"),
    ],
)
def test_what_is_no_combination(
    parts: str, options: tuple[str, ...], code: int, reason: str, work: Path
) -> None:
    refused = crawlrank("rank", "--work", work, "--combine", parts, *options)
    assert refused.code == code
    assert reason in refused.err


def test_no_ranking_is_made_of_itself_over_others(work: Path) -> None:
    combine(work, "run=1,degree=1", "--name", "one")
    combine(work, "one=1", "--name", "two")
    refused = crawlrank("rank", "--work", work, "--combine", "two=1", "--name", "one", "--force")
    assert refused.code == 3
    assert "two, which is made of one" in refused.err
    ok("explain", "--work", work, "--ranking", "two", URI)


def test_a_run_takes_no_combination(tmp_path: Path) -> None:
    refused = crawlrank(
        "run", tmp_path / "x.warc", "--work", tmp_path / "w", "--method", "combined"
    )
    assert refused.code == 2


@pytest.mark.slow
def test_pages_of_equal_exact_scores_have_one_position(tmp_path: Path) -> None:
    """Copies of one graph whose pages have other names: to a tolerance, scores of copies differ by
    rounding and by the order of sweeps, and no order is made of that."""
    links = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (3, 4), (4, 5), (5, 6), (6, 7), (7, 3), (7, 0)]
    lines = []
    for copy in range(60):
        names = np.random.default_rng(copy).permutation(8)
        pages = [f"http://c{copy:02}.example/{name}" for name in names]
        lines += [f"{pages[source]} {pages[target]}\n" for source, target in links]
    (tmp_path / "links.txt").write_text("".join(lines))
    work = tmp_path / "work"
    source = ("--links", tmp_path / "links.txt", "--order", "source-target")
    ok("step", "import-text", *source, "--work", work)
    ok("run", "--work", work, "--nodes", "all", "--no-validate")
    assert len(np.unique(scores(work))) > 8
    combine(work, "run=1")
    assert len(np.unique(scores(work, "combined"))) == 8
