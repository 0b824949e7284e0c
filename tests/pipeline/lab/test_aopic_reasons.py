"""The reasons of the laboratory against made-up rows, and its experiments on small webs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from support.crawls import crawlrank, ok

from crawlrank.pipeline.lab.experiments import (
    BUFFERS,
    CRAWLS,
    LONG,
    MEANS,
    SHORT,
    WINDOWS,
    LabGraphs,
    ReasonRow,
    compare_incomes,
    compare_orders,
    compare_partitions,
)
from crawlrank.pipeline.lab.report import reasons

GOOD_CASH, GOOD_ERRORS = (2.4, 2.2, 2.1, 2.02), (6.0, 7.0, 8.0, 9.0)


def of_incomes(cash: tuple[float, ...], errors: tuple[float, ...]) -> list[ReasonRow]:
    """errors: of greedy; cycle has 10."""
    rows = list[ReasonRow]()
    for mean, value, error in zip(MEANS, cash, errors, strict=True):
        for seed, apart in ((1, -0.01), (2, 0.01)):
            rows.append(ReasonRow(seed, "income", mean, "mean cash, greedy", value + apart))
            rows.append(ReasonRow(seed, "income", mean, "greedy", error + apart))
            rows.append(ReasonRow(seed, "income", mean, "cycle", 10.0))
    return rows


def of_orders(long: dict[str, float], short: float, random: float) -> list[ReasonRow]:
    """long: errors by greedy after LONG, 1 unless named; short: all after SHORT; random: M = 4."""
    rows = list[ReasonRow]()
    for name in WINDOWS:
        rows.append(ReasonRow(1, "greedy", SHORT, name, short))
        rows.append(ReasonRow(1, "greedy", LONG, name, long.get(name, 1.0)))
        error = random if name == "M = 4" else 5.0
        rows.append(ReasonRow(1, "random", LONG, name, error))
    return rows


@pytest.mark.parametrize(
    ("cash", "errors", "verdicts"),
    [
        (GOOD_CASH, GOOD_ERRORS, [True, True]),
        ((2.4, 2.2, 2.3, 2.02), GOOD_ERRORS, [False, True]),
        ((2.4, 2.3, 2.2, 2.15), GOOD_ERRORS, [False, True]),
        (GOOD_CASH, (6.0, 5.0, 8.0, 9.0), [True, False]),
        (GOOD_CASH, (4.0, 5.0, 6.0, 7.0), [True, False]),
    ],
)
def test_reasons_from_incomes(
    cash: tuple[float, ...], errors: tuple[float, ...], verdicts: list[bool]
) -> None:
    rows = reasons(of_incomes(cash, errors))
    assert [row.holds for row in rows] == verdicts
    assert f"100 links: {cash[-1]:.2f}/N" in rows[0].measured


LONG_ERRORS = {"M = 4": 2.0, "M = 8": 1.5, "M = 16": 1.1}


@pytest.mark.parametrize(
    ("long", "short", "random", "verdicts"),
    [
        (LONG_ERRORS, 20.0, 12.0, [True, True, True, True]),
        (LONG_ERRORS, 20.0, 9.9, [False, True, True, True]),
        (LONG_ERRORS, 9.9, 12.0, [True, True, False, True]),
        ({**LONG_ERRORS, "M = 16": 1.6}, 20.0, 12.0, [True, False, True, False]),
        ({**LONG_ERRORS, "interpolation, T = 32": 1.6}, 20.0, 12.0, [True, True, True, False]),
    ],
)
def test_reasons_from_orders(
    long: dict[str, float], short: float, random: float, verdicts: list[bool]
) -> None:
    assert [row.holds for row in reasons(of_orders(long, short, random))] == verdicts


def test_without_rows_there_are_no_reasons() -> None:
    assert reasons([]) == []


def test_income_in_smaller_parts_is_read_at_smaller_cash() -> None:
    rows = compare_incomes(LabGraphs(1000), 1)
    cash = {(row.case, row.quantity): row.value for row in rows if "cash" in row.quantity}
    assert len(rows) == 4 * len(MEANS)
    assert cash[MEANS[0], "mean cash, greedy"] > cash[MEANS[-1], "mean cash, greedy"] > 1.9
    assert all(cash[mean, "mean cash, cycle"] == pytest.approx(2, rel=0.05) for mean in MEANS)


def test_orders_measure_every_window() -> None:
    rows = compare_orders(LabGraphs(400), 1)
    cases = {(row.experiment, row.case, row.quantity) for row in rows}
    orders = ("greedy", "random")
    assert cases == {(o, case, name) for o in orders for case in (SHORT, LONG) for name in WINDOWS}
    assert rows == compare_orders(LabGraphs(400), 1)


@pytest.mark.slow
def test_partitions_reach_the_same_importance_with_fewer_messages() -> None:
    """One machine sends nothing; larger buffers need fewer messages for the same links."""
    rows = compare_partitions(LabGraphs(1000), 1, 3)
    last = [row for row in rows if row.sweep == CRAWLS]
    assert [(row.machines, row.buffer) for row in last] == [(1, 1), *((3, b) for b in BUFFERS)]
    assert all(row.error < 0.1 for row in last)
    assert (last[0].messages, last[0].crossing) == (0, 0)
    messages = [row.messages for row in last[1:]]
    assert messages == sorted(messages, reverse=True)
    assert len({row.crossing for row in last[1:]}) == 1
    assert last[1].transfers == last[1].crossing
    assert messages[-1] == 3 * 2


@pytest.mark.slow
def test_a_run_with_partitions(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    output = tmp_path / "out"
    arguments = ("--nodes", 200, "--poisson", 3, "--figures", "2", "--partitions", 2)
    ok("lab", "aopic", "--output", output, *arguments)
    with (output / "partitions.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == (1 + len(BUFFERS)) * CRAWLS
    report = (output / "report.md").read_text()
    last = next(row for row in rows if (row["machines"], row["sweep"]) == ("2", "10"))
    assert f"| 2 | 1 | {int(last['messages']):,} | " in report
    assert "indegrees follow Poisson's law of mean 3" in report


@pytest.mark.parametrize("machines", [0, 129])
def test_partitions_that_are_refused(machines: int, tmp_path: Path) -> None:
    said = crawlrank("lab", "aopic", "--output", tmp_path / "out", "--partitions", machines)
    assert (said.code, "--partitions" in said.err) == (2, True)
