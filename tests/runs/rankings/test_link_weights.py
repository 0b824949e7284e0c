"""`--link-weight` on whole runs, against the links in text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow.parquet as pq
import pytest
from support.crawls import crawlrank, ok
from support.paths import LOOPBACK
from support.runs import copy_of, finished

HALF = ("--link-weight", "internal=0.5,external=2")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return copy_of(finished(LOOPBACK), tmp_path / "work")


def graph_of(work: Path, out: Path, internal: float, external: float) -> nx.DiGraph:
    """The graph by keys, from text."""
    ok("export", "--format", "text", "--work", work, "--out", out)
    keys = [line.split(" ")[1] for line in (out / "map.txt").read_text().splitlines()]
    net = nx.DiGraph()
    net.add_nodes_from(keys)
    for line in (out / "pr0.txt").read_text().splitlines():
        node, _, targets = line.split("\t")
        if node == "dummy" or targets == "O:dummy":
            continue
        source = keys[int(node)]
        for target in (keys[int(t)] for t in targets[2:].split(",")):
            same = source.split(")")[0] == target.split(")")[0]
            if weight := internal if same else external:
                net.add_edge(source, target, weight=weight)
    return net


def probabilities(folder: Path) -> dict[str, Any]:
    rows = pq.read_table(folder / "scores", columns=["key", "probability"]).to_pylist()
    return {row["key"]: pytest.approx(row["probability"], rel=1e-8, abs=1e-14) for row in rows}


@pytest.mark.parametrize(
    ("internal", "external"),
    [
        *((0.5, 2), (1, 0)),
        *(pytest.param(*pair, marks=pytest.mark.slow) for pair in ((0, 1), (1, 1))),
    ],
)
def test_pagerank_is_that_of_networkx(
    work: Path, tmp_path: Path, internal: float, external: float
) -> None:
    text = f"internal={internal},external={external}"
    ok(
        "rank",
        "--work",
        work,
        "--name",
        "some",
        "--link-weight",
        text,
        "--tolerance",
        1e-11,
        "--quiet",
    )
    net = graph_of(work, tmp_path / "text", internal, external)
    want = nx.pagerank(net, 0.85, tol=1e-15, max_iter=5000)
    assert want == probabilities(work / "rankings" / "some")


def test_trust_is_that_of_networkx(work: Path, tmp_path: Path) -> None:
    seed = "http://127.0.0.1:18081/"
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(f"{seed}\n")
    ok("rank", "--work", work, "--name", "trust", "--method", "trustrank", "--seeds", seeds, *HALF,
       "--tolerance", 1e-11, "--quiet")  # fmt: skip
    net = graph_of(work, tmp_path / "text", 0.5, 2)
    start = {"1,0,0,127:18081)/": 1.0}
    want = nx.pagerank(net, 0.85, start, tol=1e-15, max_iter=5000, dangling=start)
    assert want == probabilities(work / "rankings" / "trust")


@pytest.mark.slow
def test_a_run_may_weigh_links_and_opic_is_left_out(tmp_path: Path, work: Path) -> None:
    ok("run", LOOPBACK, "--work", tmp_path / "own", "--quiet", *HALF)
    ok("rank", "--work", work, "--name", "half", *HALF, "--quiet")
    for name in ("precedence.txt", "precedence.summary.json"):
        own, beside = tmp_path / "own" / name, work / "rankings" / "half" / name
        assert own.read_bytes() == beside.read_bytes()
    assert not (tmp_path / "own" / "report").exists()
    status = ok("status", "--work", tmp_path / "own").out
    assert "validate-opic" not in status
    ok("rank", "--work", tmp_path / "own", "--name", "plain", "--quiet")
    assert (tmp_path / "own" / "rankings" / "plain" / "report").is_dir()


@pytest.mark.slow
def test_weights_change_the_ranking_and_need_force(work: Path) -> None:
    ok("rank", "--work", work, "--name", "forced", *HALF, "--quiet")
    refused = crawlrank("rank", "--work", work, "--name", "forced", "--link-weight",
                        "internal=1,external=9", "--quiet")  # fmt: skip
    assert refused.code == 3
    assert "--link-weight internal=0.5,external=2.0" in refused.err
    before = (work / "rankings" / "forced" / "ranks" / "scores.npy").read_bytes()
    ok("rank", "--work", work, "--name", "forced", "--link-weight", "internal=9,external=1",
       "--quiet", "--force")  # fmt: skip
    assert (work / "rankings" / "forced" / "ranks" / "scores.npy").read_bytes() != before


def test_explain_adds_up(work: Path, tmp_path: Path) -> None:
    """And says what links of each kind give."""
    ok("rank", "--work", work, "--name", "shown", "--link-weight", "internal=0.5,external=2",
       "--tolerance", 1e-12, "--quiet")  # fmt: skip
    output = tmp_path / "shown.json"
    ok("explain", "--work", work, "--ranking", "shown", "http://127.0.0.2:18082/p0.html",
       "--links", 99, "--json", output)  # fmt: skip
    page = json.loads(output.read_text())
    assert page["base"] + sum(link["gives"] for link in page["given"]) == pytest.approx(
        page["score"], rel=1e-10
    )
    net = graph_of(work, tmp_path / "text", 0.5, 2)
    target = "2,0,0,127:18082)/p0.html"
    sums = {key: net.out_degree(key, weight="weight") for key in net}
    weights = [net.edges[edge]["weight"] / sums[edge[0]] for edge in net.in_edges(target)]
    ratios = [link["gives"] / link["score"] / 0.85 for link in page["given"]]
    assert sorted(ratios) == pytest.approx(sorted(weights), rel=1e-9)
    assert {net.edges[edge]["weight"] for edge in net.in_edges(target)} == {0.5, 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "degree", *HALF), "--link-weight is not for --method degree"),
        (("--method", "site", *HALF), "--link-weight is not for --method site"),
        (("--link-weight", "internal=0,external=0"), "both weights are 0"),
        (("--link-weight", "inside=2"), "internal=WEIGHT or external=WEIGHT"),
    ],
)
def test_what_is_refused(work: Path, options: tuple[str, ...], message: str) -> None:
    refused = crawlrank("rank", "--work", work, "--name", "none", *options)
    assert refused.code == 2
    assert message in " ".join(refused.err.split())


def test_jobs_weigh_no_links(tmp_path: Path) -> None:
    refused = crawlrank("run", LOOPBACK, "--work", tmp_path / "w", *HALF, "--runner", "inline")
    assert refused.code == 2
    assert "--link-weight is for --runner embedded" in refused.err
