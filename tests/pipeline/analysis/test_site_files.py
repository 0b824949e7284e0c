"""The table of sites, its files and its pictures."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.crawls import crawlrank, ok
from support.runs import copy_of, finished, ranked, shared_warc

from crawlrank.pipeline.analysis.host_table import SITE_COLUMNS, read_sites
from crawlrank.pipeline.analysis.table_files import SITE_ENDINGS, write_table
from crawlrank.pipeline.engines.embedded.sites import SCHEMA
from crawlrank.pipeline.engines.embedded.sites import SITES as WRITTEN

#: b and c have one link from a each; d has those of b and c
WEB = {
    "http://a.example/": ["/x", "http://b.example/", "http://c.example/"],
    "http://a.example/x": ["/"],
    "http://b.example/": ["http://d.example/", "/y"],
    "http://b.example/y": ["http://d.example/z"],
    "http://c.example/": ["http://d.example/"],
}
FOURTH = 0.15 + 0.85 * 2 * (0.15 + 0.85 * 0.15 / 2)


@pytest.fixture(scope="module")
def work() -> Path:
    given = "--bins", 2, "--method", "site", "--nodes", "all"
    return finished(shared_warc("sites.warc.gz", WEB), *given)


def test_the_table_has_the_best_first(work: Path) -> None:
    rows = read_sites(work)
    assert rows.column_names == list(SITE_COLUMNS)
    assert rows["site"].to_pylist() == ["d.example", "b.example", "c.example", "a.example"]
    assert rows["position"].to_pylist() == [1, 2, 3, 4]
    assert rows["class"].to_pylist() == [1, 1, 2, 2]
    counts = [row["pages"] for row in rows.to_pylist()]
    assert (counts, rows["links_in"].to_pylist()) == ([2, 2, 1, 2], [3, 1, 1, 0])
    second = 0.15 + 0.85 * 0.15 / 2
    want = [FOURTH, second, second, 0.15]
    assert rows["score"].to_pylist() == pytest.approx(want, rel=1e-8)
    assert rows["share"].to_pylist() == pytest.approx(np.divide(want, sum(want)), rel=1e-8)


def test_ties_together_have_one_class(work: Path) -> None:
    """It is the class of the middle of positions 1 and 2 of 0 to 3, the upper half; by name, c was
    in 2."""
    together = ("--name", "together", "--method", "site", "--bins", 2, "--ties", "together")
    work = ranked(work, *together)
    assert read_sites(work / "rankings" / "together")["class"].to_pylist() == [1, 1, 1, 2]


def test_the_table_has_what_the_engine_wrote() -> None:
    assert WRITTEN == "sites.parquet"
    assert list(SITE_COLUMNS[2:]) == SCHEMA.names


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_files_hold_the_table(work: Path, tmp_path: Path, ending: str) -> None:
    output = tmp_path / "new" / f"sites.{ending}"
    ok("export", "--format", "sites", "--work", work, "--output", output)
    rows = read_sites(work).to_pylist()
    if ending == "parquet":
        assert pq.read_table(output).to_pylist() == rows
        return
    with output.open(newline="") as stream:
        lines = list(csv.reader(stream, delimiter="\t" if ending == "tsv" else ","))
    assert lines == [list(SITE_COLUMNS), *([str(value) for value in row.values()] for row in rows)]
    assert float(lines[1][-2]) == rows[0]["score"]


def table(names: Sequence[str]) -> pa.Table:
    numbers = np.arange(1, len(names) + 1)
    columns = dict.fromkeys(SITE_COLUMNS, numbers)
    columns |= {"site": pa.array(names), "score": 1 / numbers, "share": 1 / numbers}
    return pa.table(columns)


def test_no_name_is_a_formula_for_a_spreadsheet(tmp_path: Path) -> None:
    write_table(table(["=hyperlink", 'a"b', "plain"]), tmp_path / "s.csv", SITE_ENDINGS)
    with (tmp_path / "s.csv").open(newline="") as stream:
        names = [row["site"] for row in csv.DictReader(stream)]
    assert names == ["'=hyperlink", 'a"b', "plain"]


@pytest.mark.slow
def test_many_rows_have_one_head(tmp_path: Path) -> None:
    for ending in ("csv", "tsv"):
        write_table(table([f"s{i}" for i in range(40_000)]), tmp_path / f"s.{ending}", SITE_ENDINGS)
        lines = (tmp_path / f"s.{ending}").read_text().splitlines()
        assert len(lines) == 40_001
        assert lines.count(lines[0]) == 1


@pytest.mark.parametrize("name", ["sites", "sites.txt", "sites.csv.gz"])
def test_other_endings_are_refused(work: Path, tmp_path: Path, name: str) -> None:
    refused = crawlrank("export", "--format", "sites", "--work", work, "--output", tmp_path / name)
    assert refused.code == 2
    assert ".csv, .tsv or .parquet" in refused.err
    assert not (tmp_path / name).exists()


def test_a_ranking_of_pages_has_no_sites(work: Path, tmp_path: Path) -> None:
    work = ranked(work, "--method", "degree")
    asked = ("--work", work, "--ranking", "degree", "--output", tmp_path / "s.csv")
    refused = crawlrank("export", "--format", "sites", *asked)
    assert refused.code == 3
    assert "a ranking by indegree; expected a ranking of sites" in refused.err


def test_a_damaged_table_is_seen_and_made_again(work: Path, tmp_path: Path) -> None:
    hurt = "--name", "hurt", "--method", "site"
    work = copy_of(ranked(work, *hurt), tmp_path / "work")
    path = work / "rankings" / "hurt" / "ranks" / "sites.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    asked = ("--work", work, "--ranking", "hurt", "--output", tmp_path / "s.csv")
    refused = crawlrank("export", "--format", "sites", *asked)
    assert refused.code == 3
    assert "crawlrank rank" in refused.err
    ok("rank", "--work", work, *hurt, "--quiet")
    assert path.read_bytes() == whole


def test_the_command_shows_the_best_sites(work: Path, tmp_path: Path) -> None:
    work = copy_of(work, tmp_path / "work")
    shown = ok("rank", "--work", work, "--name", "shown", "--method", "site").out
    assert "best of 4 sites" in shown
    best = next(line.split() for line in shown.splitlines() if "d.example" in line)
    assert best[:4] == ["1", "d.example", "1", f"{FOURTH:#.6g}"]


def test_explain_names_the_site(work: Path, tmp_path: Path) -> None:
    shown = ok("explain", "--work", work, "http://b.example/y", "--json", tmp_path / "b.json")
    assert "b.example, whose pages share its score" in shown.out
    assert "incoming links" not in shown.out
    assert json.loads((tmp_path / "b.json").read_text())["site"] == "b.example"
