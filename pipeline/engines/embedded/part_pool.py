"""Work on parts of datasets by the pool of processes, where every part is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.workers import Died, Tell, answers

PartWork = TypeVar("PartWork")
PartResult = TypeVar("PartResult")

PROCESS_BYTES = 150 << 20  # of a process that has imported what it needs, and of a block


def part_results(
    work: Callable[[PartWork, Tell], PartResult],
    tasks: Sequence[PartWork],
    processes: int,
    path_of: Callable[[PartWork], Path],
) -> list[PartResult]:
    """The result of every task, in their order. path_of: the file that a task reads.

    Raises BadInput where a process dies.
    """
    results: dict[int, PartResult] = {}
    for task, result in answers(work, tasks, processes):
        if isinstance(result, Died):
            raise BadInput(
                str(path_of(task)),
                f"the process that read it died ({result.how})",
                "a part that can be read in the memory there is",
                "Run it again with less --memory or fewer --jobs, so that it takes less.",
            )
        results[id(task)] = result
    return [results[id(task)] for task in tasks]
