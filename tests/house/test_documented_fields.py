"""Columns of tables and fields of JSON documents are those that the pages of docs/ name.

Each command is run on sample data. Its output is the list that the page is compared with.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.crawls import ok
from support.paths import LOOPBACK, ROOT, SAMPLES
from support.runs import finished, ranked

URI = "http://127.0.0.3:18083/p1.html"
RECRAWL = SAMPLES / "recrawl"
#: fields whose own keys are data: statuses, reasons, options, counters, names of tables
DATA = {
    *("by_status", "by_type", "by_kind", "by_hop", "by_source", "by_reason", "documents"),
    *("dropped", "skipped", "examples", "options", "counters", "rows", "problems", "configured"),
    *("tried_by_status", "spelled", "by_depth", "by_host", "rounds", "left_out", "not_used"),
    *("unlisted", "rejected_by_reason", "rejected_examples"),
}
#: what every document has
ENVELOPE = {"schema", "version"}


def section(page: str, begin: str) -> str:
    """The text of a page from `begin` to its next heading."""
    text = (ROOT / "docs" / page).read_text()
    assert text.count(begin) == 1, (page, begin)
    return re.split(r"\n#+ ", text.partition(begin)[2])[0]


def fields(value: Any) -> Iterator[str]:
    """All keys of a document, but those that are data."""
    if isinstance(value, list):
        for each in value:
            yield from fields(each)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in DATA:
                yield from fields(inner)


def undocumented(document: Any, text: str) -> list[str]:
    named = set(re.findall(r"\w+", " ".join(re.findall("`([^`]+)`", text))))
    return sorted({*fields(document)} - named - ENVELOPE)


def asked(*command: object) -> Any:
    return json.loads(ok(*command, "--json", "-").out)


def test_fields_of_diff() -> None:
    document = asked("diff", finished(LOOPBACK), finished(LOOPBACK, "--nodes", "all"))
    assert undocumented(document, section("compare.md", 'crawlrank-diff-1"`')) == []


def test_fields_of_explain() -> None:
    document = asked("explain", URI, "--work", finished(LOOPBACK, "--titles", "--anchor-text"))
    assert undocumented(document, section("compare.md", 'crawlrank-explain-1"`')) == []


def test_fields_of_inspect() -> None:
    document = asked("inspect", LOOPBACK, SAMPLES / "damaged" / "truncated.warc")
    assert undocumented(document, section("inspect.md", "## JSON")) == []


def test_fields_of_status() -> None:
    document = asked("status", "--work", finished(LOOPBACK))
    assert undocumented(document, section("output.md", "### As JSON")) == []


def test_fields_of_audits() -> None:
    document = asked("audit-precedence", RECRAWL / "precedence.txt", RECRAWL / "crawl.log")
    assert undocumented(document, section("audit.md", "crawlrank-audit-precedence-1`")) == []


def test_fields_of_agree() -> None:
    document = asked("agree", ranked(finished(LOOPBACK), "--method", "degree"))
    assert undocumented(document, section("agree.md", "crawlrank-agree-1`")) == []


def test_fields_of_hosts() -> None:
    document = asked("hosts", "--work", finished(LOOPBACK))
    assert undocumented(document, section("hosts.md", "## The columns")) == []


def test_fields_of_the_summary() -> None:
    document = json.loads((finished(LOOPBACK) / "precedence.summary.json").read_text())
    text = section("formats.md", "### The summary of a precedence file")
    assert undocumented(document, text) == []


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan from two crawls, with its JSON."""
    folder = tmp_path_factory.mktemp("plan")
    crawls = sorted((SAMPLES / "several-crawls").glob("crawl-[12].warc.gz"))
    works = [word for crawl in crawls for word in ("--work", finished(crawl, "--validators"))]
    outputs = ("--output", folder / "plan", "--json", folder / "plan.json")
    ok("plan", *works, "--budget", "20/day", "--from", "2026-03-10", *outputs)
    return folder


@pytest.mark.slow
def test_fields_of_plans(plan: Path) -> None:
    document = json.loads((plan / "plan.json").read_text())
    assert undocumented(document, section("plan.md", "schema `crawlrank-plan/1`:")) == []


def first_column(text: str) -> list[str]:
    """The names in the first column of the first table of a text."""
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return [name for row in rows for name in re.findall("`([^`]+)`", row)]


def header(path: Path) -> list[str]:
    with path.open(newline="") as file:
        return next(csv.reader(file))


def test_columns_of_lists_of_pages(tmp_path: Path) -> None:
    work, output = finished(LOOPBACK, "--titles"), tmp_path / "pages.csv"
    ok("export", work, "--output", output, "--replay", "https://archive.example/")
    text = section("take.md", "## CSV, JSON lines and Parquet")
    assert sorted(first_column(text)) == sorted(header(output))


def test_columns_of_hosts(tmp_path: Path) -> None:
    output = tmp_path / "hosts.csv"
    ok("hosts", "--work", finished(LOOPBACK), "--output", output)
    names = [name for name in header(output) if not re.fullmatch(r"class_[3-9]", name)]
    assert sorted(first_column(section("hosts.md", "## The columns"))) == sorted(names)


def test_columns_of_sites(tmp_path: Path) -> None:
    output = tmp_path / "sites.csv"
    work = ranked(finished(LOOPBACK), "--method", "site")
    ok("export-sites", "--work", work, "--ranking", "site", "--output", output)
    assert first_column(section("site.md", "## The table of sites")) == header(output)


@pytest.mark.slow
def test_columns_of_the_schedule(plan: Path) -> None:
    text = section("plan.md", "| column of the schedule |").partition("\n\n")[0]
    assert {*header(plan / "plan" / "schedule.csv")} == {*re.findall(r"`(\w+)`", text)}


@pytest.mark.parametrize("text", ["", "`a`, `run.b`"])
def test_a_field_that_no_page_names_is_seen(text: str) -> None:
    document = {"a": [{"b": 1, "by_hop": {"L": 2}}], "c": None}
    expected = ["a", "b", "by_hop", "c"] if not text else ["by_hop", "c"]
    assert undocumented(document, text) == expected
