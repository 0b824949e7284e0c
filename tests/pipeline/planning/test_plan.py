"""`plan` on crawls of a made site that changes at known rates: files, report, bad input."""

from __future__ import annotations

import csv
import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from online.changing_site import ChangingSite, uri
from scipy import optimize, stats
from support.crawls import crawlrank, ok

Made = tuple[Path, dict[str, Any]]  # the folder, and the JSON
DAYS = [0.0, 5.0, 15.0, 30.0]
PAGES = 400
FORMS = ("csv", "jsonl", "parquet", "nutch")
BEGIN = "2026-02-01"  # 31 days after the first crawl


@pytest.fixture(scope="module")
def site() -> ChangingSite:
    return ChangingSite(PAGES, DAYS, seed=5)


@pytest.fixture(scope="module")
def works(site: ChangingSite, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("plan")
    made = []
    for crawl in range(len(DAYS)):
        made.append(folder / f"work{crawl}")
        ok("run", site.write(crawl, folder), "--work", made[-1], "--no-validate", "--quiet")
    return made


def options_of(works: list[Path]) -> list[object]:
    return [option for work in works for option in ("--work", work)]


def plan(
    works: list[Path], output: Path, *options: object, budget: str = "40/day"
) -> dict[str, Any]:
    said = ok(
        "plan", *options_of(works), "--budget", budget, "--from", BEGIN, "--output", output,
        "--json", "-", *options,
    )  # fmt: skip
    data: dict[str, Any] = json.loads(said.out)
    return data


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / "schedule.parquet").to_pylist()
    return rows


@pytest.fixture(scope="module")
def made(works: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made") / "plan"
    forms = [option for form in FORMS for option in ("--format", form)]
    return folder, plan(works, folder, "--due", "3d", *forms)


@pytest.mark.slow
def test_every_page_is_planned_and_the_budget_is_kept(made: Made) -> None:
    folder, data = made
    rows = rows_of(folder)
    assert {row["uri"] for row in rows} == {uri(page) for page in range(PAGES)}
    assert data["pages"]["planned"] == data["pages"]["visited_again"] == PAGES
    rates = [1 / row["interval_days"] for row in rows if row["interval_days"]]
    assert sum(rates) == pytest.approx(40)
    assert data["fetches"]["per_day"] == pytest.approx(40)
    assert data["fetches"]["pages_fetched"] == len(rates)
    fetches = sum(row["fetches"] for row in rows)
    assert 40 * 60 < fetches <= 40 * 90
    assert data["fetches"]["within_horizon"] == fetches


def test_pages_are_in_the_order_in_which_they_are_due(made: Made) -> None:
    rows = rows_of(made[0])
    due = [row["next_due"] for row in rows]
    known = [day for day in due if day]
    assert due == sorted(known) + [None] * (len(due) - len(known))
    assert min(known) >= datetime(2026, 2, 1)
    for row in rows:
        assert row["changes_low"] <= row["changes_per_day"] <= row["changes_high"]
        assert 0 <= row["freshness"] <= 1
        assert row["visits"] == len(DAYS)
        assert (row["interval_days"] is None) == (row["next_due"] is None)


def test_captures_that_two_folders_have_are_visits_once(
    works: list[Path], made: Made, tmp_path: Path
) -> None:
    plan([*works, works[-1]], tmp_path / "plan", "--format", "parquet")
    visits = {row["uri"]: row["visits"] for row in rows_of(tmp_path / "plan")}
    assert visits == {row["uri"]: row["visits"] for row in rows_of(made[0])}


def test_a_time_that_no_date_has_is_refused(works: list[Path], tmp_path: Path) -> None:
    late = "9999-12-31T23:59-05:00"
    said = crawlrank(
        "plan", *works, "--budget", "5/day", "--from", late, "--output", tmp_path / "p"
    )
    assert (said.code, f"'{late}' is no date" in said.err) == (2, True), said


def test_forms_have_the_same_rows(made: Made) -> None:
    folder, _ = made
    rows = rows_of(folder)
    lines = [json.loads(line) for line in (folder / "schedule.jsonl").read_text().splitlines()]
    with (folder / "schedule.csv").open() as stream:
        cells = list(csv.DictReader(stream))
    assert [line.keys() for line in lines] == [row.keys() for row in rows]
    for row, line, cell in zip(rows, lines, cells, strict=True):
        due = row["next_due"]
        shown = due and due.strftime("%Y-%m-%dT%H:%M:%SZ")
        assert line["next_due"] == shown
        assert cell["next_due"] == (shown or "")
        for name in ("uri", "key", "class", "fetches", "value", "changes_per_day"):
            assert line[name] == row[name]
            assert cell[name] == str(row[name])
    nutch = [
        (file.stem, *line.split("\t"))
        for file in sorted((folder / "schedule.nutch").iterdir())
        for line in file.read_text().splitlines()
    ]
    assert nutch == [
        (
            row["next_due"].strftime("%Y-%m-%d") if row["next_due"] else "later",
            row["uri"],
            f"nutch.score={row['value']:.9g}",
            f"nutch.fetchInterval={round(row['interval_days'] * 86400)}",
        )
        for row in rows if row["interval_days"]
    ]  # fmt: skip
    assert len({day for day, *_ in nutch}) > 2


def urgency_of(row: dict[str, Any]) -> float:
    """Value times the probability that the page has changed, if its rate has the gamma distribution
    of the mean and the interval in the row."""
    mean, low, high = (row[f"changes_{name}"] for name in ("per_day", "low", "high"))

    def excess(shape: float) -> float:
        begin, end = stats.gamma(shape).ppf([0.025, 0.975])
        return float(np.log(end / begin) - np.log(high / low))

    shape = optimize.brentq(excess, 0.05, 1e4)
    unchanged = (1 + mean * age_of(row["last_visit"]) / shape) ** -shape
    return float(row["value"] * (1 - unchanged))


def test_what_is_due_is_a_precedence_file_most_urgent_first(
    made: Made,
) -> None:
    folder, data = made
    file = folder / "precedence.txt"
    lines = dict(line.split() for line in file.read_text().splitlines())
    rows = {row["uri"]: row for row in rows_of(folder)}
    due = {
        name for name, row in rows.items()
        if row["fetches"] and row["next_due"] < datetime(2026, 2, 4)
    }  # fmt: skip
    assert lines.keys() == due
    assert 0 < len(due) == data["fetches"]["due"] <= 40 * 3
    urgency = np.array([urgency_of(rows[name]) for name in lines])
    assert (urgency[1:] <= urgency[:-1] * 1.02).all()
    assert urgency[0] > 2 * urgency[-1]
    ok("audit", file)
    assert (folder / "crawler-beans-fragment.xml").is_file()


def age_of(visit: datetime) -> float:
    return (datetime(2026, 2, 1) - visit).total_seconds() / 86400


@pytest.mark.slow
def test_one_run_of_all_archives_gives_the_same_rates(
    works: list[Path], made: Made, tmp_path: Path
) -> None:
    archives = sorted(works[0].parent.glob("*.warc.gz"))
    ok("run", *archives, "--work", tmp_path / "work", "--no-validate", "--quiet")
    plan([tmp_path / "work"], tmp_path / "plan", "--format", "parquet")
    rates = {row["uri"]: row["visits"] for row in rows_of(tmp_path / "plan")}
    assert rates == {row["uri"]: row["visits"] for row in rows_of(made[0])}
    once, often = (
        {row["uri"]: row["changes_per_day"] for row in rows_of(folder)}
        for folder in (made[0], tmp_path / "plan")
    )
    logs = np.log([[once[name], often[name]] for name in once])  # classes differ a little
    assert np.abs(logs[:, 0] - logs[:, 1]).mean() < 0.05


def test_the_plan_keeps_more_value_fresh_than_others(made: Made) -> None:
    plans, replay = made[1]["plans"], made[1]["replay"]
    best = plans["plan"]["of_value"]
    assert all(best > entry["of_value"] for name, entry in plans.items() if name != "plan")
    assert replay["pages"] == PAGES
    caught = replay["of_value"]
    assert all(caught["plan"] > share for name, share in caught.items() if name != "plan")


def test_the_share_of_time_in_which_copies_are_fresh_is_that_of_simulated_changes(
    made: Made, site: ChangingSite
) -> None:
    """By the true rates, the plan is not as good as it says itself, and better than others."""
    rates = {uri(page): rate for page, rate in enumerate(site.rates)}
    rows = rows_of(made[0])
    values = np.array([row["value"] for row in rows])
    fetches = np.array([1 / (row["interval_days"] or np.inf) for row in rows])
    draw = np.random.default_rng(3)

    def fresh(often: np.ndarray) -> float:
        share = np.zeros(len(rows))
        for number, row in enumerate(rows):
            if often[number]:
                changes = draw.exponential(1 / rates[row["uri"]], 200)
                share[number] = np.minimum(changes * often[number], 1).mean()
        return float(np.average(share, weights=values))

    assert fresh(fetches) == pytest.approx(made[1]["plans"]["plan"]["of_value"], abs=0.05)
    assert fresh(fetches) > fresh(np.full(len(rows), 40 / len(rows))) + 0.02


def test_one_crawl_alone_has_default_rates_and_says_so(works: list[Path], tmp_path: Path) -> None:
    said = ok(
        "plan", "--work", works[0], "--budget", "40/day", "--from", BEGIN, "--format", "parquet",
        "--output", tmp_path / "plan",
    ).out  # fmt: skip
    assert "No page was visited twice" in said
    assert "changes caught" not in said
    rates = {row["changes_per_day"] for row in rows_of(tmp_path / "plan")}
    assert len(rates) == 1


def test_no_budget_and_more_than_is_needed(works: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    plan(works[:2], folder)
    assert (folder / "precedence.txt").exists()
    data = plan(works[:2], folder, "--format", "parquet", budget="0/day")
    assert data["fetches"] == {
        "per_day": 0, "pages_fetched": 0, "pages_never_fetched": PAGES, "within_horizon": 0,
        "pages_within_horizon": 0, "waiting_days": 0, "due": 0,
    }  # fmt: skip
    assert {path.name for path in folder.iterdir()} == {"schedule.parquet"}
    assert all(row["next_due"] is None for row in rows_of(folder))
    data = plan(
        works[:2], folder, "--format", "parquet", "--shortest-interval", "2d", budget="1000000/day"
    )
    assert data["fetches"]["per_day"] == PAGES / 2
    assert {row["interval_days"] for row in rows_of(folder)} == {2}


@pytest.mark.few(1)
@pytest.mark.parametrize("objective", ["random", "harmonic"])
def test_objectives(objective: str, works: list[Path], tmp_path: Path) -> None:
    data = plan(works, tmp_path, "--objective", objective, "--format", "parquet")
    assert data["fetches"]["per_day"] == pytest.approx(40)
    never = sum(row["interval_days"] is None for row in rows_of(tmp_path))
    assert (never == 0) == (objective == "harmonic")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "40"], "no budget such as 5000/day"),
        (["--budget", "-1/day"], "no budget"),
        (["--budget", "nan/day"], "no budget"),
        (["--budget", "1e400/day"], "no budget"),
        (["--budget", "1/day", "--horizon", "90"], "no duration such as 90d"),
        (["--budget", "1/day", "--horizon", "0d"], "no duration"),
        (["--budget", "1/day", "--due", "9d", "--horizon", "5d"], "longer than --horizon"),
        (["--budget", "1/day", "--from", "tomorrow"], "no date such as 2026-11-24"),
        (["--budget", "1/day", "--ranking", "none"], "no ranking none"),
    ],
)
def test_wrong_options(options: list[str], message: str, works: list[Path], tmp_path: Path) -> None:
    said = crawlrank("plan", "--work", works[0], "--output", tmp_path / "plan", *options)
    assert said.code in (2, 3)
    assert message in said.err


def test_a_plan_before_all_captures_and_a_folder_that_is_a_file(
    works: list[Path], tmp_path: Path
) -> None:
    options = ("--work", works[0], "--budget", "1/day")
    said = crawlrank("plan", *options, "--from", "2020-01-01", "--output", tmp_path / "plan")
    assert said.code == 3
    assert "no page was captured" in said.err
    (tmp_path / "file").write_text("")
    said = crawlrank("plan", *options, "--output", tmp_path / "file")
    assert said.code == 3
    assert "a file" in said.err


def test_a_damaged_dataset_of_a_run_is_told(works: list[Path], tmp_path: Path) -> None:
    work = tmp_path / "work"
    shutil.copytree(works[0], work)
    file = next((work / "captures").glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-30])
    said = crawlrank("plan", "--work", work, "--budget", "1/day", "--output", tmp_path / "plan")
    assert said.code == 3
    assert "captures" in said.err


def test_defaults_are_shown_as_they_are_written() -> None:
    said = " ".join(ok("plan", "--help").out.split())
    for shown in ("[default: 90d]", "[default: 1d]", "[default: 1h]"):
        assert shown in said


def test_folders_that_no_plan_can_be_made_of(
    site: ChangingSite, works: list[Path], tmp_path: Path
) -> None:
    options = ("--budget", "1/day", "--output", tmp_path / "plan")
    archive, other = site.write(1, tmp_path), tmp_path / "other"
    ok("run", archive, "--work", other, "--no-validate", "--quiet", "--keep-www")
    said = crawlrank("plan", works[0], other, *options)
    assert (said.code, "keys of another kind" in said.err) == (3, True)
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,a\n")
    ok("run", tmp_path / "edges.csv", "--work", tmp_path / "graph", "--no-validate", "--quiet")
    said = crawlrank("plan", tmp_path / "graph", *options)
    assert (said.code, "without the URIs of pages" in said.err) == (3, True)
