"""The laboratory of Adaptive OPIC: webs against the power law, claims against made-up results, and
whole runs on small webs."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from support.crawls import MORE_WEB, WEB, crawlrank, html, ok, response, write_records

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.keys.surt_keys import surt_key
from crawlrank.pipeline.data.datasets import merged
from crawlrank.pipeline.data.graph import read_graph
from crawlrank.pipeline.lab import experiments
from crawlrank.pipeline.lab.claims import FIGURES, Claim, LabResults, claims
from crawlrank.pipeline.lab.experiments import (
    RATES,
    WINDOWS,
    LabGraphs,
    PolicyRow,
    ReasonRow,
    WindowRow,
)
from crawlrank.pipeline.lab.lab import run_lab
from crawlrank.pipeline.lab.webs import crawled_web, poisson_web, random_web


def made_up(
    errors: dict[str, float],
    tops: dict[str, float],
    cash: float,
    by_window: dict[str, tuple[float, float]],
    *,
    agreeing: bool = True,
) -> LabResults:
    """by_window: errors up to 1 % of changes, and above. agreeing: other measures say the same."""
    results = LabResults(LabGraphs(1000), (1,), FIGURES)
    for name, error in errors.items():
        first = 90.0 if name == "greedy" else 99.0
        more = (error / 2, error / 4, 400.0) if agreeing else (50 - error, error / 4, error**2)
        results.policies.append(PolicyRow(1, name, 9, 99.0, first, 9.0, *more))
        results.policies.append(PolicyRow(1, name, 10, error, tops.get(name, 50.0), cash, *more))
    for name in WINDOWS:
        for rate in RATES:
            error = by_window.get(name, (50.0, 50.0))[rate > 0.01]
            measures = 1.0 if "interpolation" in name else 12.5 if agreeing else len(name)
            for crawl, apart in ((1, -0.5), (2, 0.5)):
                row = WindowRow(1, rate, name, crawl, error + apart, measures)
                results.windows.append(row)
    return results


def verdicts(rows: list[Claim]) -> dict[str, bool]:
    return {row.claim: row.holds for row in rows}


def test_claims_hold_for_the_numbers_of_the_paper() -> None:
    interpolation = {name: (7.5, 19.0) for name in WINDOWS if "interpolation" in name}
    results = made_up(
        {"random": 20, "cycle": 10, "greedy": 11, "offline": 9},
        {"random": 9, "cycle": 8, "greedy": 3},
        cash=2.02,
        by_window={"M = 4": (30, 30), "M = 8": (8, 20), "M = 16": (9, 25), **interpolation},
    )
    results.reasons += [
        ReasonRow(1, "income", mean, policy, error)
        for mean in (3.0, 10.0)
        for policy, error in (("greedy", 11.0 if mean == 10 else 1.0), ("cycle", 10.0))
    ]
    rows = claims(results)
    assert len(rows) == 14 + 3 * len(interpolation)
    assert [claim for claim, holds in verdicts(rows).items() if not holds] == []
    assert rows[2].measured == "greedy: 11.00 %, cycle: 10.00 %"


def test_claims_fail_for_other_numbers() -> None:
    interpolation = {name: (40.0, 26.0) for name in WINDOWS if "interpolation" in name}
    results = made_up(
        {"random": 9, "cycle": 10, "greedy": 14, "offline": 5},
        {"random": 9, "cycle": 3, "greedy": 4, "offline": 3},
        cash=2.2,
        by_window={"M = 4": (9, 30), "M = 8": (11, 20), "M = 16": (22, 25), **interpolation},
        agreeing=False,
    )
    results.reasons += [
        ReasonRow(1, "income", 10.0, policy, error)
        for policy, error in (("greedy", 5.0), ("cycle", 10.0))
    ]
    rows = claims(results)
    holds = {claim for claim, verdict in verdicts(rows).items() if verdict}
    assert holds == {f"{name} stores one measure a page" for name in interpolation}


def test_one_rate_that_is_worse_is_enough_to_fail() -> None:
    results = made_up({"random": 1, "cycle": 1, "greedy": 1}, {}, 2, {"M = 16": (49.9, 50.1)})
    assert verdicts(claims(results))["Above 1% interpolation, T = 16 is better than M = 16"]
    results.windows.append(WindowRow(1, RATES[-1], "interpolation, T = 16", 3, 80.0, 1.0))
    assert not verdicts(claims(results))["Above 1% interpolation, T = 16 is better than M = 16"]


def test_errors_are_those_of_the_paper() -> None:
    estimate, exact = np.array([0.5, 0.2, 0.3]), np.array([0.4, 0.4, 0.2])
    assert experiments.error_of(estimate, exact) == pytest.approx(100 * (0.25 + 0.5 + 0.5) / 3)
    assert experiments.error_of(estimate, exact, np.array([0])) == pytest.approx(25)


def test_weighted_error_disorder_and_variance() -> None:
    """By scipy's tau, and by numpy's average and its variance of two moments."""
    from scipy.stats import kendalltau

    rng = np.random.default_rng(2)
    exact = rng.dirichlet(np.ones(50))
    estimate = exact * rng.uniform(0.5, 1.6, 50)
    apart = 100 * (estimate / exact - 1)
    errors = experiments.errors_of(estimate, exact)
    assert errors.weighted == pytest.approx(np.average(np.abs(apart), weights=exact))
    assert errors.variance == pytest.approx(np.mean(apart**2) - np.mean(apart) ** 2)
    assert errors.disorder == pytest.approx(50 * (1 - kendalltau(estimate, exact).statistic))
    assert experiments.errors_of(np.full(50, 0.02), exact).disorder == 50
    assert experiments.errors_of(-exact, exact).disorder == 100


def test_indegrees_follow_poisson() -> None:
    """Shares of pages with indegrees 0 to 5, less the few links that are dropped."""
    from scipy.stats import poisson

    web = poisson_web(50_000, 2.5, np.random.default_rng(3))
    shares = np.bincount(web.indegrees, minlength=6)[:6] / 50_000
    assert np.allclose(shares, poisson.pmf(np.arange(6), 2.5), atol=0.01)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("runner", ["embedded", "inline"])
def test_the_web_of_a_work_folder(runner: str, tmp_path: Path) -> None:
    """Its links are those of the text of its graph, its order is that of the dates, and a run takes
    it for its web."""
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    work, text = tmp_path / "work", tmp_path / "text"
    pages = WEB | MORE_WEB
    dated = [
        response(uri, html(targets)).replace(b"2024-05-06", b"2024-05-%02d" % (28 - 3 * number))
        for number, (uri, targets) in enumerate(pages.items())
    ]
    archive = write_records(tmp_path / "crawl.warc.gz", dated)
    given = "--runner", runner, "--no-validate", "--iterations", 3, "--quiet"
    ok("run", archive, "--work", work, *given)
    if runner == "embedded":
        ok("export", "--format", "text", "--work", work, "--out", text)
    graph = read_graph(text / "pr0.txt" if runner == "embedded" else work / "graph")
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    web = crawled_web(work)
    assert web.nodes == graph.nodes
    assert web.links.tolist() == (sources * graph.nodes + graph.targets).tolist()
    assert web.hashes is not None and len(set(web.hashes.tolist())) == web.nodes
    lines = b"".join(merged(text / "map.txt" if runner == "embedded" else work / "map", None))
    numbers = {key.decode(): int(number) for number, key in map(bytes.split, lines.splitlines())}
    keys = [(surt_key(uri.encode(), keep_www=False) or b"").decode() for uri in reversed(pages)]
    assert web.order is not None and len(web.order) > 3
    assert web.order.tolist() == [numbers[key] for key in keys if key in numbers]
    if runner == "inline":
        return
    ok("lab", "aopic", "--work", work, "--output", tmp_path / "out", "--figures", "2")
    policies = rows_of(tmp_path / "out" / "policies.csv")
    replayed = [int(row["visits"]) for row in policies if row["policy"] == "replay"]
    assert replayed == list(range(1, 11))
    assert (
        f"on the crawl in work, of {graph.nodes} pages"
        in (tmp_path / "out" / "report.md").read_text()
    )


@pytest.mark.parametrize("exponent", [2.1, 3.0])
def test_indegrees_follow_the_power_law(exponent: float) -> None:
    """Shares of pages with indegrees 1, 2, 3: k^-exponent over zeta(exponent)."""
    from scipy.special import zeta

    web = random_web(50_000, exponent, np.random.default_rng(3))
    shares = np.bincount(web.indegrees, minlength=4)[1:4] / 50_000
    assert np.allclose(shares, np.arange(1, 4) ** -exponent / zeta(exponent), atol=0.01)
    assert np.all(np.diff(web.links) > 0)
    assert np.all(web.links // 50_000 != web.targets)


def test_changes_halve_and_double() -> None:
    rng = np.random.default_rng(5)
    web = random_web(20_000, 2.1, rng)
    changed = web.changed(0.2, rng)
    before, after = web.indegrees, changed.indegrees
    large = before >= 30
    ratio = after[large] / before[large]
    assert 0.13 < np.mean(ratio != 1) < 0.27
    assert 0.4 < np.mean(ratio[ratio < 0.9]) < 0.6
    assert 1.8 < np.mean(ratio[ratio > 1.1]) <= 2
    assert np.array_equal(web.changed(0, rng).links, web.links)


def test_a_chain_of_a_web_has_its_links() -> None:
    web = random_web(300, 2.1, np.random.default_rng(1))
    chain = web.chain()
    sources = np.repeat(np.arange(300), np.diff(chain.offsets))
    assert (sources * 300 + chain.targets).tolist() == web.links.tolist()


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    output = tmp_path_factory.mktemp("lab") / "out"
    seeds = "--seed", 3, "--seed", 4
    said = ok("lab", "aopic", "--output", output, "--nodes", 300, *seeds, "--jobs", 1)
    assert said.out.split() == sorted(map(str, output.iterdir()), key=said.out.index)
    return output


def test_a_run_writes_figures_tables_and_a_report(small: Path) -> None:
    names = {f"figure-{number}.{form}" for number in FIGURES for form in ("png", "svg")}
    tables = ("policies", "windows", "measures", "reasons", "definitions")
    names |= {"report.md", *(f"{name}.csv" for name in tables)}
    assert {path.name for path in small.iterdir()} == names
    policies, stored = rows_of(small / "policies.csv"), rows_of(small / "windows.csv")
    assert len(policies) == 2 * 4 * 10
    assert len(stored) == 2 * len(RATES) * len(WINDOWS) * 10
    report = (small / "report.md").read_text()
    cash = [
        float(r["mean_cash"]) for r in policies if (r["policy"], r["visits"]) == ("cycle", "10")
    ]
    assert f"(cycle) | {np.mean(cash):.2f}/N |" in report
    assert "Seeds: 3, 4." in report


def test_measures_are_of_all_pages(small: Path) -> None:
    for name in WINDOWS:
        rows = [row for row in rows_of(small / "measures.csv") if row["window"] == name]
        assert sum(int(row["pages"]) for row in rows) == 2 * 300
        if match := re.fullmatch(r"M = (\d+)", name):
            assert max(int(row["measures"]) for row in rows) == int(match[1])


@pytest.mark.slow
def test_equal_arguments_give_equal_files(small: Path, tmp_path: Path) -> None:
    run_lab(tmp_path / "again", nodes=300, seeds=(3, 4), processes=2)
    for path in small.iterdir():
        if path.name != "report.md":
            assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


@pytest.mark.slow
def test_a_figure_alone_is_the_one_of_several(small: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    run_lab(again, figures=(2, 5), nodes=300, seeds=(3, 4), processes=1)
    pictures = {f"figure-{number}.{form}" for number in (2, 5) for form in ("png", "svg")}
    assert pictures < {path.name for path in again.iterdir()}
    for name in (*pictures, "policies.csv", "measures.csv"):
        assert (again / name).read_bytes() == (small / name).read_bytes(), name
    steady = [row for row in rows_of(small / "windows.csv") if float(row["rate"]) == 0]
    assert rows_of(again / "windows.csv") == steady


def test_only_what_a_figure_needs_is_run(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    run_lab(tmp_path, figures=(5,), nodes=100, processes=1)
    assert {path.name for path in tmp_path.glob("*.png")} == {"figure-5.png"}
    assert {row["rate"] for row in rows_of(tmp_path / "windows.csv")} == {"0.0"}
    assert not (tmp_path / "policies.csv").exists()
    assert "## Claims" not in (tmp_path / "report.md").read_text()


def test_what_is_refused(tmp_path: Path) -> None:
    said = crawlrank("lab", "aopic", "--output", tmp_path / "out", "--figures", "2,7")
    assert (said.code, "2,3,4,5,6" in said.err) == (2, True)
    said = crawlrank("lab", "aopic", "--output", tmp_path / "out", "--poisson", "0")
    assert (said.code, "--poisson" in said.err) == (2, True)
    said = crawlrank("lab", "aopic", "--output", tmp_path / "out", "--work", tmp_path)
    assert (said.code, str(tmp_path) in said.err) == (3, True)
    for option, value in (("--nodes", 99), ("--exponent", 1.0)):
        said = crawlrank("lab", "aopic", "--output", tmp_path / "out", option, value)
        assert (said.code, option in said.err) == (2, True)
    with pytest.raises(BadInput, match="aopic-lab"):
        run_lab(tmp_path / "out", nodes=100, poisson=100.0)
    assert not (tmp_path / "out").exists()


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = crawlrank("lab", "aopic", "--output", tmp_path / "out")
    assert (said.code, "pip install 'matplotlib>=3.8'" in said.err) == (2, True)
    assert not (tmp_path / "out").exists()
