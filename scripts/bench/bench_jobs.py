#!/usr/bin/env python
"""What each job of a run reads, sends through its shuffle and writes, and the processor's seconds.

    scripts/bench/bench_jobs.py ARCHIVE… [--copies 1] [--json FILE]

The jobs run on the local runner, two tasks at a time; seconds are those of all its tasks, without
what the same job takes on next to nothing: the start of processes and libraries. copies: the links
this number of times, each under other host names.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners.local import LocalRunner
from crawlrank.pipeline.engines.text import steps
from crawlrank.pipeline.engines.text.job_export import write_lines
from crawlrank.pipeline.engines.text.rounds import PlainRounds
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.options import Stop

Row = dict[str, Any]
ROWS: list[Row] = []
LITTLE = 20  # lines, of which a job's seconds are those of its start


def cpu() -> float:
    return sum(os.times()[:4])


def size_of(paths: Any) -> int:
    return sum(Path(path).stat().st_size for path in paths)


class Measured(LocalRunner):
    """Adds a row for its job to ROWS."""

    title: str

    def _run(self) -> None:
        before, self._shuffled = cpu(), 0
        super()._run()
        row = {"job": self.title, "seconds": cpu() - before}
        row["read"] = size_of(self._get_input_paths())
        row["shuffled"] = self._shuffled
        row["written"] = size_of(Path(self._output_dir).glob("part-*"))
        ROWS.append(row)

    def _num_reducers(self, step_num: int) -> int:
        self._shuffled = Path(self._sorted_reducer_input_path(step_num)).stat().st_size
        return super()._num_reducers(step_num)


def title_of(job: type[Job]) -> str:
    """`page_rank` for the class PageRank, `join_scores sort` for JoinScoresSort,
    `export_precedence lines` for ExportLines."""
    file = job.__module__.rpartition(".")[2]
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", job.__name__).lower()
    stage = words.removeprefix(file)
    if stage == words:  # the class has the first word only
        stage = words.removeprefix(file.partition("_")[0])
    return f"{file} {stage.lstrip('_')}".rstrip()


def measured(job: type[Job]) -> type[Job]:
    runner = type("Measured", (Measured,), {"title": title_of(job)})
    changed = {"_runner_class": lambda self: runner, "__module__": job.__module__}
    return type(job.__name__, (job,), changed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        told = rows_of(Path(name), options.archives, options.copies)
    for row in told["jobs"]:
        print(json.dumps(row))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


def rows_of(folder: Path, archives: list[Path], copies: int) -> dict[str, Any]:
    """The rows of a run on all links, seconds without those of a run on LITTLE."""
    launcher = Launcher("local", folder, processes=2, job_class=measured)
    links, captures = folder / "links.txt", folder / "captures.txt"
    steps.extract_links(archives, links, captures, launcher)
    extraction = ROWS.pop() | {"read": size_of(archives)}  # not the list of them
    copied(links, copies)
    copied(captures, copies)
    count = sum(1 for _ in links.open("rb"))
    ROWS.clear()
    chain(folder / "all", links, captures, launcher)
    rows = list(ROWS)
    few = [folder / "few-links.txt", folder / "few-captures.txt"]
    for path, whole in zip(few, (links, captures), strict=True):
        path.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:LITTLE]))
    ROWS.clear()
    chain(folder / "few", few[0], few[1], launcher)
    for row, start in zip(rows, ROWS, strict=True):
        row["seconds"] = max(0.0, row["seconds"] - start["seconds"])
    return {"links": count, "jobs": [{**extraction, "links": count // copies}, *rows]}


def copied(path: Path, copies: int) -> None:
    """The lines again, with another host for each copy."""
    lines = path.read_bytes()
    with path.open("ab") as file:
        for number in range(1, copies):
            file.write(lines.replace(b"://", b"://copy%d." % number))


def chain(out: Path, links: Path, captures: Path, launcher: Launcher) -> None:
    out.mkdir()
    canonical, uris, numbered = out / "canonical_links", out / "uris", out / "input_links"
    mapped, graph = out / "map", out / "graph"
    steps.canonicalize([links], [captures], canonical, uris, launcher)
    steps.assign_ids([canonical], [uris], numbered, mapped, launcher)
    steps.gen_graph([numbered], [], graph, launcher)
    ranks, _ = PlainRounds(graph, out / "rounds", launcher, Stop(iterations=1)).run()
    steps.join_scores([Path(ranks)], [mapped], uris, out / "scores", launcher)
    options = PrecedenceOptions(eta=1e-6)  # scores with errors are sorted by these, too
    write_lines(out / "scores", uris, out / "precedence", launcher, options)


if __name__ == "__main__":
    main()
