"""The sample crawl on which programs are tried: its links, and scores by plain algebra."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from fetching import program

from graph_programs import through_gephi

ARCHIVE = Path(__file__).resolve().parents[2] / "sample_data" / "heritrix-loopback.warc.gz"
DAMPING, NEAR = 0.85, 1e-5
WEBGRAPH_CLASS, LAW_CLASS = "it.unimi.dsi.webgraph", "it.unimi.dsi.law"
Arcs = set[tuple[int, int]]


class Sample:
    """The sample crawl of three hosts: its pages, its links as numbers of pages, and scores by
    plain algebra and searches. jar: of cc-webgraph."""

    def __init__(self, folder: Path, jar: Path) -> None:
        self.folder, self.jar, self.work = folder, jar, folder / "work"
        run("run", ARCHIVE, "--work", self.work, "--no-validate")
        with (self.exported("graph").parent / "own.nodes.csv").open(newline="") as lines:
            self.pages = [row["url"] for row in csv.DictReader(lines)]
        self.numbers = {page: number for number, page in enumerate(self.pages)}
        lines_of_edges = self.exported("tsv", "--format", "edges").read_text().splitlines()
        self.arcs = self.numbered(line.split("\t") for line in lines_of_edges)
        self.web = nx.DiGraph(sorted(self.arcs))
        self.web.add_nodes_from(range(len(self.pages)))

    def path(self, name: str) -> Path:
        return self.folder / name

    def exported(self, ending: str, *options: str, name: str = "own") -> Path:
        run("export", self.work, *options, "--output", self.path(f"{name}.{ending}"))
        return self.path(f"{name}.{ending}")

    def numbered(self, links: Iterable[Iterable[Any]]) -> Arcs:
        return {(self.numbers[source], self.numbers[target]) for source, target in links}

    def require(self, links: Iterable[Iterable[Any]]) -> None:
        """Links between addresses are those of the sample."""
        wants(self.numbered(links) == self.arcs)

    def pagerank(self, teleport: Sequence[float] | None = None) -> list[float]:
        """Readers of pages without links continue where others begin."""
        n = len(self.pages)
        matrix, v = np.zeros((n, n)), np.array(teleport or [1 / n] * n)
        for source, target in self.arcs:
            matrix[target, source] = 1 / self.web.out_degree(source)
        matrix[:, [node for node in self.web if not self.web.out_degree(node)]] = v[:, None]
        return [*map(float, np.linalg.solve(np.eye(n) - DAMPING * matrix, (1 - DAMPING) * v))]

    @cached_property
    def harmonic(self) -> list[float]:
        """Of the distances to a page."""
        lengths = dict(nx.all_pairs_shortest_path_length(self.web.reverse()))
        return [sum(1 / d for d in lengths[node].values() if d) for node in sorted(self.web)]

    @cached_property
    def authorities(self) -> list[float]:
        matrix = nx.to_numpy_array(self.web, nodelist=sorted(self.web))
        return [*map(float, np.abs(np.linalg.eigh(matrix.T @ matrix)[1][:, -1]))]

    @cached_property
    def cash(self) -> list[float]:
        """The share of all cash that passes through each page, with a page that all link to and
        that links to all."""
        n = len(self.pages)
        web = nx.DiGraph(
            [*self.arcs, *((page, n) for page in range(n)), *((n, page) for page in range(n))]
        )
        matrix = nx.to_numpy_array(web, nodelist=range(n + 1))
        moves = (matrix / matrix.sum(1, keepdims=True)).T - np.eye(n + 1)
        moves[n] = 1
        return [*map(float, np.linalg.solve(moves, np.eye(n + 1)[n])[:n])]

    def of_gephi(self, column: str, *, reverse: bool = False) -> list[float]:
        """What its statistics compute of each page."""
        path = self.path("reverse.gexf" if reverse else "forward.gexf")
        nx.write_gexf(self.web.reverse() if reverse else self.web, path)
        nodes = through_gephi(path, statistics=True).nodes
        return [float(nodes[str(node)][column]) for node in range(len(self.pages))]

    def java(self, *words: object) -> str:
        line = [program("java"), "-cp", str(self.jar), *map(str, words)]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    @cached_property
    def bvgraph(self) -> Path:
        """BASE of BASE.graph, which cc-webgraph writes of text, and of its transpose BASE-t."""
        text, base = self.path("arcs.txt"), self.path("cc")
        text.write_text("".join(f"{source}\t{target}\n" for source, target in sorted(self.arcs)))
        self.java(f"{WEBGRAPH_CLASS}.BVGraph", "-g", "ArcListASCIIGraph", text, base)
        self.java(f"{WEBGRAPH_CLASS}.Transform", "transpose", base, f"{base}-t")
        return base

    def cc_scores(self, kind: str, path: Path) -> list[float]:
        text = self.java(f"{LAW_CLASS}.io.tool.DataInput2Text", "--type", kind, path, "-")
        return [*map(float, text.split())]


def run(*words: object) -> None:
    """A command of crawlrank."""
    line = [sys.executable, "-m", "crawlrank", *map(str, words)]
    subprocess.run(line, check=True, capture_output=True)


def wants(is_so: object) -> None:
    if not is_so:
        raise ValueError("it comes to another result")


def near(scores: Iterable[float], wanted: Sequence[float], tolerance: float = NEAR) -> None:
    """In whatever unit."""
    one, other = np.array([*scores], float), np.array(wanted)
    wants(np.allclose(one / one.sum(), other / other.sum(), tolerance, tolerance / len(one)))
