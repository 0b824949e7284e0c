"""How jobs are run: on which runner, where what they leave lies, whom to tell."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jobs.base import Job
from jobs.kernel.opening import Place
from jobs.stores import join, remove

RUNNERS = ("local", "inline")  # what they leave is the same
CLUSTERS = ("hadoop", "emr", "spark")
TaskProgress = Callable[[str, int, int], None]
BytesProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Launcher:
    """How jobs are run.

    runner: of RUNNERS or CLUSTERS. tmp: folder for intermediate files, removed by whoever made it.
    data: URL of the folder of all datasets, for jobs that leave them where they are; intermediate
    ones go there too. conf: mrjob's configuration of a cluster; where there is none, mrjob looks
    for its own. cluster: starts a cluster when a job needs it, and gives the configuration that
    names it. processes: tasks at a time. ranges: reduce tasks of jobs that partition by range.
    on_task: told (job, tasks done, tasks of this phase) whenever a task ends.
    on_read: told (bytes read, bytes of all) of the archives of a job that reads such, every now
    and then.
    """

    runner: str
    tmp: Path
    processes: int | None = None
    ranges: int = 8
    on_task: TaskProgress | None = None
    on_read: BytesProgress | None = None
    job_class: Callable[[type[Job]], type[Job]] = lambda job: job  # tests put their runner in here
    data: str | None = None
    conf: Path | None = None
    cluster: Callable[[], Path] | None = None

    @contextlib.contextmanager
    def workplace(self, name: str) -> Iterator[Place]:
        """A new folder for what goes between the stages of a job, removed afterwards; in `data`, or
        else in `tmp`."""
        with self.scratch(name) as folder:
            if not self.data:
                yield folder
                return
            far = join(self.data, "tmp", folder.name)
            try:
                yield far
            finally:
                with contextlib.suppress(OSError):
                    remove(far)

    @contextlib.contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """A new folder in `tmp`, removed afterwards."""
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=self.tmp) as folder:
            yield Path(folder)
