"""A runner that does to lines what Hadoop Streaming does, where mrjob's own simulation does not.

Reducers: as many as the job asks for (`mapreduce.job.reduces`), else `reducers`; a line goes to
the one that the hash of its first field names (KeyFieldBasedPartitioner with -k1,1), and reducers
without lines run too. Their input is sorted by its first two fields as bytes, no further; lines
equal there arrive in any order. Inputs, and the parts of a map without reduce, come in any order.
A line with fewer tabs than its key has fields gets one at its end. "Any order" is the seed's.

    Launcher("inline", tmp, ranges=3, job_class=on_cluster(reducers=3, seed=1))
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawlrank.jobs.kernel.formats.order import (
    reducer_of,  # checked against Java's own hashes in test_ranges.py
)
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners.local import InlineRunner

PRIME = 99_991
#: reducers and a seed: most reducers have no line
MANY_REDUCERS = pytest.param(64, 3, marks=pytest.mark.slow)


class ClusterRunner(InlineRunner):
    """Tasks in this process, lines as on a cluster. `reducers`, `maps`, `seed`: see on_cluster."""

    least_split = 0
    reducers = 1
    maps = 5
    seed = 0

    def _num_cores(self) -> int:
        return self.maps

    def _shuffled(self, things: list[Any]) -> list[Any]:
        random.Random(self.seed).shuffle(things)
        return things

    def _input_paths_for_step(self, step_num: int) -> Any:
        return self._shuffled(list(super()._input_paths_for_step(step_num)))

    def _task_output_path(self, task_type: str, step_num: int, task_num: int) -> Any:
        """Reducers write the part of their number, maps any."""
        if task_type == self._last_task_type_in_step(step_num) == "mapper":
            task_num = (task_num * 38_377 + self.seed) % PRIME
        return super()._task_output_path(task_type, step_num, task_num)

    def _sort_reducer_input(self, step_num: int, num_map_tasks: int) -> None:
        """Done for each reducer apart, in _split_reducer_input."""
        self._map_outputs = [
            Path(self._task_output_path("mapper", step_num, task)) for task in range(num_map_tasks)
        ]

    def _split_reducer_input(self, step_num: int) -> int:
        reducers = int(self._jobconf_for_step(step_num).get("mapreduce.job.reduces", self.reducers))
        lines = [line for path in self._map_outputs for line in path.read_bytes().splitlines()]
        inputs: list[list[bytes]] = [[] for _ in range(reducers)]
        for line in self._shuffled([ended(line, 2) for line in lines]):
            inputs[reducer_of(line.partition(b"\t")[0], reducers)].append(line)
        for task, received in enumerate(inputs):
            received.sort(key=lambda line: line.split(b"\t")[:2])
            write_lines(Path(self._task_input_path("reducer", step_num, task)), received)
        return reducers

    def _run_streaming_step(self, step: Any, step_num: int) -> None:
        super()._run_streaming_step(step, step_num)
        fields = 1 if "reducer" in step else 2
        for part in Path(self._output_dir_for_step(step_num)).glob("part-*"):
            write_lines(part, [ended(line, fields) for line in part.read_bytes().splitlines()])


def ended(line: bytes, key_fields: int) -> bytes:
    """The line as Hadoop Streaming writes it: key, tab, value, the value empty if need be."""
    return line if line.count(b"\t") >= key_fields else line + b"\t"


def write_lines(path: Path, lines: list[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def on_cluster(
    reducers: int, seed: int = 0, maps: int = 5, combined: int = Job.COMBINED
) -> Callable[[type[Job]], type[Job]]:
    """For `Launcher.job_class`: the job, to be run by a ClusterRunner of that size, whose tasks
    hold this number of entries in memory."""
    runner = type(
        "SeededRunner", (ClusterRunner,), {"reducers": reducers, "seed": seed, "maps": maps}
    )

    def prepared(job: type[Job]) -> type[Job]:
        changed = {"_runner_class": lambda self: runner, "COMBINED": combined}
        return type(job.__name__, (job,), changed)

    return prepared


def cluster(
    tmp: Path, reducers: int, seed: int = 0, maps: int = 5, combined: int = Job.COMBINED
) -> Launcher:
    """A launcher for a cluster of that many reducers."""
    job_class = on_cluster(reducers, seed, maps, combined)
    return Launcher("inline", tmp, ranges=reducers, job_class=job_class)


def inline(tmp: Path, ranges: int = 8) -> Launcher:
    return Launcher("inline", tmp, ranges=ranges)


def dataset(folder: Path) -> list[bytes]:
    """The lines of a folder of parts, in the order of the parts."""
    return [
        line
        for part in sorted(folder.glob("part-*"))
        for line in part.read_bytes().split(b"\n")[:-1]
    ]
