#!/usr/bin/env python
"""Packed rounds of PageRank: their speed beside plain rounds, how many, and the memory of a task.

    scripts/bench/bench_rounds.py [--edges 10] [--graph NAME=pr0.txt]… [--folder DIR] [--json FILE]

A seeded web-like graph of this number of million edges, and real ones as graph lines (`crawlrank
export --format text` writes pr0.txt). Seconds are those of the processor, of the driver and of all
tasks, less what the same round takes on a graph of a few nodes: the start of processes and
libraries. As that leaves a small difference of large figures, packed rounds are timed inline, too:
in one process that has started, nothing taken off."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from synthetic import web_like

from crawlrank.jobs.kernel.errors import NotConverged
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners.local import LocalRunner
from crawlrank.pipeline.data.graph import Graph, read_graph
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.engines.text.rounds import PlainRounds
from crawlrank.pipeline.estimate.sample import tree
from crawlrank.pipeline.ranking.options import Round, Stop

TOLERANCE = 1e-6
ROUNDS = 8  # timed
WHOLE = 0.2  # of hosts have all pages crawled: without them scores are soon where they stay
SMALL = 40_000  # edges of the graph that tells what starting takes
PARTITIONS = (1, 2, 4, 8, 16, 32, 64)
UNREACHED = Stop(tolerance=1e-15, max_rounds=ROUNDS)
JOBS = ("pack_graph", "packed_round", "unpack_ranks")
LOOKS = 0.02  # seconds between two looks at the memory of tasks
SHUFFLED: list[int] = []  # bytes, one job after the other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=float, default=10, help="million of the made graph")
    parser.add_argument("--graph", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        print(json.dumps(peaks(options.folder, options.memory_of)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        told = measured(Path(name), options)
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


def measured(folder: Path, options: Any) -> dict[str, Any]:
    made, part, small = folder / "made.txt", folder / "part.txt", folder / "small.txt"
    write_lines(*web_like(int(options.edges * 1e6), whole=WHOLE), made)
    write_lines(*web_like(int(options.edges * 1e6)), part)
    write_lines(*web_like(SMALL), small)
    graphs = {
        "made": made,
        "made, no host crawled whole": part,
        **dict(entry.split("=", 1) for entry in options.graph),
    }
    told: dict[str, Any] = {
        "speed": shown(speed(folder, made, small)),
        "rounds": [shown(row) for name, path in graphs.items() for row in rounds_of(name, path)],
        "memory": [],
    }
    for partitions in PARTITIONS:
        command = [sys.executable, __file__, "--folder", folder, "--memory-of", partitions]
        said = subprocess.run(list(map(str, command)), check=True, capture_output=True).stdout
        told["memory"].append(shown({"partitions": partitions, **json.loads(said)}))
    return told


def shown(row: dict[str, Any]) -> dict[str, Any]:
    print(json.dumps(row), flush=True)
    return row


def write_lines(nodes: int, sources: Any, targets: Any, path: Path) -> None:
    """The graph as gen-graph writes it, all scores 1."""
    ends = np.searchsorted(sources, np.arange(1, nodes + 1)).tolist()
    names, begin = targets.tolist(), 0
    with path.open("w") as file:
        for node, end in enumerate(ends):
            linked = ",".join(map(str, names[begin:end])) or "dummy"
            file.write(f"{node}\t1.0\tO:{linked}\n")
            begin = end
        file.write("dummy\t1.0\tO:dummy\n")


# speed


class Counting(LocalRunner):
    """Remembers how much went through the shuffle."""

    def _num_reducers(self, step_num: int) -> int:
        SHUFFLED.append(Path(self._sorted_reducer_input_path(step_num)).stat().st_size)
        return super()._num_reducers(step_num)


def counting(job: type[Job]) -> type[Job]:
    """On the local runner."""
    changed = {"_runner_class": lambda self: Counting, "__module__": job.__module__}
    return type(job.__name__, (job,), changed)


@contextlib.contextmanager
def launcher(runner: str = "local") -> Iterator[Launcher]:
    with tempfile.TemporaryDirectory() as tmp:
        plain = Launcher(runner, Path(tmp), processes=2)
        yield replace(plain, job_class=counting) if runner == "local" else plain


def speed(folder: Path, made: Path, small: Path) -> dict[str, Any]:
    packed, _, partitions, edges = packed_seconds(folder, made)
    start, *_ = packed_seconds(folder, small, partitions)
    bytes_packed = SHUFFLED[2]  # of the second round: packing was the first job
    SHUFFLED.clear()
    plain, plain_start = plain_seconds(folder, made), plain_seconds(folder, small)
    inline, around, *_ = packed_seconds(folder, made, partitions, "inline")
    net, plain_net = packed - start, plain - plain_start
    return {
        "edges": edges,
        "partitions": partitions,
        "packed": {
            "seconds": packed, "start": start, "bytes": bytes_packed, "rate": edges / net,
        },
        "inline": {"seconds": inline, "rate": edges / inline, "around": around},
        "plain": {
            "seconds": plain, "start": plain_start, "bytes": SHUFFLED[0],
            "rate": edges / plain_net,
        },
    }  # fmt: skip


def cpu() -> float:
    return sum(os.times()[:4])


def packed_seconds(
    folder: Path, graph: Path, partitions: int | None = None, runner: str = "local"
) -> tuple[float, float, int, int]:
    """(seconds of a round, of packing and unpacking, partitions, edges)."""
    times, entries = [], []

    def note(entry: Round, _: list[Round]) -> bool:
        times.append(cpu())
        entries.append(entry)
        return True

    begin = cpu()
    with (
        launcher(runner) as launched,
        tempfile.TemporaryDirectory(dir=folder) as work,
        contextlib.suppress(NotConverged),
    ):
        PackedRounds(graph, Path(work), launched, UNREACHED, [], note, partitions=partitions).run()
    one = float(np.median(np.diff(times)))
    around = cpu() - begin - (times[-1] - times[0]) - one
    return one, around, entries[-1]["partitions"], entries[-1]["edges"]


def plain_seconds(folder: Path, graph: Path) -> float:
    with launcher() as local, tempfile.TemporaryDirectory(dir=folder) as work:
        begin = cpu()
        PlainRounds(graph, Path(work), local, Stop(iterations=1)).run()
        return cpu() - begin


# rounds


def rounds_of(name: str, path: Path | str) -> Iterator[dict[str, Any]]:
    graph = read_graph(path)
    plain = plain_count(graph)
    for partitions in (8, 64):
        with tempfile.TemporaryDirectory() as work:
            inline = Launcher("inline", Path(work), ranges=partitions)
            _, rounds = PackedRounds(
                path, Path(work, "rounds"), inline, Stop(tolerance=TOLERANCE), partitions=partitions
            ).run()
        yield {
            "graph": name, "nodes": graph.nodes, "edges": graph.edges, "partitions": partitions,
            "rounds": len(rounds), "plain": plain, "share": len(rounds) / plain,
            "certificate": rounds[-1]["certificate"],
        }  # fmt: skip


def plain_count(graph: Graph) -> int:
    """Plain rounds to the same certificate, 0.85 |r|_1 / (0.15 |x'|_1)."""
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    x: npt.NDArray[np.floating[Any]] = np.ones(graph.nodes)
    count, certificate = 0, 1.0
    while certificate > TOLERANCE:
        shares = (x / np.maximum(graph.outdegrees, 1))[sources]
        new = 0.15 + 0.85 * np.bincount(graph.targets, shares, graph.nodes)
        certificate = 0.85 * np.abs(new - x).sum() / (0.15 * new.sum())
        x, count = new, count + 1
    return count


# memory


def peaks(folder: Path, partitions: int) -> dict[str, float]:
    """Peak resident MB of any task, by job, and of the driver; two rounds."""
    found, ended = dict.fromkeys((*JOBS, "driver"), 0.0), threading.Event()
    looker = threading.Thread(target=look, args=(found, ended))
    looker.start()
    with (
        launcher() as local,
        tempfile.TemporaryDirectory(dir=folder) as work,
        contextlib.suppress(NotConverged),
    ):
        stop = Stop(tolerance=1e-15, max_rounds=2)
        PackedRounds(folder / "made.txt", Path(work), local, stop, partitions=partitions).run()
    ended.set()
    looker.join()
    return found


def look(found: dict[str, float], ended: threading.Event) -> None:
    own = os.getpid()
    while not ended.wait(LOOKS):
        for pid in tree(own):
            with contextlib.suppress(OSError, ValueError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
                (line,) = (
                    row
                    for row in Path(f"/proc/{pid}/status").read_text().splitlines()
                    if row.startswith("VmHWM")
                )
                job = next((j for j in JOBS if j in command), "driver" if pid == own else "")
                if job:
                    found[job] = max(found[job], int(line.split()[1]) * 1024 / 1e6)


if __name__ == "__main__":
    begun = time.monotonic()
    main()
    print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
