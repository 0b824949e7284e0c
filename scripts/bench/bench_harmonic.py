"""Harmonic centrality by crawlrank and by others, on the same graphs in one run.

    scripts/bench/bench_harmonic.py [--edges 1,10] [--graph FOLDER] [--webgraph PROGRAM]

Exact: of a number of pages that follow each other by crawlrank, whose searches share work with
those of their neighbours, and of the same number of pages by igraph; both as CPU seconds for all
pages with links. Estimated: HyperBall with the same registers by crawlrank and by the program
`webgraph-dist` of the crate webgraph-cli, where its `webgraph` is named. All with one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from synthetic import web_like

from crawlrank.pipeline.data.csr import Csr, open_csr
from crawlrank.pipeline.ranking.harmonic import hyperball
from crawlrank.pipeline.ranking.harmonic.distances import LANES, Searches
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.solution import Problem

SEARCHES = 20  # of LANES pages each
PAGES = 50  # of igraph
LOG2M = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", default="1,10", help="millions of edges of made graphs")
    parser.add_argument("--graph", type=Path, action="append", default=[], help="a graph dataset")
    parser.add_argument("--webgraph", help="the program of webgraph-cli")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    rows = []
    made = [float(part) for part in options.edges.split(",") if part]
    for source in [*options.graph, *made]:
        csr = open_csr(source) if isinstance(source, Path) else made_graph(source)
        name = source.name if isinstance(source, Path) else f"made, {source:g} million edges"
        row = {"graph": name, "nodes": csr.nodes, "edges": csr.edges, **measured(csr, options)}
        rows.append(row)
        print(json.dumps(row), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


def made_graph(millions: float) -> Csr:
    nodes, sources, targets = web_like(round(millions * 1_000_000))
    order = np.lexsort((sources, targets))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(targets, minlength=nodes))))
    outdegrees = np.bincount(sources, minlength=nodes).astype(np.uint32)
    return Csr(offsets.astype(np.int64), sources[order].astype(np.uint32), outdegrees)


def measured(csr: Csr, options: argparse.Namespace) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    linked = np.flatnonzero(np.diff(csr.offsets))
    whole = len(linked)
    begins = rng.choice(max(1, whole - LANES), min(SEARCHES, 1 + whole // LANES), replace=False)
    batches = [linked[begin : begin + LANES] for begin in begins]
    search = Searches(csr)
    search.sums(linked[:1])  # compiles
    ours = cpu(lambda: [search.sums(batch) for batch in batches])
    exact = ours / sum(map(len, batches)) * whole
    row: dict[str, Any] = {"exact": exact}
    chosen = rng.choice(linked, min(PAGES, whole), replace=False)
    row["igraph"] = of_igraph(csr, chosen) / len(chosen) * whole
    row["exact ratio"] = row["igraph"] / exact
    problem = Problem(csr, Stop(), 1, 1 << 40)
    hyperball.solve(Problem(csr, Stop(iterations=1), 1, 1 << 40), LOG2M, 0)  # compiles
    row["hyperball"] = cpu(lambda: hyperball.solve(problem, LOG2M, 0))
    if options.webgraph:
        row["webgraph"] = of_webgraph(csr, options.webgraph)
        row["hyperball ratio"] = row["webgraph"] / row["hyperball"]
    return row


def cpu(work: Any) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def of_igraph(csr: Csr, pages: Any) -> float:
    import igraph  # only here

    graph = igraph.Graph(n=csr.nodes, edges=pairs_of(csr), directed=True)
    return cpu(lambda: graph.harmonic_centrality(pages.tolist(), mode="in", normalized=False))


def pairs_of(csr: Csr) -> Any:
    targets = np.repeat(np.arange(csr.nodes), np.diff(csr.offsets))
    return np.column_stack((csr.sources.astype(np.int64), targets))


def of_webgraph(csr: Csr, program: str) -> float:
    """CPU seconds of HyperBall alone, with both directions of the links, which it uses towards its
    end: the graphs are written before. The program reads links by source, so it gets those of the
    reversed graph."""
    with tempfile.TemporaryDirectory(prefix="bench-harmonic-") as name:
        graph, reverse = Path(name) / "graph", Path(name) / "reverse"
        pairs = pairs_of(csr)
        for path, (source, target) in {graph: (1, 0), reverse: (0, 1)}.items():
            ordered = pairs[np.lexsort((pairs[:, target], pairs[:, source]))]
            arcs = "\n".join(f"{row[source]}\t{row[target]}" for row in ordered.tolist())
            call([program, "from", "arcs", "--num-nodes", str(csr.nodes), str(path)], arcs)
            for what in ("ef", "dcf"):
                call([program, "build", what, str(path)])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [f"--log2m={LOG2M}", "--num-threads=1", f"--harmonic={graph}.harmonic"]
        call([f"{program}-dist", "hyperball", str(graph), str(reverse), *words])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def call(command: list[str], text: str = "") -> None:
    around = {**os.environ, "RAYON_NUM_THREADS": "1"}
    subprocess.run(command, input=text, text=True, check=True, capture_output=True, env=around)


if __name__ == "__main__":
    main()
