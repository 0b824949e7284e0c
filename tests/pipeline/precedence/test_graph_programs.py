"""Graphs in a real Gephi and a real WebGraph: both open what crawlrank writes, and crawlrank ranks
what they write."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_programs import WEBGRAPH, arcs_of_bvgraph, through_gephi, write_bvgraph_of_arcs
from graph_programs.features import PAGE, TABLE, outcome, table
from graph_programs.sample import Sample
from support.crawls import ok
from support.graphs import web_like
from support.paths import LOOPBACK
from support.runs import finished, shared_warc

import crawlrank

pytestmark = pytest.mark.programs

ODD = {
    "http://a.example.org/?a=1&b=<2>'": ["/'\"", "http://b.example.org/?q=%22%00"],
    "http://a.example.org/'\"": ["http://b.example.org/?q=%22%00", "/alone"],
    "http://b.example.org/?q=%22%00": ["http://a.example.org/?a=1&b=<2>'", "http://c.example/"],
}


@pytest.fixture(params=["odd", "loopback"])
def crawl(request: pytest.FixtureRequest) -> Path:
    archive = LOOPBACK if request.param == "loopback" else shared_warc("odd.warc.gz", ODD)
    return finished(archive, "--no-validate")


def same(text: str, value: Any) -> bool:
    """Whether Gephi shows a value, numbers in digits of Java's."""
    return text == str(value) if isinstance(value, str) else float(text) == value


def scores(work: Path) -> dict[str, float]:
    """Of the pages with a score, by key."""
    table = crawlrank.open(work).scores()
    rows = zip(table["key"].to_pylist(), table["score"].to_pylist(), strict=True)
    return {key: score for key, score in rows if score}


@pytest.mark.parametrize("form", ["graphml", "gexf"])
def test_gephi_opens_pages_attributes_and_links(form: str, crawl: Path, tmp_path: Path) -> None:
    path = tmp_path / f"graph.{form}"
    ok("export", crawl, "--output", path)
    opened, work = through_gephi(path), crawlrank.open(crawl)
    rows = map(json.loads, ok("export", crawl, "--format", "jsonl").out.splitlines())
    pages = {row["url"]: row for row in rows if row["position"]}
    assert (opened.is_directed, opened.notes) == (True, [])
    assert {node["url"] for node in opened.nodes.values()} == pages.keys()
    for name, node in opened.nodes.items():
        row = {column: value for column, value in pages[node["url"]].items() if value is not None}
        assert node.pop("label") == (row["url"] if form == "gexf" else name)
        assert node.keys() == row.keys()
        assert [column for column in row if not same(node[column], row[column])] == []
    urls = {row["key"]: url for url, row in pages.items()}
    keys = work.keys()["key"].to_pylist()
    links = zip(*(ids.tolist() for ids in work.edges()), strict=True)
    wanted = [(urls.get(keys[source]), urls.get(keys[target])) for source, target in links]
    seen = [
        (opened.nodes[s]["url"], opened.nodes[t]["url"], weight) for s, t, weight in opened.edges
    ]
    assert sorted(seen) == sorted((s, t, 1.0) for s, t in wanted if s and t)


def test_gephi_opens_hosts_with_weights(tmp_path: Path) -> None:
    crawl, path, listed = finished(LOOPBACK), tmp_path / "hosts.gexf", tmp_path / "hosts.tsv"
    ok("export", crawl, "--by", "host", "--output", path)
    ok("export", crawl, "--by", "host", "--format", "edges", "--output", listed)
    opened = through_gephi(path)
    assert opened.notes == []
    hosts = {name: node["host"] for name, node in opened.nodes.items()}
    assert all(node["label"] == node["host"] for node in opened.nodes.values())
    rows = csv.reader(listed.read_text().splitlines(), delimiter="\t")
    wanted = {(source, target): float(weight) for source, target, weight in rows}
    assert {(hosts[s], hosts[t]): weight for s, t, weight in opened.edges} == wanted


@pytest.mark.parametrize("form", ["graphml", "gexf"])
def test_what_gephi_writes_is_ranked_alike(form: str, crawl: Path, tmp_path: Path) -> None:
    path, copy = tmp_path / "graph.gexf", tmp_path / f"copy.{form}"
    ok("export", crawl, "--output", path)
    through_gephi(path, copy)
    ok("run", copy, "--work", tmp_path / "back", "--no-validate", "--quiet")
    assert scores(tmp_path / "back") == pytest.approx(scores(crawl), rel=1e-8)


def test_webgraph_reads_the_links(crawl: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.graph"
    ok("export", crawl, "--output", path)
    edges = tmp_path / "own.tsv"
    ok("export", crawl, "--format", "edges", "--output", edges)
    with (tmp_path / "own.nodes.csv").open(newline="") as lines:
        urls = [row["url"] for row in csv.DictReader(lines)]
    arcs = arcs_of_bvgraph(tmp_path / "own", tmp_path)
    assert arcs == sorted(arcs)
    lines_of_arcs = sorted(f"{urls[source]}\t{urls[target]}" for source, target in arcs)
    assert lines_of_arcs == sorted(edges.read_text().splitlines())


def test_what_webgraph_writes_is_ranked_alike(tmp_path: Path) -> None:
    """Lists that copy from each other, intervals, gaps of all lengths."""
    graph = web_like(20_000, seed=3)
    near = np.arange(100_000) // 10  # so that lists are alike, and have intervals
    sources = np.concatenate([np.repeat(np.arange(graph.nodes), graph.outdegrees), near])
    targets = np.concatenate([graph.targets, near // 7 * 7 + np.arange(100_000) % 10 + 1])
    pairs = zip(sources.tolist(), targets.tolist(), strict=True)
    arcs = sorted({(source, target) for source, target in pairs if source != target})
    write_bvgraph_of_arcs(arcs, tmp_path / "made")
    properties = (tmp_path / "made.properties").read_text()
    assert "copiedarcs=0" not in properties and "intervalisedarcs=0" not in properties
    assert arcs_of_bvgraph(tmp_path / "made", tmp_path) == arcs
    read = crawlrank.pagerank(tmp_path / "made.graph")
    given = crawlrank.pagerank(tuple(np.array(arcs).T))
    assert read.scores.tolist() == given.scores.tolist()
    # and what crawlrank writes of it, WebGraph transforms to its own smaller files
    ok("run", tmp_path / "made.graph", "--work", tmp_path / "work", "--no-validate", "--quiet")
    ok("export", tmp_path / "work", "--output", tmp_path / "own.graph")
    WEBGRAPH.run("it.unimi.dsi.webgraph.BVGraph", tmp_path / "own", tmp_path / "small")
    assert (tmp_path / "small.graph").stat().st_size < (tmp_path / "own.graph").stat().st_size
    again = crawlrank.pagerank(tmp_path / "small.graph")
    assert sorted(again.scores) == pytest.approx(sorted(given.scores), rel=1e-8)


def test_programs_do_what_the_table_says(tmp_path: Path) -> None:
    """But for cc-webgraph, which is no artifact of Maven, and what is read in sources."""
    found = TABLE.search(PAGE.read_text())
    assert found is not None
    said, sample = found.group().splitlines(), Sample(tmp_path, tmp_path / "none.jar")

    def does(feature: str, name: str) -> bool:
        if name in ("crawlrank", "networkx", "igraph", "Gephi") and "BVGraph" not in feature:
            return outcome(sample, feature, name)
        column = [cell.strip() for cell in said[0].split("|")].index(name)
        (row,) = (line for line in said if line.startswith(f"| {feature} |"))
        return row.split("|")[column].strip() == "yes"

    assert table(does).splitlines() == said
