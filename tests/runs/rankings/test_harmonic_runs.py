"""`--method harmonic` and `site-harmonic` on whole crawls, against networkx."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import networkx as nx
import pyarrow.parquet as pq
import pytest
from support.crawls import crawlrank, ok
from support.paths import LOOPBACK
from support.runs import copy_of, finished, ranked, shared_warc

from crawlrank.pipeline.analysis.common_crawl_ranks import reversed_name

#: page -> links: hosts of one domain, a page that leads nowhere, and one that nothing leads to
WEB = {
    "http://a.example.org/": ["/1", "http://example.org/", "http://b.example.org:81/"],
    "http://a.example.org/1": ["/", "http://other.example/"],
    "http://example.org/": ["http://a.example.org/1", "http://third.example/x"],
    "http://b.example.org:81/": ["http://example.org/"],
    "http://other.example/": ["http://third.example/x", "/2"],
    "http://other.example/2": ["/"],
    "http://alone.example/": ["http://other.example/2"],
}


def web_of(work: Path, folder: Path) -> nx.DiGraph:
    """The graph of keys, by the text files of the run."""
    ok("export", "--format", "text", "--work", work, "--out", folder)
    keys = dict(line.split(" ", 1) for line in (folder / "map.txt").read_text().splitlines())
    web = nx.DiGraph()
    web.add_nodes_from(keys.values())
    for line in (folder / "pr0.txt").read_text().splitlines():
        source, _, targets = line.split("\t")
        if source != "dummy" and targets != "O:dummy":
            web.add_edges_from((keys[source], keys[each]) for each in targets[2:].split(","))
    return web


def scores_of(folder: Path, ranking: str = "harmonic") -> dict[str, float]:
    path = folder / "rankings" / ranking / "scores" / "scores.parquet"
    table = pq.read_table(path, columns=["key", "score"])
    return dict(zip(table["key"].to_pylist(), table["score"].to_pylist(), strict=True))


def test_scores_are_those_of_networkx(tmp_path: Path) -> None:
    work = ranked(finished(LOOPBACK), "--method", "harmonic")
    web = web_of(work, tmp_path / "text")
    assert scores_of(work) == pytest.approx(nx.harmonic_centrality(web), rel=1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize("by", ["host", "domain"])
def test_sites(by: str, tmp_path: Path) -> None:
    work = ranked(
        finished(shared_warc("near.warc.gz", WEB)), "--method", "site-harmonic", "--site-by", by
    )
    web, sites = web_of(work, tmp_path / "text"), nx.DiGraph()

    def site(key: str) -> str:
        host, _, port = key.partition(")")[0].partition(":")
        names = host.split(",")
        return ",".join(names[:2]) if by == "domain" else f"{host}:{port}"

    sites.add_nodes_from(map(site, web))
    sites.add_edges_from((site(s), site(t)) for s, t in web.edges if site(s) != site(t))
    expected = nx.harmonic_centrality(sites)
    assert scores_of(work, "site-harmonic") == pytest.approx(
        {key: expected[site(key)] for key in web}, rel=1e-12
    )
    ok(
        "export",
        work,
        "--ranking",
        "site-harmonic",
        "--format",
        "sites",
        "--output",
        tmp_path / "s.csv",
    )
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 1 + len(sites)


def cc_ranks(work: Path) -> list[dict[str, str]]:
    lines = ok("export", work, "--format", "cc-ranks").out.splitlines()
    return [*csv.DictReader(lines, delimiter="\t")]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("by", ["host", "domain"])
def test_ranks_as_common_crawl_has_them(by: str, tmp_path: Path) -> None:
    work = finished(shared_warc("near.warc.gz", WEB))
    for method in ("site-harmonic", "site"):
        work = ranked(work, "--method", method, "--site-by", by)
    rows = cc_ranks(work)
    assert [int(row["#harmonicc_pos"]) for row in rows] == [*range(1, len(rows) + 1)]
    of_method = {}
    for method in ("site-harmonic", "site"):
        output = tmp_path / f"{method}.csv"
        ok("export", work, "--ranking", method, "--format", "sites", "--output", output)
        with output.open(newline="") as file:
            of_method[method] = {row["site"]: row for row in csv.DictReader(file)}
    names = {reversed_name(site): site for site in of_method["site"]}
    assert {row["#host_rev"] for row in rows} == names.keys()
    for row in rows:
        near, far = (of_method[m][names[row["#host_rev"]]] for m in ("site-harmonic", "site"))
        assert (row["#harmonicc_pos"], row["#harmonicc_val"]) == (near["position"], near["score"])
        assert (row["#pr_pos"], row["#pr_val"]) == (far["position"], far["share"])
    assert sum(float(row["#pr_val"]) for row in rows) == pytest.approx(1)
    if by == "domain":
        hosts = {row["#host_rev"]: int(row["#n_hosts"]) for row in rows}
        assert (hosts["org.example"], hosts["example.other"]) == (3, 1)
    else:
        assert "org.example.b:81" in names and "#n_hosts" not in rows[0]
    packed = tmp_path / "ranks.txt.gz"
    ok("export", work, "--format", "cc-ranks", "--output", packed)
    assert gzip.decompress(packed.read_bytes()).decode().splitlines()[1].split("\t")[0] == "1"


@pytest.mark.slow
def test_ranks_need_two_rankings(tmp_path: Path) -> None:
    work = copy_of(finished(shared_warc("near.warc.gz", WEB)), tmp_path / "work")
    ask = ("export", work, "--format", "cc-ranks", "--output", tmp_path / "r.tsv")
    for method, by in (("site-harmonic", "domain"), ("site", "host"), ("site", "domain")):
        said = crawlrank(*ask)
        missing = "site-harmonic" if method == "site-harmonic" else "site"
        assert (said.code, f"no ranking by --method {missing}" in said.err) == (3, True), said
        name = f"{method}-{by}"
        ok("rank", work, "--method", method, "--site-by", by, "--name", name, "--quiet")
    assert crawlrank(*ask).code == 0
    ok("rank", work, "--method", "site-harmonic", "--name", "second", "--quiet")
    said = crawlrank(*ask)
    assert (said.code, "the rankings second, site-harmonic-domain" in said.err) == (3, True), said
    assert crawlrank(*ask, "--ranking", "second").code == 0
    of_domains = ok(*ask[:-2], "--ranking", "site-harmonic-domain").out
    assert ok(*ask[:-2], "--ranking", "site-domain").out == of_domains
    weighted = ("--site-by", "domain", "--site-weight", "one", "--name", "third", "--quiet")
    ok("rank", work, "--method", "site", *weighted)
    said = crawlrank(*ask, "--ranking", "site-harmonic-domain")
    assert (said.code, "Name one of them with --ranking" in said.err) == (3, True), said
    assert ok(*ask[:-2], "--ranking", "third").out.startswith("#harmonicc_pos")
    assert crawlrank(*ask, "--status", "200").code == 2


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("news.bbc.co.uk:8080", "uk.co.bbc.news:8080"),
        ("127.0.0.1:81", "127.0.0.1:81"),
        ("2001:db8::1", "2001:db8::1"),
        ("localhost", "localhost"),
    ],
)
def test_names_from_the_end(name: str, expected: str) -> None:
    assert reversed_name(name) == expected


def test_explain_says_how_near_others_are(tmp_path: Path) -> None:
    work = ranked(finished(shared_warc("near.warc.gz", WEB)), "--method", "harmonic")
    page = "http://third.example/x"
    words = ("explain", "--work", work, "--ranking", "harmonic", page)
    document = json.loads(ok(*words, "--json", "-").out)
    web = web_of(work, tmp_path / "text")
    (key,) = [key for key in web if key.startswith("example,third)")]
    distances = [*nx.single_source_shortest_path_length(web.reverse(), key).values()]
    assert document["reach"] == len(distances) - 1
    assert document["closeness"] == pytest.approx(1 / sum(distances))
    told = ok(*words).out
    assert f"pages that lead to it  {len(distances) - 1}\n" in told
    assert "their mean distance" in told


def test_an_estimate_has_its_error(tmp_path: Path) -> None:
    work = copy_of(ranked(finished(LOOPBACK), "--method", "harmonic"), tmp_path / "work")
    options = ("--method", "harmonic", "--log2m", 12, "--name", "near")
    said = ok("rank", "--work", work, *options)
    assert "near-boundary" in said.out + said.err
    exact, near = scores_of(work), scores_of(work, "near")
    eta = 3 * 1.04 / 64
    assert near == {key: pytest.approx(score, rel=eta) for key, score in exact.items()}
    status = ok("status", "--work", work, "--ranking", "near").out
    assert f"{eta:.3e}" in status and "not known" in status
    more = crawlrank("rank", "--work", work, *options[:3], 9, "--name", "near")
    assert (more.code, "--force" in more.err) == (3, True)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--method", "harmonic", "--log2m", 5), "--log2m"),
        (("--method", "harmonic", "--log2m", 15), "--log2m"),
        (("--method", "degree", "--log2m", 8), "--log2m is not for --method degree"),
        (("--method", "harmonic", "--site-by", "host"), "--site-by is not for --method harmonic"),
    ],
)
def test_what_is_refused(options: tuple[object, ...], why: str) -> None:
    said = crawlrank("rank", "--work", finished(LOOPBACK), *options)
    assert (said.code, why in said.err) == (2, True), said


@pytest.mark.slow
def test_jobs_have_no_such_ranking(tmp_path: Path) -> None:
    said = crawlrank(
        "run", LOOPBACK, "--work", tmp_path / "w", "--runner", "inline", "--method", "harmonic"
    )
    assert (said.code, "harmonic" in said.err) == (2, True)
    work = finished(LOOPBACK, "--runner", "inline")
    said = crawlrank("rank", work, "--method", "harmonic")
    assert (said.code, "rank in the run" in said.err) == (3, False), said
    assert "crawlrank run --runner embedded" in said.err
