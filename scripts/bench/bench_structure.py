"""Seconds and memory of each part of the structure of a made graph, and components beside scipy's.

    scripts/bench/bench_structure.py [--pages 10000000] [--copies 1] [--peer-pages 1000000]

The graph is that of synthetic.py with LINKS links a page, in half of its hosts every page crawled.
It is made by another process and mapped from files. Memory is the peak of a part above what was
there before it, looked at every LOOKS seconds: of what the process holds, also in bytes a page, and
of what it has mapped of the files, which the system can drop. A small graph went through all parts
before, so that nothing is compiled. Beside scipy: the least seconds of processor of ROUNDS, in
turn, on the same arrays in memory. Needs the extra `dev`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from synthetic import web_like

from crawlrank.pipeline.data.csr import OFFSETS, OUTDEGREES, SOURCES, Csr, id_type, open_csr
from crawlrank.pipeline.ranking.structure.bow_tie import PARTS, bow_tie
from crawlrank.pipeline.ranking.structure.components import (
    STRUCTURE_BYTES,
    strong_components,
    weak_components,
)
from crawlrank.pipeline.ranking.structure.degrees import gini, indegrees, outdegrees, reciprocity

LINKS = 10
WHOLE = 0.5
ACROSS = 0.05
ROUNDS = 3
LOOKS = 0.02
KINDS = {"held": "RssAnon", "mapped": "RssFile"}
Part = Callable[[], Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--copies", type=int, default=1, help="of a graph of --pages")
    parser.add_argument("--peer-pages", type=int, default=1_000_000, help="beside scipy; 0: not")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where the graph is made, and removed again")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        return make(options.pages, options.copies, options.make)
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="bench-structure-", dir=options.folder) as tmp:
        measured(mapped(1000, Path(tmp)), options.threads)
        told["parts"] = shown(mapped(options.pages, Path(tmp), options.copies), options.threads)
        if options.peer_pages:
            told["scipy"] = compared(mapped(options.peer_pages, Path(tmp)))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")
    return None


def mapped(pages: int, folder: Path, copies: int = 1) -> Csr:
    """A made graph, by a process that has its memory for itself."""
    home = folder / f"{pages}-{copies}"
    home.mkdir(exist_ok=True)
    numbers = ["--pages", str(pages), "--copies", str(copies)]
    subprocess.run([sys.executable, __file__, *numbers, "--make", str(home)], check=True)
    return open_csr(home)


def make(pages: int, copies: int, folder: Path) -> None:
    """Copies side by side of a graph of `pages`, of whose links ACROSS lead to the same page
    in any copy: graphs that are too large for this machine to make at once."""
    nodes, sources, targets = web_like(LINKS * pages, whole=WHOLE, links_a_page=LINKS)
    links, total, rng = len(sources), nodes * copies, np.random.default_rng(1)
    ids = id_type(total)
    indegrees = np.bincount(targets, minlength=nodes)
    np.save(folder / OFFSETS, np.concatenate(([0], np.cumsum(np.tile(indegrees, copies)))))
    shape = (copies * links,)
    outdegrees: npt.NDArray[Any] = np.zeros(total, ids)
    written = np.lib.format.open_memmap(folder / SOURCES, "w+", ids, shape)
    targets *= total
    targets += sources
    for copy in range(copies):
        keys = rng.integers(copies, size=links, dtype=np.int64)
        keys[rng.random(links, np.float32) >= ACROSS] = copy
        keys *= nodes
        keys += targets
        keys.sort()
        keys %= total
        written[copy * links : (copy + 1) * links] = keys
        outdegrees += np.bincount(keys, minlength=total).astype(ids)
    np.save(folder / OUTDEGREES, outdegrees)


def measured(csr: Csr, threads: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The seconds and bytes of each part, and what each returned."""
    made: dict[str, Any] = {}
    scores = 0.15 + np.random.default_rng(1).pareto(1.5, csr.nodes)
    parts: dict[str, Part] = {
        "weak components": lambda: weak_components(csr),
        "strong components": lambda: strong_components(csr),
        "bow tie": lambda: bow_tie(
            csr, made["weak components"], made["strong components"], threads
        ),
        "indegrees": lambda: indegrees(csr),
        "outdegrees": lambda: outdegrees(csr),
        "reciprocity": lambda: reciprocity(csr, threads),
        "gini": lambda: gini(scores),
    }
    rows = []
    for name, part in parts.items():
        with peaks() as sizes:
            begin, used = time.perf_counter(), time.process_time()
            made[name] = part()
            used = time.process_time() - used
            seconds = time.perf_counter() - begin
        rows.append({"part": name, "seconds": seconds, "processor": used, **sizes})
    return rows, made


@contextmanager
def peaks() -> Iterator[dict[str, int]]:
    """By the names of KINDS the bytes that this process has more than now, at most."""
    before, most, ended = resident(), dict.fromkeys(KINDS, 0), threading.Event()

    def look() -> None:
        while not ended.wait(LOOKS):
            for kind, size in resident().items():
                most[kind] = max(most[kind], size - before[kind])

    looker = threading.Thread(target=look)
    looker.start()
    try:
        yield most
    finally:
        ended.set()
        looker.join()


def resident() -> dict[str, int]:
    """Bytes of this process, by the names of KINDS."""
    rows = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
    sizes = {row[0].rstrip(":"): row[1] for row in rows if len(row) == 3}
    return {kind: int(sizes[name]) << 10 for kind, name in KINDS.items()}


def shown(csr: Csr, threads: int) -> dict[str, Any]:
    print(f"{csr.nodes:,} pages, {csr.edges:,} links, mapped; STRUCTURE_BYTES {STRUCTURE_BYTES}")
    rows, made = measured(csr, threads)
    print(
        f"{'part':<20}{'seconds':>9}{'CPU s':>8}{'held MB':>9}{'bytes a page':>14}{'mapped MB':>11}"
    )
    for row in rows:
        held, files = row["held"], row["mapped"] / 1e6
        sizes = f"{held / 1e6:9.0f}{held / csr.nodes:14.1f}{files:11.0f}"
        print(f"{row['part']:<20}{row['seconds']:9.2f}{row['processor']:8.2f}{sizes}")
    seconds, used = (sum(row[kind] for row in rows) for kind in ("seconds", "processor"))
    print(f"{'all':<20}{seconds:9.2f}{used:8.2f}")
    for kind in ("weak components", "strong components"):
        sizes = made[kind].sizes
        print(f"{kind}: {sizes.components:,}, the largest of {sizes.largest:,}")
    nodes = dict(zip(PARTS, made["bow tie"].nodes.tolist(), strict=True))
    print(", ".join(f"{part} {count / csr.nodes:.1%}" for part, count in nodes.items()))
    print(f"reciprocity {made['reciprocity']:.3f}, gini {made['gini']:.3f}", flush=True)
    return {"pages": csr.nodes, "links": csr.edges, "rows": rows, "nodes": nodes}


def compared(csr: Csr) -> dict[str, Any]:
    """Both kinds of components by us and by scipy, in turn, with as many components."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    columns: Any = (np.array(array) for array in (csr.offsets, csr.sources, csr.outdegrees))
    held = Csr(*columns)
    links = np.ones(held.edges, np.int8), held.sources.astype(np.int32)
    matrix = csr_matrix((*links, held.offsets.astype(np.int32)), (held.nodes, held.nodes))
    told: dict[str, Any] = {"pages": csr.nodes, "links": csr.edges}
    print(f"\n{csr.nodes:,} pages, {csr.edges:,} links, in memory; CPU seconds")
    for kind, ours in (("weak", weak_components), ("strong", strong_components)):
        seconds: dict[str, list[float]] = {"crawlrank": [], "scipy": []}
        for _ in range(ROUNDS):
            begin = time.process_time()
            sizes = ours(held).sizes
            half = time.process_time()
            count, _ = connected_components(matrix, directed=True, connection=kind)
            seconds["crawlrank"].append(half - begin)
            seconds["scipy"].append(time.process_time() - half)
        if count != sizes.components:
            sys.exit(f"{kind}: {sizes.components} components, scipy counts {count}")
        best = {name: min(times) for name, times in seconds.items()}
        told[kind] = best | {"ratio": best["scipy"] / best["crawlrank"]}
        line = ", ".join(f"{name} {value:.3f}" for name, value in best.items())
        print(f"{kind} components: {line}, ratio {told[kind]['ratio']:.2f}")
    return told


if __name__ == "__main__":
    main()
