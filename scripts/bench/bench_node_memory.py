"""Bytes of memory that each step of the embedded engine takes for a node.

    python scripts/bench/bench_node_memory.py [STEP …] [--nodes 1,3] [--json FILE]

Each step is done by a process of its own in made work folders of two sizes, in millions of nodes
with LINKS edges each; told are the difference of the peaks of resident memory, mapped files
included, by the difference of nodes, and what the program reckons with (`require_memory`). Edges
that a step holds in memory are budgeted by themselves, and taken off.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.pipeline.data import scores_file
from crawlrank.pipeline.data.csr import OFFSETS, OUTDEGREES, SOURCES
from crawlrank.pipeline.data.memory import LEAST, Memory
from crawlrank.pipeline.engines.contract import Ranking
from crawlrank.pipeline.engines.embedded import ids, ranks, scores
from crawlrank.pipeline.engines.embedded.canonicalization.canonicalize import URIS
from crawlrank.pipeline.engines.embedded.engine import EmbeddedEngine
from crawlrank.pipeline.precedence import export as precedence
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.classes import PREFERENCE_BYTES
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.ranking.options import Stop, ValidationOptions
from crawlrank.pipeline.ranking.validation.validate import VALIDATION_BYTES, validate

LINKS = 4
SMALL = Memory(LEAST)  # or DuckDB would hold what it need not
ROWS = 1 << 17  # of a row group
EDGE_BYTES = {"validate-opic": 4, "page-rank": 4}


def make_work(folder: Path, nodes: int) -> Path:
    """A folder as runs leave it, of random links and scores."""
    rng = np.random.default_rng(nodes)
    sources = _sources(rng, nodes)
    offsets = np.arange(0, LINKS * nodes + 1, LINKS)
    outdegrees = np.bincount(sources, minlength=nodes).astype(np.uint32)
    numbers = np.arange(nodes, dtype=np.uint32)
    values = 0.15 + rng.pareto(1.5, nodes)
    arrays: dict[str, npt.NDArray[Any]] = {
        f"graph/{OFFSETS}": offsets, f"graph/{SOURCES}": sources,
        f"graph/{OUTDEGREES}": outdegrees, f"map/{ids.IDS}": numbers,
        f"ranks/{scores_file.SCORES}": values, f"ranks/{scores_file.DUMMY}": np.ones(1),
    }  # fmt: skip
    for name, array in arrays.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        np.save(folder / name, array)
    for name in ("tmp", "uris"):
        (folder / name).mkdir()
    with pq.ParquetWriter(folder / "uris" / URIS, _uris(numbers[:1]).schema) as file:
        for at in range(0, nodes, ROWS):
            file.write_table(_uris(numbers[at : at + ROWS]))
    return folder


def _sources(rng: np.random.Generator, nodes: int) -> npt.NDArray[np.uint32]:
    """LINKS of them for each node: others than itself, ascending, each once."""
    steps = np.cumsum(rng.integers(1, (nodes - 1) // LINKS + 1, size=(nodes, LINKS)), axis=1)
    sources = (np.arange(nodes)[:, None] + steps) % nodes
    return np.sort(sources, axis=1).astype(np.uint32).ravel()


def _uris(numbers: Any) -> pa.Table:
    """Rows of uris, a spelling for each key."""
    keys = pa.array([f"com,site)/{number:09}" for number in numbers.tolist()])
    count = pa.array(np.ones(len(numbers), np.int64))
    return pa.table(
        {
            "number": pa.array(numbers.astype(np.int64)), "key": keys,
            "uri": pa.array([f"http://site.com/{number:09}" for number in numbers.tolist()]),
            "captures": count, "links": count, "last": pa.array(["-"] * len(numbers)),
        }
    )  # fmt: skip


def _validate(engine: EmbeddedEngine, policy: Any = "cycle", ties: Any = "together") -> None:
    given = engine.validation_input(ties)
    options = ValidationOptions(max_visits=2, policy=policy, ties=ties)
    validate(given.graph, given.ranks, options, captured=given.captured, preferred=given.preferred)


def _rank(engine: EmbeddedEngine, stop: Stop) -> None:
    engine.rank(Ranking(METHODS["pagerank"], stop), [], lambda entry, rounds: True)


#: step -> what does it, and the bytes a node that the program reckons with
STEPS: dict[str, tuple[Callable[[EmbeddedEngine], Any], int]] = {
    "assign-ids": (lambda engine: engine.assign_ids("all"), ids.NODE_BYTES),
    "page-rank": (lambda engine: _rank(engine, Stop(tolerance=1e-6)), ranks.NODE_BYTES),
    "page-rank plain": (lambda engine: _rank(engine, Stop(iterations=2)), ranks.NODE_BYTES),
    "join-scores": (lambda engine: engine.join_scores(9), scores.NODE_BYTES),
    "export-precedence": (
        lambda engine: engine.export_precedence(PrecedenceOptions(eta=1e-9)),
        precedence.NODE_BYTES,
    ),
    "export-precedence links": (
        lambda engine: engine.export_precedence(PrecedenceOptions(eta=1e-9, ties="links")),
        precedence.TIED_BYTES,
    ),
    "validate-opic": (_validate, VALIDATION_BYTES),
    "validate-opic links": (
        lambda engine: _validate(engine, ties="links"), VALIDATION_BYTES + PREFERENCE_BYTES,
    ),
    "validate-opic random": (lambda engine: _validate(engine, "random"), VALIDATION_BYTES),
    "validate-opic greedy": (lambda engine: _validate(engine, "greedy"), VALIDATION_BYTES),
}  # fmt: skip


def peaks_of(step: str, works: list[Path]) -> list[int]:
    """Peaks of resident bytes of processes that do the step in each of the folders."""
    # every array by itself, so that what is freed is given back
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    command = [sys.executable, __file__, "--do", step, *map(str, works)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return [int(line) for line in done.stdout.splitlines()]


def bytes_a_node(step: str, folder: Path, sizes: tuple[int, int]) -> float:
    """What the larger of two made folders takes more, by its nodes."""
    works = [folder / str(nodes) for nodes in sizes]
    for work, nodes in zip(works, sizes, strict=True):
        if not work.exists():
            make_work(work, nodes)
    peaks = peaks_of(step, works)
    in_memory = EDGE_BYTES.get(step.partition(" ")[0], 0) * LINKS
    return (peaks[1] - peaks[0]) / (sizes[1] - sizes[0]) - in_memory


def do(step: str, work: Path) -> int:
    """Do the step in this process; its peak of resident bytes since then."""
    engine = EmbeddedEngine(work, work / "tmp", SMALL, 1, lambda done, size: None)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is that from now on
    STEPS[step][0](engine)
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def do_each(step: str, works: list[str]) -> None:
    """Print the peak of a process for each folder, forked from this one, which has all imported."""
    for work in works:
        process = os.fork()
        if not process:
            print(do(step, Path(work)), flush=True)
            os._exit(0)
        if code := os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
            sys.exit(code)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", default=list(STEPS))
    parser.add_argument("--nodes", default="1,3", help="millions of nodes: two sizes")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--do", nargs="+", metavar="WORD", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.do:
        step, *works = given.do
        do_each(step, works)
        return
    small, large = (int(float(size) * 1e6) for size in given.nodes.split(","))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        print(f"{'step':<22}{'bytes a node':>14}{'reckoned with':>15}")
        for step in given.steps:
            measured = bytes_a_node(step, Path(name), (small, large))
            rows.append({"step": step, "measured": measured, "reckoned": STEPS[step][1]})
            print(f"{step:<22}{measured:>14.1f}{STEPS[step][1]:>15}", flush=True)
    if given.json:
        given.json.write_text(json.dumps({"nodes": given.nodes, "steps": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
