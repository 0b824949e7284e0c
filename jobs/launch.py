"""Runs one job on a runner and sorts its output: parts of datasets, counters, sums, errors."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from mrjob.step import StepFailedException

from jobs.base import COUNTERS, ERROR, SUMS, Job, side_name
from jobs.kernel.errors import BadInput, CrawlrankError, JobFailed
from jobs.kernel.opening import absolute, place, size_of
from jobs.kernel.reading import parts
from jobs.places import Error, Source, first_error

logging.getLogger("mrjob").addHandler(logging.NullHandler())

RUNNERS = ("local", "inline")  # what they leave is the same
_PLAIN = re.compile(r"[A-Za-z0-9_./+=,@-]+\Z")
TaskProgress = Callable[[str, int, int], None]
BytesProgress = Callable[[int, int], None]


def is_plain(path: Path) -> bool:
    """Whether no tool takes anything in the path for syntax."""
    return bool(_PLAIN.match(str(path)))


@contextlib.contextmanager
def plain_path(folder: Path) -> Iterator[Path]:
    """The folder under a name of letters, digits and a few signs, that of a link if need be: mrjob
    splits paths at `#`, ends them at blanks, and writes them as UTF-8."""
    path = folder.absolute()
    if is_plain(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="crawlrank-") as near:
        link = Path(near, "work")
        link.symlink_to(path)
        yield link


@dataclass(frozen=True)
class Launcher:
    """How jobs are run.

    runner: `inline` or `local`. tmp: folder for intermediate files, removed by whoever made it.
    processes: tasks at a time. ranges: reduce tasks of jobs that partition by range.
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

    @contextlib.contextmanager
    def workplace(self, name: str) -> Iterator[Path]:
        """A new folder in `tmp` for what goes between the stages of a job, removed afterwards."""
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=self.tmp) as folder:
            yield Path(folder)


class Note(NamedTuple):
    """A side line that belongs to no dataset, and the part that it was in."""

    part: str
    value: bytes


@dataclass
class Outcome:
    """What a job told besides its datasets."""

    rows: Counter[str] = field(default_factory=Counter)  # lines written, by dataset
    counters: Counter[str] = field(default_factory=Counter)
    sums: list[dict[str, Any]] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    notes: dict[str, list[Note]] = field(default_factory=dict)  # other side lines, by name


def launch(
    job_class: type[Job],
    inputs: Iterable[str | Path],
    output: Path,
    launcher: Launcher,
    args: Sequence[str] = (),
    side: dict[str, Path] | None = None,
    origin: Source | None = None,
) -> Outcome:
    """Run a job; write its dataset to the new folder `output` and side datasets to those of `side`.

    inputs: datasets of lines (files, folders, globs), or archives for a job that reads those.
    origin: where reducers' errors are looked up when the inputs are an earlier stage's output.
    Raises BadInput for what the tasks found wrong in the input, JobFailed when a task failed; the
    folders are not there then.
    """
    folders = [output, *(side or {}).values()]
    for folder in folders:
        if folder.exists():
            raise BadInput(str(folder), "exists already", "a new folder", "Remove it first.")
    paths = input_paths(job_class, inputs)
    raw = Path(tempfile.mkdtemp(prefix=f"{job_class.__name__}-", dir=launcher.tmp))
    try:
        _run(job_class, paths, raw / "output", launcher, args, raw)
        outcome = _sort_out(raw / "output", output, side or {})
        if outcome.errors:
            read = Source(job_class, args, paths)
            raise first_error(outcome.errors, read, origin or read)
    except BaseException as error:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise JobFailed(_failure(job_class.__name__, str(error))) from error
        raise
    finally:
        shutil.rmtree(raw, ignore_errors=True)
    return outcome


def input_paths(job_class: type[Job], inputs: Iterable[str | Path]) -> list[str]:
    """The files to read, in the order given."""
    if job_class.reads_archives():
        return [absolute(path) for path in inputs]  # as named, be it a link
    paths = [part for where in inputs for part in parts(where)]
    if not paths:  # mrjob would read stdin, which a job of several stages can do but once
        raise BadInput("the inputs", "none", "at least one file, folder of parts or glob")
    return [str(path.resolve()) for path in paths]


def _run(
    job_class: type[Job],
    paths: list[str],
    output: Path,
    launcher: Launcher,
    args: Sequence[str],
    tmp: Path,
) -> None:
    options = ["--runner", launcher.runner, "--no-conf", "--no-cat-output", "--quiet"]
    options += ["--output-dir", str(output), "--local-tmp-dir", str(tmp), "--cleanup", "NONE"]
    options += ["--no-check-input-paths"]
    if launcher.processes and launcher.runner == "local":
        options += ["--num-cores", str(launcher.processes)]
    if launcher.runner == "local":
        options += ["--no-bootstrap-mrjob"]  # tasks run under this very Python
    job = launcher.job_class(job_class)([*options, *args, "--", *paths])
    name = job_class.__name__
    with job.make_runner() as runner:
        if launcher.on_task:
            on_task = launcher.on_task
            runner.on_task = lambda done, total: on_task(name, done, total)
        if launcher.on_read and job_class.reads_archives():
            on_read, size = launcher.on_read, sum(map(_size, paths))
            runner.on_read = lambda done: on_read(done, size)
        try:
            runner.run()
        except StepFailedException as error:
            raise JobFailed(_failure(name, runner.failure or str(error))) from error
        except MemoryError as error:
            raise JobFailed(_failure(name, "out of memory")) from error


def _size(archive: str) -> int:
    with contextlib.suppress(OSError):  # told of by the task that reads it
        return size_of(place(archive))
    return 0


def _failure(name: str, said: str) -> str:
    message = f"the job {name} failed; its last lines:\n{said}"
    if "No space left on device" in said:
        message += "\nThe disk is full: make room, or put the work folder (--work) elsewhere."
    return message


def _sort_out(raw: Path, output: Path, side: dict[str, Path]) -> Outcome:
    """Split the raw parts by dataset; a part without lines of a dataset is an empty file there."""
    outcome = Outcome()
    for folder in (output, *side.values()):
        folder.mkdir(parents=True)
    for part in sorted(raw.glob("part-*")):
        _sort_part(part, output, side, outcome)
    return outcome


def _sort_part(part: Path, output: Path, side: dict[str, Path], outcome: Outcome) -> None:
    with part.open("rb") as lines, (output / part.name).open("wb") as main:
        files = {name: (folder / part.name).open("wb") for name, folder in side.items()}
        try:
            for line in lines:
                if line[-2:] == b"\t\n":  # see jobs/base.py, ends of lines
                    line = line[:-2] + b"\n"
                if not (name := side_name(line)):
                    main.write(line)
                    outcome.rows["main"] += 1
                    continue
                rest, dataset = line[len(name) + 1 :], name[1:].decode()
                if (file := files.get(dataset)) is not None:
                    file.write(rest)
                    outcome.rows[dataset] += 1
                else:
                    _note(name, Note(part.name, rest.rstrip(b"\n")), outcome)
        finally:
            for file in files.values():
                file.close()


def _note(name: bytes, note: Note, outcome: Outcome) -> None:
    if name == COUNTERS:
        outcome.counters.update(json.loads(note.value))
    elif name == SUMS:
        outcome.sums.append(json.loads(note.value))
    elif name == ERROR:
        outcome.errors.append(json.loads(note.value))
    else:
        outcome.notes.setdefault(name[1:].decode(), []).append(note)


def run_alone(job: Job) -> None:
    """`python -m jobs.NAME`: datasets to --output-dir (side datasets in `_NAME` folders of it),
    or the main one to stdout; what there is to tell to stderr."""
    options = job.options
    with tempfile.TemporaryDirectory() as tmp:
        ranges = options.reducers or Launcher.ranges
        launcher = Launcher(options.runner or "inline", Path(tmp), options.num_cores, ranges)
        output = Path(options.output_dir) if options.output_dir else Path(tmp, "output")
        try:
            if output.exists():
                raise BadInput(str(output), "exists already", "a new folder", "Remove it first.")
            outcome = job.run_with(options.args, output, launcher)
        except CrawlrankError as error:
            sys.stderr.write(f"{type(job).__name__}: {error}\n")
            sys.exit(error.exit_code)
        if not options.output_dir:
            for part in sorted(output.glob("part-*")):
                with part.open("rb") as lines:
                    shutil.copyfileobj(lines, job.stdout)
        told = {**outcome.rows, **outcome.counters}
        told[job.DATASET] = told.pop("main", 0)
        sys.stderr.write("".join(f"{name}\t{told[name]}\n" for name in sorted(told)))
