"""The graphs of real crawls in each format, as other programs read them, and ranked again."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.io import mmread
from scipy.sparse import csr_array
from support.crawls import ok
from support.paths import REFERENCE, SAMPLES
from support.runs import finished

import crawlrank
from crawlrank.pipeline.engines.embedded.graph_files.bvgraph import BvGraph
from crawlrank.pipeline.precedence.graph_formats import GRAPH_FORMS

pytestmark = pytest.mark.real

CRAWLS = {
    "sample": [SAMPLES / "aut-example.arc.gz", SAMPLES / "aut-example.warc.gz"],
    "several": [SAMPLES / f"several-crawls/crawl-{n}.warc.gz" for n in (1, 2, 3, 4)],
    "ics": [REFERENCE / "archives" / "ics-uci"],
}
ENDINGS = {"edges": "tsv.gz", "adjacency-parquet": "parquet", "bvgraph": "graph"}


@cache
def work_of(name: str) -> Path:
    if not all(path.exists() for path in CRAWLS[name]):
        pytest.skip(f"no {name}: see shared/reference")
    return finished(*CRAWLS[name], "--no-validate")


def rows_of(work: Path, path: Path) -> list[dict[str, Any]]:
    """The pages with a score, as exported to a file."""
    ok("export", work, "--format", "jsonl", "--output", path)
    rows = map(json.loads, path.read_bytes().splitlines())
    return [row for row in rows if row["position"]]


def pages_of(work: Path, folder: Path) -> list[dict[str, Any]]:
    """The same in the order of their keys."""
    ids = {key: n for n, key in enumerate(crawlrank.open(work).keys()["key"].to_pylist())}
    return sorted(rows_of(work, folder / "pages.jsonl"), key=lambda row: ids[row["key"]])


def matrix_of(work: Path) -> csr_array:
    """Of all nodes of the run, by its own arrays."""
    sources, targets = crawlrank.open(work).edges()
    nodes = crawlrank.open(work).keys().num_rows
    return csr_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(nodes, nodes))


def of_networkx(read: Callable[[Path], nx.DiGraph]) -> Callable[[Path], csr_array]:
    return lambda path: nx.to_scipy_sparse_array(read(path), dtype=np.int8, weight=None)


def of_edges(path: Path) -> csr_array:
    """In the order of the pages in the list beside."""
    pages = [row["url"] for row in json.loads(path.with_name("pages.json").read_text())]
    web = nx.read_edgelist(path, delimiter="\t", create_using=nx.DiGraph, comments=None)
    web.add_nodes_from(pages)
    return nx.to_scipy_sparse_array(web, pages, dtype=np.int8)


def of_lists(path: Path) -> csr_array:
    lists = pq.read_table(path, columns=["links"])["links"].to_pylist()
    return csr_array(
        (
            np.ones(sum(map(len, lists)), np.int8),
            np.array([to for each in lists for to in each], np.int64),
            np.cumsum([0, *map(len, lists)]),
        ),
        shape=(len(lists), len(lists)),
    )


def of_bits(path: Path) -> csr_array:
    targets, sources = (np.concatenate(each) for each in zip(*BvGraph(path).pairs(), strict=True))
    nodes = BvGraph(path).properties.nodes
    return csr_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(nodes, nodes))


READ: dict[str, Callable[[Path], csr_array]] = {
    "graphml": of_networkx(nx.read_graphml),
    "gexf": of_networkx(nx.read_gexf),
    "mtx": lambda path: csr_array(mmread(path), dtype=np.int8),
    "edges": of_edges,
    "adjacency-parquet": of_lists,
    "bvgraph": of_bits,
}


def test_every_format_is_read() -> None:
    assert READ.keys() == {*GRAPH_FORMS}


@pytest.mark.parametrize("form", READ)
@pytest.mark.parametrize("name", CRAWLS)
def test_links_are_those_of_the_run_and_scores_come_back(
    name: str, form: str, tmp_path: Path
) -> None:
    work, path = work_of(name), tmp_path / f"graph.{ENDINGS.get(form, form)}"
    pages = pages_of(work, tmp_path)
    (tmp_path / "pages.json").write_text(json.dumps(pages))
    ok("export", work, "--format", form, "--output", path)
    whole, read = matrix_of(work), READ[form](path)
    assert read.shape == whole.shape == (len(pages), len(pages))
    assert (read != whole).nnz == 0
    back = tmp_path / "back"
    ok("run", path, "--work", back, "--no-validate", "--quiet")
    again = {row["key"]: row for row in rows_of(back, tmp_path / "back.jsonl")}
    for page in pages:
        if form == "edges" and not (page["links_in"] or page["links_out"]):
            continue  # which has no line
        other = again[page["key"]]
        off = abs(other["score"] - page["score"])
        assert off <= page["score_error"] + other["score_error"], page["key"]
