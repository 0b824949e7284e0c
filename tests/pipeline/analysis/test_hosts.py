"""`crawlrank hosts`, against sums over the list of pages in Python and the graph of networkx."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow.parquet as pq
import pytest
from support.crawls import INLINE, crawlrank, ok
from support.inputs.samples import write
from support.paths import LOOPBACK, REFERENCE
from support.runs import finished, ranked
from support.terminals import on_terminal

ICS = sorted((REFERENCE / "archives" / "ics-uci").glob("*.gz"))
#: links of pages on hosts of one domain, with a port, and of names that sort between them
LINKS = [
    ("http://a.example.org/1", "http://example.org/"),
    ("http://example.org/", "http://a.example.org/1"),
    ("http://example-x.org/", "http://a.example.org/1"),
    ("http://example.org:8080/x", "http://example-x.org/"),
    ("http://a.example.org/2", "http://a.example.org/1"),
    ("http://user.github.io/", "http://other.github.io/"),
    ("http://example.org/", "http://example.org:8080/x"),
]


WORKS = ("loopback columns", "loopback text", "made", "ics columns")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    links = write(
        folder / "links.txt", [f"{target} {source} L".encode() for source, target in LINKS]
    )
    ok("step", "import-text", "--links", links, "--work", folder / "w")
    ok("run", "--work", folder / "w", "--no-validate", "--quiet", "--nodes", "all")
    return folder / "w"


def works(*names: str) -> pytest.MarkDecorator:
    """The parameter `work`."""
    slow = {"ics columns": [pytest.mark.slow]}
    params = [pytest.param(name, marks=slow.get(name, ())) for name in names]
    return pytest.mark.parametrize("work", params, indirect=True)


@pytest.fixture
def work(request: pytest.FixtureRequest) -> Path:
    if request.param == "made":
        folder: Path = request.getfixturevalue("imported")
        return folder
    if request.param == "ics columns":
        if not ICS:
            pytest.skip("no reference data here")
        return finished(ICS, "--iterations", 8, "--no-validate")
    return finished(LOOPBACK, *(INLINE if "text" in request.param else ()))


def pages_of(work: Path, output: Path) -> list[dict[str, Any]]:
    ok("export", "--work", work, "--format", "jsonl", "--output", output)
    return [json.loads(line) for line in output.read_text().splitlines()]


def graph_of(work: Path, out: Path) -> nx.DiGraph:
    """The keys and their links, of the files of the recipe."""
    ok("export", "--format", "text", "--work", work, "--out", out)
    keys = {line.split()[1] for line in (out / "map.txt").read_text().splitlines()}
    graph = nx.DiGraph()
    for line in (out / "input_links.txt").read_text().splitlines():
        _, target, source = line.split()
        if source in keys and source != target:
            graph.add_edge(source, target)
    return graph


@pytest.mark.few(1)
@works(*WORKS)
def test_rows_are_sums_over_the_list_of_pages(work: Path, tmp_path: Path) -> None:
    pages, graph = pages_of(work, tmp_path / "pages.jsonl"), graph_of(work, tmp_path / "text")
    for by, column in (("host", "host"), ("domain", "site")):
        document = json.loads(ok("hosts", "--work", work, "--by", by, "--json", "-").out)
        require_sums(document, column, pages, graph)


def require_sums(
    document: dict[str, Any], column: str, pages: list[dict[str, Any]], graph: nx.DiGraph
) -> None:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for page in pages:
        groups[page[column]].append(page)
    of_key = {page["key"]: page[column] for page in pages}
    links: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for source, target in graph.edges:
        if of_key[source] == of_key[target]:
            links[of_key[source]][2] += 1
        else:
            links[of_key[target]][0] += 1
            links[of_key[source]][1] += 1
    rows = document["hosts"]
    assert document["count"] == len(rows) == len(groups)
    total = math.fsum(page["score"] or 0 for page in pages)
    for row in rows:
        own = groups[row["host"]]
        scores = [page["score"] for page in own if page["score"] is not None]
        assert row["pages"] == len(own)
        assert row["captured"] == sum(page["captures"] > 0 for page in own)
        assert row["captures"] == sum(page["captures"] for page in own)
        assert row["score"] == pytest.approx(math.fsum(scores), rel=1e-12)
        assert row["share"] == pytest.approx(math.fsum(scores) / total, rel=1e-12)
        assert row["best"] == max(scores, default=None)
        assert row["classes"] == [sum(p["class"] == n for p in own) for n in range(1, 6)]
        assert [row["links_in"], row["links_out"], row["links_within"]] == links[row["host"]]
    assert rows == sorted(rows, key=lambda row: (-row["score"], row["host"]))


@pytest.mark.slow
@works("made")
def test_domains_join_hosts_that_do_not_follow_each_other(work: Path) -> None:
    """By hand: example.org with its ports and a.example.org, which example-x.org parts."""
    out = ok("hosts", "--work", work, "--by", "domain", "--sort", "host", "--json", "-").out
    names = ("host", "pages", "links_in", "links_out", "links_within")
    assert [tuple(row[name] for name in names) for row in json.loads(out)["hosts"]] == [
        ("example-x.org", 1, 1, 1, 0),
        ("example.org", 4, 1, 1, 4),
        ("other.github.io", 1, 1, 0, 0),
        ("user.github.io", 1, 0, 1, 0),
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("work", "sort"),
    [
        ("loopback columns", "pages"), ("made", "best"), ("loopback text", "links_in"),
        ("made", "host"),
    ],
    indirect=["work"],
)  # fmt: skip
def test_order_and_number_of_rows(sort: str, work: Path) -> None:
    given = "hosts", "--work", work, "--sort", sort
    everything = json.loads(ok(*given, "--json", "-").out)["hosts"]
    values = [row[sort] for row in everything if row[sort] is not None]
    assert values == sorted(values, reverse=sort != "host")
    assert json.loads(ok(*given, "--top", 2, "--json", "-").out)["hosts"] == everything[:2]
    table = ok(*given).out.splitlines()
    assert table[0].startswith(f"{min(20, len(everything))} of {len(everything):,} hosts")
    shown = [line.split()[0] for line in table[2:] if line.strip()]
    assert shown == [row["host"] for row in everything[:20]]


@pytest.mark.slow
@pytest.mark.few(1)
@works("loopback text", "made")
def test_files_say_the_same(work: Path, tmp_path: Path) -> None:
    given = "hosts", "--work", work, "--output"
    for name in ("h.csv", "h.jsonl", "h.parquet", "h.csv.gz"):
        ok(*given, tmp_path / "new" / name)
    rows = pq.read_table(tmp_path / "new" / "h.parquet").to_pylist()
    lines = (tmp_path / "new" / "h.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == rows
    with (tmp_path / "new" / "h.csv").open(newline="") as stream:
        as_text = list(csv.DictReader(stream, strict=True))
    assert as_text == [{n: "" if v is None else str(v) for n, v in row.items()} for row in rows]
    printed = ok(*given, "-").out.splitlines()
    assert printed == (tmp_path / "new" / "h.csv").read_text().splitlines()
    assert [value for name, value in rows[0].items() if name.startswith("class_")]


def test_a_ranking_beside_the_run() -> None:
    work = ranked(finished(LOOPBACK), "--method", "hits")
    own, hits = (
        json.loads(ok("hosts", "--work", work, *more, "--json", "-").out)["hosts"]
        for more in ((), ("--ranking", "hits"))
    )
    same = ("host", "pages", "captures", "links_in", "links_within")
    own, hits = (sorted(rows, key=lambda row: row["host"]) for rows in (own, hits))
    assert [[row[name] for name in same] for row in own] == [
        [row[name] for name in same] for row in hits
    ]
    assert [row["score"] for row in own] != [row["score"] for row in hits]


@pytest.mark.slow
def test_keys_without_uris_and_ids_without_keys(tmp_path: Path) -> None:
    lines = [b"org,example)/a org,example,b)/c", b"org,example,b)/c org,example)/a"]
    links = write(tmp_path / "canonical.txt", sorted(lines))
    ok("step", "import-text", "--canonical-links", links, "--work", tmp_path / "keys")
    ok("run", "--work", tmp_path / "keys", "--no-validate", "--quiet")
    rows = json.loads(ok("hosts", "--work", tmp_path / "keys", "--json", "-").out)["hosts"]
    assert [(row["host"], row["pages"], row["captured"]) for row in rows] == [
        ("b.example.org", 1, None), ("example.org", 1, None),
    ]  # fmt: skip
    graph = write(tmp_path / "graph.txt", [b"0\t1.0\tO:1", b"1\t1.0\tO:0", b"dummy\t1.0\tO:dummy"])
    ok("step", "import-text", "--graph", graph, "--work", tmp_path / "ids")
    ok("run", "--work", tmp_path / "ids", "--no-validate", "--quiet")
    said = crawlrank("hosts", "--work", tmp_path / "ids")
    assert (said.code, "pages that are ids" in said.err) == (3, True)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("sort", "words"),
    [
        ("captures", "the most captures first"),
        ("links_in", "the most links in first"),
        ("score", "the highest score first"),
        ("host", "by name"),
    ],
)
@works("made")
def test_the_title_says_the_order(sort: str, words: str, work: Path) -> None:
    assert words in ok("hosts", "--work", work, "--sort", sort).out.splitlines()[0]


def test_the_table_on_a_terminal_of_80_columns() -> None:
    """All columns are there, the name of the host in each part."""
    told = on_terminal(80, "hosts", "--work", finished(LOOPBACK))
    expected = [
        "3 of 3 hosts, the highest score first",
        "host             pages  captured  captures    score   share     best  class 1",
        "127.0.0.1:18081     36        36        37  12.2400  44.44%  1.46474        5",
        "127.0.0.2:18082     13        13        13  8.54482  31.02%  1.62261        4",
        "127.0.0.3:18083     14        14        14  6.76003  24.54%  1.41401        2",
        "",
        "host             class 2  class 3  class 4  class 5  links in  links out  within",
        "127.0.0.1:18081        2        4        7       18         5          6      64",
        "127.0.0.2:18082        5        2        0        2         7          6      40",
        "127.0.0.3:18083        3        4        3        2         6          6      37",
    ]
    lines = re.sub("\x1b\\[[0-9;?]*[a-z]", "", told).strip("\n").splitlines()
    assert lines == expected


@works("loopback columns")
def test_refused(work: Path, tmp_path: Path) -> None:
    for option, name in (("--output", "h.txt"), ("--output", "csv")):
        said = crawlrank("hosts", "--work", work, option, tmp_path / name)
        assert (said.code, f"{name} must end in ." in said.err) == (2, True)
    assert crawlrank("hosts", "--work", work, "--output", "-", "--json", "-").code == 2
    assert crawlrank("hosts", "--work", tmp_path).code == 3


def test_the_option_that_was_removed_names_another() -> None:
    said = crawlrank("hosts", "--work", finished(LOOPBACK), "--plot", "h.png")
    assert (said.code, "crawlrank report" in said.err) == (2, True)
