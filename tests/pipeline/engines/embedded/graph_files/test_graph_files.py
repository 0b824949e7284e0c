"""Graphs of other programs, ranked by `crawlrank run FILE`: against networkx and scipy, there and
back, and what is no graph."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import os
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_matrix
from support.crawls import crawlrank, ok
from support.drawing import examples
from support.growth import assert_linear
from support.paths import LOOPBACK
from support.runs import finished

import crawlrank as crawlrank_of_python
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.engines.embedded.graph_files.recognition import read_graph

DIRECTED = nx.gnp_random_graph(40, 0.1, seed=4, directed=True)
UNDIRECTED = nx.gnp_random_graph(30, 0.15, seed=5)
NAMED = nx.relabel_nodes(DIRECTED, {n: f"page-{n:02}" for n in DIRECTED})
Write = Callable[[Path], None]


def text(separator: str, header: str = "", comment: str = "") -> Write:
    lines = [separator.join(map(str, edge)) for edge in DIRECTED.edges]
    return lambda path: path.write_text("\n".join([*filter(None, [comment, header]), *lines, ""]))


def packed(pack: Callable[[bytes], bytes], write: Write) -> Write:
    def written(path: Path) -> None:
        write(path)
        path.write_bytes(pack(path.read_bytes()))

    return written


def halves(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Two streams, and zeros to fill the file up."""
    return lambda data: pack(data[:99]) + bytes(8) + pack(data[99:]) + bytes(4)


def columns(kind: pa.DataType, *names: str) -> Write:
    sources, targets = zip(*DIRECTED.edges, strict=True)
    arrays = [pa.array(each).cast(pa.string()).cast(kind) for each in (sources, targets)]
    table = pa.table(arrays, names=[*names])
    return lambda path: pq.write_table(table, path)


def swapped(path: Path) -> None:
    path.write_text("weight,target,source\n" + "".join(f'2,"{t}",{s}\n' for s, t in DIRECTED.edges))


def edge_table(path: Path) -> None:
    """As Gephi has it, but for blanks; edges without a type are directed."""
    edges = [f"{s} ,  {t}, Undirected,1" for s, t in UNDIRECTED.edges]
    path.write_text("\n".join(["Source, Target,Type ,Weight", *edges, ""]))


def quoted_table(path: Path) -> None:
    """Each block has quotation marks, so that lines are read one by one."""
    edges = [f'"{s}", "{t}",undirected' for s, t in UNDIRECTED.edges]
    path.write_text("\n".join(["source, target,type", *edges, ""]))


def mutual(path: Path) -> None:
    edges = "".join(f"<edge source='{s}' target='{t}' type='mutual'/>" for s, t in UNDIRECTED.edges)
    nodes = "".join(f"<node id='{node}'/>" for node in UNDIRECTED)
    graph = (
        f"<graph defaultedgetype='Directed'><nodes>{nodes}</nodes><edges>{edges}</edges></graph>"
    )
    path.write_text(f"<gexf>{graph}</gexf>")


#: name of a file, how it is written, and the graph that it has
FILES: dict[str, tuple[Write, nx.Graph]] = {
    "snap.txt": (text("\t", comment="# Nodes: 40\n# FromNodeId\tToNodeId"), DIRECTED),
    "konect.edges": (text(" ", comment="% asym unweighted"), DIRECTED),
    "blanks.txt": (text("   "), DIRECTED),
    "gephi.csv": (text(",", "Source,Target"), DIRECTED),
    "excel.csv": (text(";", "source;target"), DIRECTED),
    "blanks.csv": (text(", "), DIRECTED),
    "types.csv": (edge_table, UNDIRECTED),
    "quoted.csv": (quoted_table, UNDIRECTED),
    "mutual.gexf": (mutual, UNDIRECTED),
    "two-streams.txt.xz": (packed(halves(lzma.compress), text(" ")), DIRECTED),
    "two-streams.txt.bz2": (packed(halves(bz2.compress), text(" ")), DIRECTED),
    "swapped.csv": (swapped, DIRECTED),
    "list.tsv.gz": (packed(gzip.compress, text("\t", "from\tto")), DIRECTED),
    "list.txt.bz2": (packed(bz2.compress, text(" ")), DIRECTED),
    "list.el.xz": (packed(lzma.compress, text(" ")), DIRECTED),
    "numbers.parquet": (columns(pa.int64(), "source", "target"), DIRECTED),
    "words.parquet": (columns(pa.string(), "a", "b"), DIRECTED),
    "dictionary.parquet": (
        columns(pa.dictionary(pa.int32(), pa.string()), "src", "dst"), DIRECTED
    ),
    "of-networkx.graphml": (lambda path: nx.write_graphml(NAMED, path), NAMED),
    "both-ways.graphml": (lambda path: nx.write_graphml(UNDIRECTED, path), UNDIRECTED),
    "utf-16.graphml": (lambda path: nx.write_graphml(NAMED, path, encoding="utf-16"), NAMED),
    "of-networkx.gexf": (lambda path: nx.write_gexf(NAMED, path), NAMED),
    "both-ways.gexf": (lambda path: nx.write_gexf(UNDIRECTED, path), UNDIRECTED),
    "matrix.mtx": (
        lambda path: mmwrite(path, nx.to_scipy_sparse_array(DIRECTED)),
        nx.relabel_nodes(DIRECTED, {n: n + 1 for n in DIRECTED}),
    ),
    "symmetric.mtx.gz": (
        packed(
            gzip.compress,
            lambda path: mmwrite(
                path.open("wb"), nx.to_scipy_sparse_array(UNDIRECTED), symmetry="symmetric"
            ),
        ),
        nx.relabel_nodes(UNDIRECTED, {n: n + 1 for n in UNDIRECTED}),
    ),
}  # fmt: skip


QUICK = {"snap.txt", "gephi.csv", "list.tsv.gz", "numbers.parquet", "of-networkx.graphml",
         "both-ways.gexf", "symmetric.mtx.gz"}  # fmt: skip


def scores_of(work: Path) -> dict[str, float]:
    lines = ok("export", work, "--format", "jsonl").out.splitlines()
    return {row["key"]: row["score"] for row in map(json.loads, lines)}


def expected(graph: nx.Graph, *, listed: bool) -> dict[str, float]:
    """By crawlrank's function on the edges; what it computes is compared elsewhere. listed: whether
    the file names nodes without an edge."""
    directed = nx.DiGraph(graph)
    directed.remove_nodes_from([] if listed else [*nx.isolates(graph)])
    ranks = crawlrank_of_python.pagerank(directed, tolerance=1e-12)
    return {str(k): v for k, v in zip(ranks.labels, ranks.scores.tolist(), strict=True)}


def test_comments_and_attributes_are_counted(tmp_path: Path) -> None:
    """networkx writes attributes as a dictionary, which may have many words."""
    path, work = tmp_path / "a.edgelist", tmp_path / "work"
    graph = nx.DiGraph([("a", "b", {"kind": "a link in a list", "weight": 2}), ("#b", "c")])
    nx.write_edgelist(graph, path)
    run = ok("run", path, "--work", work, "--no-validate")
    assert set(scores_of(work)) == {"a", "b"}
    counts = {
        line.strip().rpartition("  ")[0].strip(): line.split()[-1] for line in run.err.splitlines()
    }
    assert counts["lines that begin with # or %, taken for comments"] == "1"
    assert counts["edges with further fields, not taken over"] == "1"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in FILES]
)
def test_one_command_ranks_a_graph(name: str, tmp_path: Path) -> None:
    write, graph = FILES[name]
    path, work = tmp_path / name, tmp_path / "work"
    write(path)
    words = ("run", path, "--work", work, "--tolerance", "1e-12")
    ok(*words, "--no-validate", "--quiet")
    listed = path.suffix in (".graphml", ".gexf", ".mtx") or ".mtx" in name
    assert scores_of(work) == pytest.approx(expected(graph, listed=listed), rel=1e-9)
    again = ok(*words, "--no-validate")  # the folder is of this file
    assert "page-rank: unchanged" in again.err


@pytest.mark.parametrize("name", FILES)
def test_the_library_takes_a_path(name: str, tmp_path: Path) -> None:
    write, graph = FILES[name]
    path = tmp_path / name
    write(path)
    ranks = crawlrank_of_python.pagerank(path, tolerance=1e-12)
    scores = dict(zip(ranks.labels, ranks.scores.tolist(), strict=True))
    listed = path.suffix in (".graphml", ".gexf", ".mtx") or ".mtx" in name
    assert scores == pytest.approx(expected(graph, listed=listed), rel=1e-9)
    assert crawlrank_of_python.degree([str(path)]).edges == nx.DiGraph(graph).number_of_edges()


def test_the_library_takes_vertices_and_edges(tmp_path: Path) -> None:
    vertices, edges = tmp_path / "a-vertices.txt", tmp_path / "a-edges.txt"
    vertices.write_text("0\tcom.b\n1\tcom.a\n2\torg.c\n")
    edges.write_text("0\t1\n1\t0\n1\t1\n")
    degrees = crawlrank_of_python.degree((vertices, edges))
    assert degrees.as_dict() == {"com.b": 1, "com.a": 1, "org.c": 0}
    assert degrees.self_loops == 1
    edges.write_text("0\t1\n3\t0\n")
    with pytest.raises(BadInput, match="the node 3, which is not listed"):
        crawlrank_of_python.degree((vertices, edges))
    vertices.write_text("0\tcom.b\n0\tcom.a\n")
    with pytest.raises(BadInput, match="two nodes of the id 0"):
        crawlrank_of_python.degree((vertices, edges))


def test_what_the_library_does_not_take(tmp_path: Path) -> None:
    page, graph = tmp_path / "page.html", tmp_path / "a.csv"
    page.write_text("<p>no graph</p>")
    graph.write_text("a,b\n")
    for given, options, words in (
        (page, {}, "no graph of a known format"),
        (tmp_path / "none.csv", {}, "no file"),
        (graph, {"weighted": True}, "weights in a file"),
        (graph, {"nodes": 3}, "3 with a PosixPath"),
    ):
        with pytest.raises(BadInput, match=words):
            crawlrank_of_python.pagerank(given, **options)


@pytest.mark.slow
def test_a_graph_of_uris_has_keys_and_a_precedence_file(tmp_path: Path) -> None:
    path, work = tmp_path / "web.csv", tmp_path / "work"
    edges = [
        ("http://www.a.example/", "http://b.example/x"), ("http://a.example/", "http://b.example/"),
        ("https://b.example/x", "http://a.example"), ("http://lonely.example/", "http://b.example/"),
    ]  # fmt: skip
    path.write_text("source,target\n" + "".join(f"{s},{t}\n" for s, t in edges))
    ok("run", path, "--work", work, "--quiet")
    assert set(scores_of(work)) == {
        "example,a)/", "example,b)/", "example,b)/x", "example,lonely)/"
    }  # fmt: skip
    listed = {line.split()[0] for line in (work / "precedence.txt").read_text().splitlines()}
    assert {"http://a.example/", "http://lonely.example/", "https://b.example/x"} <= listed
    assert ok("explain", work, "http://www.a.example/").code == 0
    assert crawlrank_of_python.open(work).links().num_rows == len(edges)
    other = crawlrank("run", path, "--work", work, "--keep-www")
    assert (other.code, "Name another folder" in other.err) == (3, True), other
    path.write_text("source,target\nhttp://a.example/,http://b.example/\n")
    changed = crawlrank("run", path, "--work", work)
    assert (changed.code, "Name another folder" in changed.err) == (3, True), changed


LINKED = [
    (0, 1),
    (2, 1),
    (3, 1),
    (0, 4),
    (1, 4),
    (4, 4),
    (2, 3),
    (2, 3),
]  # one twice, one to itself


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uris.csv", "".join(f"http://h.example/{s},http://h.example/{t}\n" for s, t in LINKED)),
        ("labels.csv", "".join(f"n{s},n{t}\n" for s, t in LINKED)),
        ("numbers.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 5 8\n"
         + "".join(f"{s + 1} {t + 1}\n" for s, t in LINKED)),
    ],
    ids=["uris", "labels", "numbers"],
)  # fmt: skip
def test_links_to_a_node_are_counted(name: str, text: str, tmp_path: Path) -> None:
    """Ties by links are decided by them."""
    path, work = tmp_path / name, tmp_path / "work"
    path.write_text(("source,target\n" if name.endswith("csv") else "") + text)
    ok("run", path, "--work", work, "--quiet", "--ties", "links", "--no-validate")
    rows = pq.read_table(work / "uris").to_pylist()
    links = [row["links"] for row in sorted(rows, key=lambda row: str(row["uri"]))]
    assert links == [0, 3, 0, 1, 2]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["adjacency-parquet", "mtx", "edges", "graphml", "gexf"])
def test_there_and_back_scores_are_the_same(form: str, tmp_path: Path) -> None:
    ending = {"edges": "tsv.gz", "adjacency-parquet": "parquet"}.get(form, form)
    path, back = tmp_path / f"graph.{ending}", tmp_path / "back"
    crawl = finished(LOOPBACK, "--no-validate")
    ok("export", crawl, "--format", form, "--output", path)
    ok("run", path, "--work", back, "--no-validate", "--quiet")
    before, after = ({k: v for k, v in scores_of(work).items() if v} for work in (crawl, back))
    assert after == pytest.approx(before, rel=1e-8)
    again = tmp_path / f"again.{ending}"
    ok("export", back, "--format", form, "--output", again)
    assert len(again.read_bytes()) > 0


def test_vertices_and_edges_of_common_crawl(tmp_path: Path) -> None:
    names = ["com.example", "com.example.www", "org.example", "net.alone"]
    vertices, edges = tmp_path / "cc-host-vertices.txt.gz", tmp_path / "cc-host-edges.txt.gz"
    lines = "".join(f"{number}\t{name}\t3\n" for number, name in enumerate(names))
    vertices.write_bytes(gzip.compress(lines.encode()))
    edges.write_bytes(gzip.compress(b"0\t1\n1\t2\n2\t0\n0\t2\n"))
    work = tmp_path / "work"
    ok("run", vertices, edges, "--work", work, "--quiet")
    web = nx.DiGraph([(0, 1), (1, 2), (2, 0), (0, 2)])
    web.add_node(3)
    expected_scores = expected(web, listed=True)
    assert scores_of(work) == pytest.approx(
        {names[int(n)].replace(".", ","): score for n, score in expected_scores.items()}, rel=1e-8
    )
    hosts = ok("hosts", work, "--by", "domain", "--output", tmp_path / "hosts.csv")
    assert hosts.code == 0
    rows = list(csv.DictReader((tmp_path / "hosts.csv").read_text().splitlines()))
    pages = {row["host"]: int(row["pages"]) for row in rows}
    assert pages == {"example.com": 2, "example.org": 1, "alone.net": 1}
    for method in ("site", "site-harmonic"):
        ok("rank", work, "--method", method, "--name", method, "--quiet")
        ok("rank", work, "--method", method, "--name", f"{method}-2", "--quiet")
    ranks = tmp_path / "ranks.txt"
    ok("export", work, "--format", "cc-ranks", "--ranking", "site-2", "--output", ranks)
    assert {line.split("\t")[4] for line in ranks.read_text().splitlines()[1:]} == set(names)
    alone = crawlrank("run", vertices, "--work", tmp_path / "alone")
    assert (alone.code, "vertices without edges" in alone.err) == (3, True)


def test_a_blank_in_a_uri_is_escaped(tmp_path: Path) -> None:
    """As where links are found: no dataset of text has a place for it."""
    path, work = tmp_path / "a.csv", tmp_path / "work"
    path.write_text("source,target\nhttp://a.example/a b,http://b.example/\u3000c\n")
    ok("run", path, "--work", work, "--quiet", "--no-validate")
    uris = pq.read_table(work / "uris")["uri"].to_pylist()
    assert uris == ["http://a.example/a%20b", "http://b.example/%E3%80%80c"]
    ok("export", work, "--format", "text", "--output", tmp_path / "text")
    links = tmp_path / "text" / "links.txt"
    ok("step", "import-text", tmp_path / "again", "--links", links)


def test_labels_without_a_period_are_hosts(tmp_path: Path) -> None:
    path, work = tmp_path / "a.csv", tmp_path / "work"
    path.write_text("source,target\nlocalhost,intranet\nintranet,localhost\n")
    ok("run", path, "--work", work, "--quiet", "--no-validate")
    assert "intranet" in ok("hosts", work).out


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    said = crawlrank("run", tmp_path / "pipe", "--work", tmp_path / "work")
    assert (said.code, "a pipe" in said.err) == (3, True)


@pytest.mark.slow
def test_other_rankings_and_graphs_of_labels(tmp_path: Path) -> None:
    path, work = tmp_path / "g.tsv", tmp_path / "work"
    text("\t")(path)
    ok("run", path, "--work", work, "--method", "harmonic", "--quiet")
    web = nx.DiGraph(DIRECTED)
    web.remove_nodes_from([*nx.isolates(web)])
    near = {str(node): score for node, score in nx.harmonic_centrality(web).items()}
    assert scores_of(work) == pytest.approx(near, rel=1e-12)
    ok("export", work, "--output", tmp_path / "again.graphml")
    read = nx.read_graphml(tmp_path / "again.graphml")
    labels = nx.get_node_attributes(read, "key")
    edges = {(labels[s], labels[t]) for s, t in read.edges}
    assert edges == {(str(s), str(t)) for s, t in web.edges}


BAD: dict[str, tuple[str, bytes, tuple[str, ...]]] = {
    "one field": ("a.txt", b"1 2\n3\n", ("line 2", "1 field")),
    "an empty field": ("a.csv", b"source,target\n1,2\n,3\n", ("line 3", "a source and a target")),
    "prose": ("a.txt", b"a b\nno graph but a few words\n", ("line 2", "6 words", "tabs")),
    "no edge": ("a.tsv", b"# nothing\n", ("no line with an edge",)),
    "not UTF-8": ("a.txt", b"1 2\n\xe9 2\n", ("line 2", "iconv")),
    "UTF-16": ("a.txt", "1 2\n".encode("utf-16"), ("UTF-16", "iconv")),
    "cut": ("a.txt.gz", gzip.compress(b"1 2\n" * 9999)[:-9], ("cannot be read to its end",)),
    "cut bzip2": ("a.txt.bz2", bz2.compress(b"1 2\n" * 9999)[:-9], ("cannot be read to its end",)),
    "more after bzip2": (
        "a.txt.bz2", bz2.compress(b"1 2\n") + b"garbage", ("cannot be read to its end",)
    ),
    "more after xz": (
        "a.txt.xz", lzma.compress(b"1 2\n") + b"garbage", ("cannot be read to its end",)
    ),
    "carriage returns": ("a.csv", b"a,b\rb,c\r", ("line 1", "carriage return", "tr ")),
    "commas": ("a.txt", b"a, b\nb, c\n", ("line 1", "',' after a field", ".csv")),
    "cut xml": ("a.graphml", b"<graphml><graph edgedefault='directed'>\n<node", ("line 2", "XML")),
    "no id": ("a.gexf", b"<gexf><graph><nodes><node/></nodes></graph></gexf>", ("without id",)),
    "twice": (
        "a.gexf", b"<gexf><graph><nodes><node id='1'/><node id='1'/></nodes></graph></gexf>",
        ("a second node '1'",),
    ),
    "an edge of no kind": (
        "a.gexf",
        b"<gexf><graph><edges><edge source='1' target='2' type='dir'/></edges></graph></gexf>",
        ("type 'dir'", "undirected or mutual"),
    ),
    "too many rows": (
        "a.mtx",
        b"%%MatrixMarket matrix coordinate pattern general\n9999999999 9999999999 1\n1 2\n",
        ("line 2", "9,999,999,999 rows"),
    ),
    "an array": ("a.mtx", b"%%MatrixMarket matrix array real general\n2 2\n", ("line 1",)),
    "not square": (
        "a.mtx", b"%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n",
        ("line 2", "square"),
    ),
    "outside": (
        "a.mtx", b"%%MatrixMarket matrix coordinate pattern general\n% c\n2 2 1\n1 3\n",
        ("line 4", "from 1 to 2"),
    ),
    "no number": (
        "a.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 x\n",
        ("line 3", "'x'"),
    ),
    "entries missing": (
        "a.mtx", b"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n",
        ("1 entries", "2, as line 2 says"),
    ),
    "a pickle": ("graph.bin", pickle.dumps(DIRECTED), ("pickle", "write_graphml")),
    "a pickle by name": ("g.gpickle", b"(dp0\n.", ("pickle", "write_graphml")),
}  # fmt: skip


def test_what_xml_leaves_out_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.graphml"
    path.write_text(
        "<graphml><graph edgedefault='directed'><node id='a'/><edge source='a' target='b'/>"
        "<hyperedge><endpoint node='a'/><endpoint node='b'/></hyperedge></graph></graphml>"
    )
    said = ok("run", path, "--work", tmp_path / "work", "--no-validate")
    for words in ("hyperedges, left out", "nodes that edges name and no element describes"):
        assert words in said.err, said.err


def test_edges_of_dropped_nodes_are_counted(tmp_path: Path) -> None:
    path, good = tmp_path / "a.csv", "http://a.example/"
    path.write_text(f"source,target\n{good},{good}b\n{good}b,http://\nhttp://,{good}\n")
    said = ok("run", path, "--work", tmp_path / "work", "--no-validate")
    for words in ("edges of dropped nodes 2 ", "dropped.invalid 1 "):
        assert words in " ".join(said.err.split()), said.err


def test_odd_labels_come_back(tmp_path: Path) -> None:
    """From lists of edges and from BVGraphs. No line can have a label with a line end."""
    labels = ["#hash", "%percent", '"quoted"', "a\ttab", 'in"side', " blanks ", "a,comma", "plain"]
    pairs = [(labels[k], labels[k * 3 % 8]) for k in range(8)] + [(labels[3], labels[0])]
    path = tmp_path / "odd.parquet"
    pq.write_table(
        pa.table(dict(zip(("source", "target"), zip(*pairs, strict=True), strict=True))), path
    )
    ok("run", path, "--work", tmp_path / "work", "--no-validate", "--quiet")
    linked = {end for pair in pairs for end in pair if pair[0] != pair[1]}
    scores = {key: score for key, score in scores_of(tmp_path / "work").items() if key in linked}
    for file in ("odd.tsv", "odd.graph"):
        words = ["--format", "edges"] * file.endswith("tsv")
        ok("export", tmp_path / "work", *words, "--output", tmp_path / file)
        ranks = crawlrank_of_python.pagerank(tmp_path / file)
        back = {key: ranks[key] for key in linked}
        assert back == pytest.approx(scores, rel=1e-8), file
    pq.write_table(pa.table({"source": ["a\nb"], "target": ["c"]}), path)
    ok("run", path, "--work", tmp_path / "lines", "--no-validate", "--quiet")
    said = crawlrank("export", tmp_path / "lines", "--format", "edges", "--output", tmp_path / "x")
    assert (said.code, "labels of one line" in said.err) == (3, True), said


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_graph(name: str, tmp_path: Path) -> None:
    file, content, words = BAD[name]
    (tmp_path / file).write_bytes(content)
    said = crawlrank("run", tmp_path / file, "--work", tmp_path / "work")
    assert said.code == 3, said
    for word in (file, *words):
        assert word in said.err.replace("\n", " "), said.err


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"source": ["a", None], "target": ["b", "c"]}, ("row 2", "no source")),
        ({"source": [1.5], "target": [2.0]}, ("of the type double",)),
    ],
)
def test_tables_that_are_no_edges(
    table: dict[str, list[object]], words: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table(table), path)
    said = crawlrank("run", path, "--work", tmp_path / "work")
    assert said.code == 3
    assert all(word in said.err for word in (str(path), *words)), said.err


def test_edges_of_nodes_that_are_not_listed(tmp_path: Path) -> None:
    vertices, edges = tmp_path / "vertices.txt", tmp_path / "edges.txt"
    vertices.write_text("0\tcom.a\n1\tcom.b\n")
    edges.write_text("0\t7\n")
    said = crawlrank("run", vertices, edges, "--work", tmp_path / "work")
    assert (said.code, "an edge of the node 7" in said.err) == (3, True), said
    vertices.write_text("0\tcom.a\n1\tcom.a\n7\tcom.c\n")
    said = crawlrank("run", vertices, edges, "--work", tmp_path / "work")
    assert (said.code, "two nodes of the label com.a" in said.err) == (3, True), said
    vertices.write_text("0\tcom.a\n7\tcom.c\n")
    ok("run", vertices, edges, "--work", tmp_path / "work", "--quiet")  # after two that failed


def test_usage(tmp_path: Path) -> None:
    path = tmp_path / "g.tsv"
    text("\t")(path)
    for words in (
        (path, LOOPBACK, "--work", tmp_path / "w"),
        (path, "--work", tmp_path / "w", "--runner", "inline"),
        (path, "--work", tmp_path / "w", "--dry-run"),
    ):
        said = crawlrank("run", *words)
        assert (said.code, "is a graph" in said.err) == (2, True), said
    made = coo_matrix((np.ones(2), ([0, 1], [1, 0])), shape=(3, 3))
    mmwrite(tmp_path / "a.mtx", made)
    mmwrite(tmp_path / "b.mtx", made)
    two = crawlrank("run", tmp_path / "a.mtx", tmp_path / "b.mtx", "--work", tmp_path / "w")
    assert (two.code, "a second file" in two.err) == (3, True)
    mixed = crawlrank("run", path, tmp_path / "a.mtx", "--work", tmp_path / "w")
    assert (mixed.code, "several kinds" in mixed.err) == (3, True)
    (tmp_path / "a.nodes.csv").write_text("url\nx\n")
    names = crawlrank("run", tmp_path / "a.mtx", "--work", tmp_path / "w")
    assert (names.code, "a name for each of 3 nodes" in names.err) == (3, True)


#: what readers of text, XML, CSV and numbers may stumble over
ODD = (
    *(
        b"\0",
        b"\r",
        b"\n\n",
        b" ",
        b"\t",
        b",",
        b'"',
        b"'",
        b"<",
        b">",
        b"&",
        b"=",
        b"%",
        b"#",
        b"{",
    ),
    *(b"<!--", b"]]>", b"\xef\xbb\xbf", b"\xff\xfe", b"x" * 140_000, b"9" * 5000),
    *(b"0", b"-1", b"+1", b"1_0", b"1e999", b"nan", b"4294967296", b"18446744073709551615"),
    *("²".encode(), "١".encode(), b"\xb2", b"99999999999999999999"),
)
Parts = dict[str, bytes]  # the files of a graph, of which the first is given


def damaged(data: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 4))):
        begin = rng.randrange(len(data) + 1)
        end = begin + rng.choice((0, 1, 2, 20, 200))
        new = rng.choice((b"", data[begin:end] * 2, rng.choice(ODD), bytes((rng.randrange(256),))))
        data = data[:begin] + new + data[end:]
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data


def parts_of_graphs(folder: Path) -> dict[str, Parts]:
    graphs = {}
    for name, (write, _) in FILES.items():
        write(folder / name)
        graphs[name] = {name: (folder / name).read_bytes()}
    matrix = b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n"
    graphs["named"] = {"a.mtx": matrix, "a.nodes.csv": b"url\nx\ny\nz\n"}
    graphs["edges"] = {"edges.txt": b"0\t1\n1\t2\n", "vertices.txt": b"0\ta\n1\tb\n2\tc\n"}
    ok("export", finished(LOOPBACK), "--format", "bvgraph", "--output", folder / "bv.graph")
    bvgraph = sorted(folder.glob("bv.*"), key=lambda path: path.suffix != ".graph")
    graphs["bvgraph"] = {path.name: path.read_bytes() for path in bvgraph}
    return graphs


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever is in them. What is read may be another graph."""
    rng, place, refused = random.Random(1), tmp_path / "damaged", 0
    for parts in parts_of_graphs(tmp_path).values():
        for _ in range(examples(100)):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            which = rng.choice([*parts])
            for name, data in parts.items():
                (place / name).write_bytes(damaged(data, rng) if name == which else data)
            both = "vertices.txt" in parts
            try:
                read_graph([place / name for name in parts][: 2 if both else 1])
            except BadInput:
                refused += 1
    assert refused


@pytest.mark.parametrize("around", ["{}", "<edge source='0' target='1'><data>{}</data></edge>"])
def test_elements_that_nobody_reads_take_linear_time(around: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.graphml"

    def read(size: int) -> None:
        count = size // 30
        nodes = "".join(f"<node id='{number}'/>" for number in range(count))
        path.write_text(f"<graphml><graph>{around.format('<d/>' * count)}{nodes}</graph></graphml>")
        assert crawlrank_of_python.degree(path).nodes == count

    assert_linear(read, 2**19)


def test_a_graph_in_a_node_has_a_direction_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "graph.graphml"
    inner = "<graph edgedefault='undirected'><node id='c'/><edge source='c' target='a'/></graph>"
    path.write_text(
        f"<graphml><graph edgedefault='directed'><node id='a'>{inner}</node><node id='b'/>"
        "<edge source='a' target='b'/></graph></graphml>"
    )
    degrees = crawlrank_of_python.degree(path)
    assert (degrees.edges, [*degrees.scores]) == (3, [1, 1, 1])  # c to a and back, a to b
