"""PageRank to the same certified error by crawlrank and others, on the same graphs in one run.

    scripts/bench/bench_rank.py [--edges 1,10] [--graph pr0.txt] [--peers igraph,…] [--json FILE]

Each peer is a process of its own, with one thread unless --threads says more: OpenMP's threads spin
while they wait, so that igraph with two of them takes several times the processor's seconds. CPU
seconds are the least of the repeats; compiling and, but for the rows of Parquet, loading are not
counted. The certificate is ours of the peer's vector, about the probabilities, since scales differ;
what misses the tolerance is marked. Needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rank_peers import RANKING, WITH_LOADING, crawlrank
from synthetic import web_like

from crawlrank.pipeline.data.csr import id_type
from crawlrank.pipeline.data.graph import Graph, read_graph
from crawlrank.pipeline.ranking.certificate import certificate

TOLERANCE = 1e-9
ROW_GROUP = 1 << 20
AT_MOST = {"jobs": 300_000, "networkx": 20_000_000}  # edges beyond which a peer takes too long
ONCE = ("jobs", "networkx")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", default="1,10", help="millions of edges of made graphs")
    parser.add_argument("--graph", type=Path, action="append", default=[], help="a graph dataset")
    parser.add_argument("--peers", default=",".join([*RANKING, *WITH_LOADING]))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--one", nargs=2, metavar=("PEER", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, folder = options.one
        print(json.dumps(measured(name, Path(folder), options.threads, options.repeats)))
        return
    told = []
    for source in [*options.graph, *(float(part) for part in options.edges.split(",") if part)]:
        with tempfile.TemporaryDirectory(prefix="bench-rank-") as tmp:
            told.append(compared(source, Path(tmp), options))
    if options.json:
        machine = {"python": platform.python_version(), "processor": platform.processor()}
        figures = {"tolerance": TOLERANCE, "threads": options.threads, "machine": machine}
        options.json.write_text(json.dumps({**figures, "graphs": told}, indent=1) + "\n")


def compared(source: Path | float, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Prints the table of one graph and returns its figures."""
    about = made(source, folder)
    print(f"\n{about['name']}: {about['nodes']:,} nodes, {about['edges']:,} edges,", end=" ")
    print(f"{about['dangling'] / about['nodes']:.0%} dangling")
    print("peer                   CPU s  ratio  certificate  compiling s  peak MB", flush=True)
    rows: dict[str, Any] = {}
    for name in options.peers.split(","):
        if about["edges"] > AT_MOST.get(name, sys.maxsize):
            continue
        repeats = 1 if name in ONCE else options.repeats
        command = [sys.executable, __file__, "--one", name, str(folder)]
        command += ["--threads", str(options.threads), "--repeats", str(repeats)]
        threads = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=threads)
        rows[name] = row = json.loads(done.stdout)
        ours = rows.get("crawlrank_parquet" if name in WITH_LOADING else "crawlrank", row)
        row["ratio"] = row["cpu_seconds"] / ours["cpu_seconds"]
        mark = " " if row["certificate"] <= TOLERANCE else "!"
        print(
            f"{name:18}{row['cpu_seconds']:10.3f}{row['ratio']:7.1f}{row['certificate']:12.1e}{mark}"
            f"{row['compiling']:13.1f}{row['peak_mb']:9.0f}",
            flush=True,
        )
    return {**about, "peers": rows}


def made(source: Path | float, folder: Path) -> dict[str, Any]:
    """A graph in all forms that peers load."""
    started = time.perf_counter()
    if isinstance(source, Path):
        graph = read_graph(source)
        nodes, targets = graph.nodes, graph.targets.astype(np.int64)
        sources = np.repeat(np.arange(nodes), graph.outdegrees)
        name = source.name
    else:
        nodes, sources, targets = web_like(int(source * 1e6))
        name = f"made, {source:g} million"
    np.save(folder / "edges.npy", np.stack((sources, targets)))
    ids = id_type(nodes)
    columns = {"source": sources.astype(ids), "target": targets.astype(ids)}
    pq.write_table(
        pa.table(columns), folder / "edges.parquet", compression="zstd", row_group_size=ROW_GROUP
    )
    (folder / "graph").mkdir()
    outdegrees, indegrees = (np.bincount(ends, minlength=nodes) for ends in (sources, targets))
    np.save(folder / "graph" / "offsets.npy", np.concatenate(([0], np.cumsum(indegrees))))
    order = np.argsort(targets, kind="stable")
    np.save(folder / "graph" / "sources.npy", columns["source"][order])
    np.save(folder / "graph" / "outdegrees.npy", outdegrees.astype(ids))
    return {
        "name": name,
        "nodes": nodes,
        "edges": len(sources),
        "dangling": int(np.count_nonzero(outdegrees == 0)),
        "making": round(time.perf_counter() - started, 1),
    }


def measured(name: str, folder: Path, threads: int, repeats: int) -> dict[str, Any]:
    """One peer, in this process."""
    outdegrees = np.load(folder / "graph" / "outdegrees.npy")
    nodes, compiling = len(outdegrees), 0.0
    if name.startswith("crawlrank"):
        compiling = warm(folder, threads)
    run = {**RANKING, **WITH_LOADING}[name](folder, nodes, threads)
    seconds, processor = [], []
    for _ in range(repeats):
        begin, used = time.perf_counter(), time.process_time()
        found = run(TOLERANCE)
        seconds.append(time.perf_counter() - begin)
        processor.append(time.process_time() - used)
    peak = peak_mb()  # before the certificate, which is no peer's
    return {
        "seconds": statistics.median(seconds),
        "cpu_seconds": min(processor),
        "all_seconds": seconds,
        "certificate": proved(folder, outdegrees, found),
        "compiling": compiling,
        "peak_mb": peak,
    }


def peak_mb() -> float:
    """The peak memory of this process since it began; what the system counts for it may begin with
    its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (row for row in status.read_text().splitlines() if row.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def warm(folder: Path, threads: int) -> float:
    """Compile the loops, or load them; seconds."""
    begin = time.perf_counter()
    nodes = len(np.load(folder / "graph" / "outdegrees.npy", mmap_mode="r"))
    crawlrank(folder, nodes, threads)(0.5)
    return time.perf_counter() - begin


def proved(folder: Path, outdegrees: Any, found: Any) -> float:
    """Our certificate of a vector's probabilities. Scaled to scores, the residual is that of them
    alone: r - mean(r) is the same for any scale, but for its rounding."""
    nodes = len(outdegrees)
    share = found / found.sum()
    dangling = share[outdegrees == 0].sum()
    scores = share * (0.15 * nodes / (0.15 + 0.85 * dangling))
    offsets = np.concatenate(([0], np.cumsum(outdegrees, dtype=np.int64)))
    targets = np.load(folder / "edges.npy", mmap_mode="r")[1].astype(np.int32)
    graph = Graph("made", np.arange(nodes), scores, offsets, targets, 1.0)
    return certificate(graph).probability


if __name__ == "__main__":
    main()
