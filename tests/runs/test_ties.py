"""Ties by links: one order, whoever cuts classes by it, on every runner."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from support.crawls import ok
from support.node_columns import read_node_columns
from support.paths import LOOPBACK
from support.runs import finished

RUNNERS = ("embedded", "inline")  # local is inline here: the driver writes the file
BINS = 20


def run_of(runner: str, ties: str) -> Path:
    how = ("--iterations", 3, "--min-agreement", 0)
    return finished(LOOPBACK, *how, "--ties", ties, "--bins", BINS, "--runner", runner)


@pytest.fixture
def works() -> dict[str, Path]:
    return {runner: run_of(runner, "links") for runner in RUNNERS}


def lines(work: Path) -> dict[str, int]:
    rows = (line.rsplit(" ", 1) for line in (work / "precedence.txt").read_text().splitlines())
    return {uri: int(number) for uri, number in rows}


def nodes_by_class(work: Path) -> list[int]:
    summary = json.loads((work / "precedence.summary.json").read_text())
    return [entry["nodes"] for entry in summary["classes"]]


def test_the_same_bytes_and_others_than_by_key(works: dict[str, Path]) -> None:
    files = {name: (work / "precedence.txt").read_bytes() for name, work in works.items()}
    assert files["embedded"] == files["inline"]
    by_key = run_of("embedded", "key")
    assert (by_key / "precedence.txt").read_bytes() != files["embedded"]
    alone = [
        json.loads((work / "precedence.summary.json").read_text())["nodes_placed_by_key_alone"]
        for work in (works["embedded"], by_key)
    ]
    assert 0 < alone[0] < alone[1]


@pytest.mark.parametrize("runner", RUNNERS[:2])
def test_everybody_cuts_the_classes_of_the_file(
    runner: str, works: dict[str, Path], tmp_path: Path
) -> None:
    """The export for other crawlers, the pictures, the validation, and a comparison."""
    work, expected = works[runner], lines(works[runner])
    scores = work / "scores" / "scores.parquet" if runner == "embedded" else work / "scores"
    uris = work / "uris" / "uris.parquet" if runner == "embedded" else work / "uris"
    asked = ("--ties", "links", "--bins", BINS, "--format", "csv")
    ok("step", "export-precedence", scores, "--uris", uris, "--output", tmp_path / "p.csv", *asked)
    with (tmp_path / "p.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["position"] and row["url"] in expected]
    assert {row["url"]: int(row["class"]) for row in rows}.items() <= expected.items()
    shown = {row["url"] for row in rows}
    assert [row["url"] for row in rows] == [uri for uri in expected if uri in shown]
    assert len(rows) > 40

    pages = read_node_columns(work, tmp_path)
    counts = [int((pages.classes == number).sum()) for number in range(1, BINS + 1)]
    assert counts == nodes_by_class(work)
    report = json.loads((work / "report" / "report.json").read_text())
    assert [sum(row) for row in report["confusion"]] == counts
    ok("diff", work, work, "--json", tmp_path / "diff.json")
    classes = json.loads((tmp_path / "diff.json").read_text())["classes"]
    assert [row[number] for number, row in enumerate(classes)] == counts


def test_the_command_alone_validates_these_classes(works: dict[str, Path], tmp_path: Path) -> None:
    work = works["inline"]
    sources = ("--uris", work / "uris", "--map", work / "map", "--bins", BINS, "--ties", "links")
    output = ("--output", tmp_path / "report.json", "--min-agreement", 0)
    ok("step", "validate-opic", work / "graph", work / "ranks", *sources, *output)
    told, expected = (
        json.loads(path.read_text())
        for path in (tmp_path / "report.json", work / "report" / "report.json")
    )
    for name in ("confusion", "nodes_apart", "agreement_apart", "nodes_cut_over"):
        assert told[name] == expected[name]
