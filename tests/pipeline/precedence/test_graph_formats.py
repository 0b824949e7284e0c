"""Graphs of rankings as other programs read them: networkx, igraph, scipy, pyarrow."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io import mmread
from support.crawls import INLINE, crawlrank, ok
from support.paths import LOOPBACK
from support.runs import finished, ranked, shared_warc

import crawlrank as crawlrank_of_python
from crawlrank.pipeline.precedence import graph_formats
from crawlrank.pipeline.precedence.graph_formats import GRAPHS, ExportedGraph, adjacency

ODD = {
    "http://a.example.org/?a=1&b=<2>'": ["/'\"", "http://b.example.org/?q=%22%00"],
    "http://a.example.org/'\"": ["http://b.example.org/?q=%22%00", "/alone"],
    "http://b.example.org/?q=%22%00": ["http://a.example.org/?a=1&b=<2>'", "http://c.example/"],
}


@cache
def crawl(name: str) -> Path:
    return finished(LOOPBACK if name == "loopback" else shared_warc("odd.warc.gz", ODD))


def listed(work: Path, *options: object) -> list[dict[str, Any]]:
    """The pages with a score in the order of their keys, by the list of pages."""
    lines = ok("export", work, "--format", "jsonl", *options).out.splitlines()
    rows = [row for row in map(json.loads, lines) if row["position"]]
    ids = {key: number for number, key in enumerate(opened_keys(work))}
    return sorted(rows, key=lambda row: ids[row["key"]])


def opened_keys(work: Path) -> list[str]:
    keys: list[str] = crawlrank_of_python.open(work).keys()["key"].to_pylist()
    return keys


def links_of(work: Path, rows: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """The links between these pages, by URI."""
    keys, urls = opened_keys(work), {row["key"]: row["url"] for row in rows}
    edges = zip(*(ids.tolist() for ids in crawlrank_of_python.open(work).edges()), strict=True)
    pairs = ((urls.get(keys[source]), urls.get(keys[target])) for source, target in edges)
    return {(source, target) for source, target in pairs if source and target}


def exported(work: Path, form: str, folder: Path, *options: object) -> Path:
    ending = "parquet" if form == "adjacency-parquet" else form
    path = folder / f"graph.{ending}"
    ok("export", work, "--format", form, "--output", path, *options)
    return path


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["odd", "loopback"])
@pytest.mark.parametrize("form", ["graphml", "gexf"])
def test_networkx_reads_nodes_attributes_and_links(form: str, name: str, tmp_path: Path) -> None:
    work = crawl(name)
    path, rows = exported(work, form, tmp_path), listed(work)
    web = nx.read_graphml(path) if form == "graphml" else nx.read_gexf(path)
    assert web.is_directed() and len(web) == len(rows)
    for (_, data), row in zip(web.nodes(data=True), rows, strict=True):
        assert data.pop("label", row["url"]) == row["url"]
        assert data == {name: value for name, value in row.items() if value is not None}
    urls = nx.get_node_attributes(web, "url")
    edges = [(urls[source], urls[target]) for source, target in web.edges]
    assert Counter(edges) == Counter(links_of(work, rows))


@pytest.mark.slow
def test_igraph_reads_graphml(tmp_path: Path) -> None:
    work = crawl("odd")
    rows = listed(work)
    web = igraph.Graph.Read_GraphML(str(exported(work, "graphml", tmp_path)))
    assert web.vs["url"] == [row["url"] for row in rows]
    assert web.vs["score"] == [row["score"] for row in rows]
    edges = {(web.vs[edge.source]["url"], web.vs[edge.target]["url"]) for edge in web.es}
    assert edges == links_of(work, rows)


@pytest.mark.slow
def test_scipy_reads_the_matrix(tmp_path: Path) -> None:
    work, rows = crawl("loopback"), listed(crawl("loopback"))
    matrix = mmread(exported(work, "mtx", tmp_path))
    with (tmp_path / "graph.nodes.csv").open(newline="") as file:
        nodes = [row["url"] for row in csv.DictReader(file)]
    assert nodes == [row["url"] for row in rows]
    pairs = {(nodes[i], nodes[j]) for i, j in zip(matrix.row, matrix.col, strict=True)}
    assert pairs == links_of(work, rows)
    scores = crawlrank_of_python.pagerank(matrix).scores
    assert scores == pytest.approx([row["score"] for row in rows], rel=1e-8)


@pytest.mark.slow
def test_edges_by_uri(tmp_path: Path) -> None:
    work, rows = crawl("loopback"), listed(crawl("loopback"))
    path = tmp_path / "links.tsv.gz"
    ok("export", work, "--format", "edges", "--output", path)
    web = nx.read_edgelist(path, delimiter="\t", create_using=nx.DiGraph, comments=None)
    assert set(web.edges) == links_of(work, rows)
    assert gzip.decompress(path.read_bytes()).count(b"\n") == web.number_of_edges()


@pytest.mark.slow
def test_adjacency(tmp_path: Path) -> None:
    work, rows = crawl("loopback"), listed(crawl("loopback"))
    table = pq.read_table(exported(work, "adjacency-parquet", tmp_path))
    assert table["id"].to_pylist() == list(range(len(rows)))
    assert table.drop_columns(["id", "links"]).to_pylist() == rows
    urls, lists = table["url"].to_pylist(), table["links"].to_pylist()
    assert all(links == sorted(links) for links in lists)
    pairs = {(url, urls[to]) for url, links in zip(urls, lists, strict=True) for to in links}
    assert pairs == links_of(work, rows)


@pytest.mark.parametrize("budget", [1 << 30, 1])
@pytest.mark.parametrize("links", [1 << 20, 3, 1])
def test_adjacency_of_whatever_fits(budget: int, links: int, tmp_path: Path) -> None:
    """Links are sorted on disk, and rows come in batches."""
    draw = np.random.default_rng(links)
    expected = [sorted({*draw.integers(0, 70, n).tolist()}) for n in draw.integers(0, 9, 70)]
    pairs = [(source, to) for source, each in enumerate(expected) for to in each]
    draw.shuffle(pairs)
    pieces = adjacency(made("u", pairs, 70), tmp_path, budget=budget, links=links)
    assert pq.read_table(io.BytesIO(b"".join(pieces)))["links"].to_pylist() == expected


@pytest.mark.slow
def test_filters_take_a_part_with_the_links_within(tmp_path: Path) -> None:
    work, part = crawl("loopback"), ("--top", 12, "--captured")
    rows = listed(work, *part)
    assert len(rows) == 12
    web = nx.read_gexf(exported(work, "gexf", tmp_path, *part))
    urls = nx.get_node_attributes(web, "url")
    assert sorted(urls.values()) == sorted(row["url"] for row in rows)
    edges = {(urls[source], urls[target]) for source, target in web.edges}
    assert edges == links_of(work, rows) != set()


@pytest.mark.slow
def test_the_neighbourhood_of_pages(tmp_path: Path) -> None:
    work, rows = crawl("loopback"), listed(crawl("loopback"))
    every = links_of(work, rows)
    best = min(rows, key=lambda row: row["position"])["url"]
    other = max(rows, key=lambda row: row["position"])["url"]
    for pages in ([best], [other], [best, other]):
        near = {*pages}
        near |= {source for source, target in every if target in pages}
        near |= {target for source, target in every if source in pages}
        options = [word for page in pages for word in ("--around", page)]
        taken = listed(work, *options)
        assert {row["url"] for row in taken} == near
        assert len(near) < len(rows) or best in pages
    table = crawlrank_of_python.open(work).scores(around=other)
    assert {*table["url"].to_pylist()} <= {row["url"] for row in rows}
    said = crawlrank("export", work, "--around", "http://nobody.example/", "--output", "-")
    assert (said.code, "no score of http://nobody.example/" in said.err) == (3, True), said
    said = crawlrank("export", work, "--around", "what is this", "--output", "-")
    assert said.code == 3


@pytest.mark.slow
def test_text_work_folders_have_the_same_graph(tmp_path: Path) -> None:
    given = ("--no-validate",)
    arrays, text = (finished(LOOPBACK, *given, *more) for more in ((), INLINE))
    words = ("--format", "graphml", "--output", "-", "--top", 30)
    one, other = (
        nx.read_graphml(io.BytesIO(ok("export", work, *words).out.encode()))
        for work in (arrays, text)
    )
    assert [*one.edges] == [*other.edges]
    urls = [[data["url"] for _, data in web.nodes(data=True)] for web in (one, other)]
    assert urls[0] == urls[1]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("by", ["host", "domain"])
def test_hosts(by: str, tmp_path: Path) -> None:
    work, rows = crawl("loopback"), listed(crawl("loopback"))
    named = {row["url"]: row["host" if by == "host" else "site"] for row in rows}
    between = Counter((named[source], named[target]) for source, target in links_of(work, rows))
    expected = {pair: count for pair, count in between.items() if pair[0] != pair[1]}
    web = nx.read_gexf(exported(work, "gexf", tmp_path, "--by", by))
    hosts = nx.get_node_attributes(web, "host")
    found = {(hosts[s], hosts[t]): weight for s, t, weight in web.edges(data="weight")}
    assert found == expected != {}
    matrix = mmread(exported(work, "mtx", tmp_path, "--by", by))
    with (tmp_path / "graph.nodes.csv").open(newline="") as file:
        table = [*csv.DictReader(file)]
    whole = json.loads(ok("hosts", work, "--by", by, "--json", "-").out)["hosts"]
    assert [row["host"] for row in table] == [row["host"] for row in whole]
    entries = zip(matrix.row, matrix.col, matrix.data, strict=True)
    assert {(table[i]["host"], table[j]["host"]): n for i, j, n in entries} == expected
    lists = pq.read_table(exported(work, "adjacency-parquet", tmp_path, "--by", by)).to_pylist()
    pairs = {
        (row["host"], lists[to]["host"]): weight
        for row in lists
        for to, weight in zip(row["links"], row["weights"], strict=True)
    }
    assert pairs == expected
    lines = exported(work, "edges", tmp_path, "--by", by).read_text().splitlines()
    assert {(s, t): int(w) for s, t, w in (line.split("\t") for line in lines)} == expected
    graphml = nx.read_graphml(exported(work, "graphml", tmp_path, "--by", by, "--top", 2))
    names = nx.get_node_attributes(graphml, "host")
    assert [*names.values()] == [row["host"] for row in table[:2]]
    weights = {(names[s], names[t]): w for s, t, w in graphml.edges(data="weight")}
    assert weights == {p: n for p, n in expected.items() if {*p} <= {*names.values()}}


def made(text: str, links: list[tuple[int, int]], nodes: int = 2) -> ExportedGraph:
    rows = pa.record_batch({"url": [text] * nodes, "score": [0.5] + [None] * (nodes - 1)})
    ends = np.array(links, np.int64).reshape(-1, 2)
    columns = ends[:, 0], ends[:, 1], None
    return ExportedGraph(nodes, "url", rows.schema, lambda: iter([rows]), lambda: iter([columns]))


@pytest.mark.parametrize(
    "text", ["\0\x1f\ufffe", "]]><![CDATA[", "&amp;\"'<>", "\ud7ff\U0001f600", "", "a\tb\nc"]
)
def test_any_text_is_xml(text: str, tmp_path: Path) -> None:
    path, shown = tmp_path / "g", graph_formats.ILLEGAL.sub("\ufffd", text)
    for form, read in (("graphml", nx.read_graphml), ("gexf", nx.read_gexf)):
        path.write_bytes(b"".join(GRAPHS[form](made(text, [(0, 1)]), tmp_path)))
        (first, second) = (data for _, data in read(path).nodes(data=True))
        assert (first.get("url") or "", first["score"]) == (shown, 0.5)
        assert "score" not in second


@pytest.mark.parametrize("form", GRAPHS)
def test_a_graph_without_links(form: str, tmp_path: Path) -> None:
    output = b"".join(GRAPHS[form](made("u", [], 3), tmp_path))
    if form == "adjacency-parquet":
        assert pq.read_table(io.BytesIO(output))["links"].to_pylist() == [[], [], []]
    elif form == "mtx":
        assert mmread(io.BytesIO(output)).shape == (3, 3)
    elif form == "edges":
        assert output == b""
    else:
        read = nx.read_graphml if form == "graphml" else nx.read_gexf
        assert len(read(io.BytesIO(output))) == 3


@pytest.mark.slow
def test_usage(tmp_path: Path) -> None:
    work, out = crawl("loopback"), tmp_path / "g.gexf"
    for words, why in (
        (["--format", "csv", "--by", "host", "--output", "-"], "--by"),
        (["--by", "host", "--status", "200", "--output", out], "--status"),
        (["--by", "host", "--bins", "20", "--output", out], "--bins"),
        (["--by", "host", "--replay", "http://r/", "--output", out], "--replay"),
        (["--format", "graphml", "--output", out], ".gexf"),
        (["--format", "adjacency-parquet", "--output", out], ".parquet"),
        (["--format", "gexf", "--aliases", "www", "--output", out], "--aliases"),
    ):
        said = crawlrank("export", work, *words)
        assert (said.code, why in said.err) == (2, True), said
    ok("export", work, "--output", out)  # by its ending
    assert nx.read_gexf(out).is_directed()
    near = ranked(work, "--method", "harmonic")
    ok("export", near, "--ranking", "harmonic", "--output", out)
    assert not (tmp_path / "crawler-beans-fragment.xml").exists()
