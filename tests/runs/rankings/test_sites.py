"""`--method site` on whole crawls, against the links in text, collapsed by plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from support.crawls import crawlrank, ok
from support.inputs.samples import needs_reference
from support.paths import REFERENCE, SAMPLES
from support.runs import copy_of, finished, shared_warc

from crawlrank.jobs.kernel.keys.keys import key_of

SITE = ("--method", "site")
#: page -> links; sites that only one of --site-by host and domain tells apart
WEB = {
    "http://bbc.co.uk/": [
        "/a",
        "http://news.bbc.co.uk/",
        "http://ox.ac.uk/",
        "http://p.github.io/",
    ],
    "http://bbc.co.uk/a": ["http://ox.ac.uk/", "http://ox.ac.uk/b", "http://news.bbc.co.uk/"],
    "http://news.bbc.co.uk/": ["http://bbc.co.uk/", "http://news.bbc.co.uk:8080/"],
    "http://news.bbc.co.uk:8080/": ["http://q.github.io/", "http://10.0.0.1:81/"],
    "http://ox.ac.uk/": ["/b", "http://bbc.co.uk/", "http://[2001:db8::1]/"],
    "http://ox.ac.uk/b": ["/", "http://www.bücher.de/"],
    "http://p.github.io/": ["http://q.github.io/", "http://10.0.0.1/", "http://bbc.co.uk/a"],
    "http://q.github.io/": ["http://p.github.io/", "http://shop.bücher.de/"],
    "http://10.0.0.1/": ["http://10.0.0.1:81/", "http://q.github.io/"],
    "http://shop.bücher.de/": ["http://www.bücher.de/", "http://[2001:db8::1]/"],
}
#: of each host: its name and its domain
HOSTS = {
    "http://bbc.co.uk/": ("bbc.co.uk", "bbc.co.uk"),
    "http://news.bbc.co.uk/": ("news.bbc.co.uk", "bbc.co.uk"),
    "http://news.bbc.co.uk:8080/": ("news.bbc.co.uk:8080", "bbc.co.uk"),
    "http://ox.ac.uk/": ("ox.ac.uk", "ox.ac.uk"),
    "http://p.github.io/": ("p.github.io", "p.github.io"),
    "http://q.github.io/": ("q.github.io", "q.github.io"),
    "http://10.0.0.1/": ("10.0.0.1", "10.0.0.1"),
    "http://10.0.0.1:81/": ("10.0.0.1:81", "10.0.0.1"),
    "http://[2001:db8::1]/": ("2001:db8::1", "2001:db8::1"),
    "http://www.bücher.de/": ("xn--bcher-kva.de", "xn--bcher-kva.de"),
    "http://shop.bücher.de/": ("shop.xn--bcher-kva.de", "xn--bcher-kva.de"),
}


def part_of(key: str) -> str:
    return key.partition(")")[0]


def name_of(by: str) -> Callable[[str], str]:
    """The site of a key of WEB."""
    names = {}
    for uri, sites in HOSTS.items():
        key = key_of(uri.encode())
        assert key is not None
        names[part_of(key.decode())] = sites[by == "domain"]
    return lambda key: names[part_of(key)]


def links_of(work: Path, out: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """The keys of the nodes, and the edges between them as (source, target), from text."""
    ok("export", "--format", "text", "--work", work, "--out", out)
    keys = [line.split(" ")[1] for line in (out / "map.txt").read_text().splitlines()]
    edges = []
    for line in (out / "pr0.txt").read_text().splitlines():
        node, _, targets = line.split("\t")
        if node != "dummy" and targets != "O:dummy":
            edges += [(keys[int(node)], keys[int(t)]) for t in targets[2:].split(",")]
    return keys, edges


def collapsed(
    keys: list[str], edges: list[tuple[str, str]], site: Callable[[str], str], weight: str
) -> dict[str, dict[str, Any]]:
    """The table of sites, with networkx's PageRank."""
    links, pages = Counter[tuple[str, str]](), defaultdict(set)
    for source, target in edges:
        if site(source) != site(target):
            links[site(source), site(target)] += 1
            pages[site(source), site(target)].add(source)
    net = nx.DiGraph()
    net.add_nodes_from(map(site, keys))
    for pair, count in links.items():
        net.add_edge(*pair, weight={"count": count, "distinct": len(pages[pair]), "one": 1}[weight])
    scores = nx.pagerank(net, 0.85, tol=1e-15, max_iter=5000, weight="weight")
    return {
        name: {
            "pages": sum(site(key) == name for key in keys),
            "links_in": sum(count for (_, to), count in links.items() if to == name),
            "links_out": sum(count for (of, _), count in links.items() if of == name),
            "sites_in": net.in_degree(name),
            "sites_out": net.out_degree(name),
            "share": pytest.approx(scores[name], rel=1e-8),
        }
        for name in net
    }


def table_of(work: Path, label: str = "site") -> dict[str, dict[str, Any]]:
    rows = pq.read_table(work / "rankings" / label / "ranks" / "sites.parquet").to_pylist()
    assert [row["site"] for row in rows] == sorted(row["site"] for row in rows)
    return {row.pop("site"): row for row in rows}


def scores_of(work: Path, label: str = "site") -> dict[str, float]:
    folder = work / "rankings" / label / "scores"
    rows = pq.read_table(folder, columns=["key", "score"]).to_pylist()
    return {row["key"]: row["score"] for row in rows}


@pytest.fixture
def archive() -> Path:
    return shared_warc("sites.warc.gz", WEB)


@pytest.fixture
def web(archive: Path, tmp_path: Path) -> Path:
    return copy_of(finished(archive, "--nodes", "all"), tmp_path / "web")


@pytest.mark.slow
def test_sites_are_those_of_the_links_in_text(web: Path, tmp_path: Path) -> None:
    """And weights and sites matter: the shares of a site are others with each."""
    keys, edges = links_of(web, tmp_path / "text")
    shares = set()
    for by, weight in product(("host", "domain"), ("count", "distinct", "one")):
        label = f"{by}-{weight}"
        options = ("--site-by", by, "--site-weight", weight, "--tolerance", 1e-11, "--quiet")
        ok("rank", "--work", web, "--name", label, *SITE, *options)
        got, want = table_of(web, label), collapsed(keys, edges, name_of(by), weight)
        scores = {name: row.pop("score") for name, row in got.items()}
        assert got == want
        assert len(got) == (11 if by == "host" else 7)
        assert {key: scores[name_of(by)(key)] for key in keys} == scores_of(web, label)
        assert sum(row["share"] for row in got.values()) == pytest.approx(1)
        shares.add(round(got["ox.ac.uk"]["share"], 6))
    assert len(shares) == 6


@pytest.mark.slow
def test_a_run_may_rank_sites(tmp_path: Path, web: Path, archive: Path) -> None:
    """Its precedence file is that of a ranking beside another run."""
    run = tmp_path / "run"
    ok("run", archive, "--work", run, "--quiet", "--nodes", "all", *SITE)
    ok("rank", "--work", web, "--name", "same", *SITE, "--quiet")
    own = web / "rankings" / "same"
    assert (run / "precedence.txt").read_bytes() == (own / "precedence.txt").read_bytes()
    ok("rank", "--work", run, "--name", "plain", "--quiet")
    assert "--site-by" not in (run / "rankings" / "plain" / "manifest.json").read_text()


@pytest.mark.slow
def test_other_sites_need_force(web: Path) -> None:
    rank = ("rank", "--work", web, "--name", "forced", *SITE, "--quiet")
    ok(*rank)
    refused = crawlrank(*rank, "--site-by", "domain")
    assert refused.code == 3
    assert "was made with --site-by host, now it is run with --site-by domain" in refused.err
    assert len(table_of(web, "forced")) == 11
    ok(*rank, "--site-by", "domain", "--force")
    assert len(table_of(web, "forced")) == 7


@pytest.mark.parametrize("option", [("--site-by", "host"), ("--site-weight", "one")])
def test_other_methods_take_no_sites(web: Path, option: tuple[str, str]) -> None:
    refused = crawlrank("rank", "--work", web, "--method", "degree", *option)
    assert refused.code == 2
    assert f"{option[0]} is not for --method degree" in refused.err


def test_jobs_rank_no_sites(tmp_path: Path, archive: Path) -> None:
    words = ("--work", tmp_path / "w", *SITE, "--runner", "inline")
    refused = crawlrank("run", archive, *words)
    assert refused.code == 2
    assert "--runner embedded" in refused.err


def test_too_few_rounds_keep_the_table(web: Path) -> None:
    rank = ("rank", "--work", web, "--name", "few", *SITE, "--quiet")
    stopped = crawlrank(*rank, "--max-rounds", 2)
    assert stopped.code == 4
    assert "PageRank of sites: after 2 rounds" in stopped.err
    assert len(table_of(web, "few")) == 11
    ok(*rank)
    rounds = ok("status", "--work", web, "--ranking", "few").out
    assert "rounds of PageRank of sites" in rounds


@pytest.mark.slow
def test_keys_that_no_uri_has(tmp_path: Path) -> None:
    """They come from text files: a key without `)` is a site of its own, with --site-by domain
    too."""
    links = [
        ("dns:www.example.org", "org,example)/"),
        ("org,example)/", "org,example,www)/a"),
        ("org,example,www)/a", "dns:www.example.org"),
        ("2001:db8::1:8080)/", "org,example)/"),
        ("org,example)/", "2001:db8::1:8080)/"),
        ("a(b", "org,example)/"),
        (")/", "org,example)/"),
    ]
    text = tmp_path / "links.txt"
    text.write_text("".join(f"{target} {source}\n" for target, source in sorted(links)))
    work = tmp_path / "work"
    ok("step", "import-text", "--work", work, "--canonical-links", text)
    ok("run", "--work", work, "--quiet")
    ok("rank", "--work", work, "--quiet", *SITE, "--site-by", "domain")
    rows = table_of(work)
    assert {name: row["pages"] for name, row in rows.items()} == {
        "": 1, "2001:db8::1:8080": 1, "a(b": 1, "dns:www.example.org": 1, "example.org": 2,
    }  # fmt: skip
    assert rows["example.org"]["links_out"] == 4


def test_a_graph_whose_ids_do_not_follow_its_keys(tmp_path: Path) -> None:
    """A site of several runs of pages has one number."""
    graph, maps = tmp_path / "graph.txt", tmp_path / "map.txt"
    graph.write_text("0\t1.0\tO:1\n1\t1.0\tO:0,2\n2\t1.0\tO:1\ndummy\t1.0\tO:dummy\n")
    maps.write_text("0 org,b)/\n1 org,a)/\n2 org,b)/x\n")
    work = tmp_path / "work"
    ok("step", "import-text", "--work", work, "--graph", graph, "--map", maps)
    ok("run", "--work", work, "--quiet")
    ok("rank", "--work", work, "--quiet", *SITE)
    rows = table_of(work)
    assert {name: (row["pages"], row["links_in"]) for name, row in rows.items()} == {
        "a.org": (1, 2), "b.org": (2, 2),
    }  # fmt: skip
    assert [row["score"] for row in rows.values()] == pytest.approx([1, 1])


def by_split(key: str) -> str:
    """`a.example:8080` of `example,a:8080)/`, of hosts that are no IPv6 addresses."""
    labels, colon, port = part_of(key).partition(":")
    return ".".join(labels.split(",")[::-1]) + colon + port


def check_host_sites(work: Path, weight: str, tmp_path: Path) -> None:
    ok("rank", "--work", work, *SITE, "--site-weight", weight, "--tolerance", 1e-11, "--quiet")
    keys, edges = links_of(work, tmp_path / "text")
    got = table_of(work)
    scores = np.array([row.pop("score") for row in got.values()])
    assert got == collapsed(keys, edges, by_split, weight)
    assert (scores > 0).all()
    assert len(np.unique(scores)) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("weight", ["count", pytest.param("distinct", marks=pytest.mark.slow)])
def test_the_sample_crawls(tmp_path: Path, weight: str) -> None:
    """The run is that of test_sample.py."""
    archives = [SAMPLES / f"aut-example.{kind}.gz" for kind in ("arc", "warc")]
    work = copy_of(finished(archives, "--iterations", 10), tmp_path / "work")
    check_host_sites(work, weight, tmp_path)
    assert len(table_of(work)) > 20


@pytest.mark.slow
@needs_reference
def test_real_hosts(tmp_path: Path) -> None:
    archive = min((REFERENCE / "archives" / "ics-uci").iterdir())
    check_host_sites(copy_of(finished(archive), tmp_path / "work"), "count", tmp_path)
