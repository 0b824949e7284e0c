"""What the tasks of a job report besides its datasets: rows, counters, sums, errors, other notes.

On this machine the parts are read line by line. At a URL only their ends are read, where the notes
are.

Of the lines that tasks found wrong, the first one in the inputs becomes the error. Tasks do not
know the numbers of their lines, and runners differ in which task ends first. So the lines are
looked up in the inputs after the failure, in order. A line without its format hides lines of
others, so such errors come before groups of lines that do not fit together. Groups are found by
mapping the inputs again: the line that makes the last of the pairs in question is wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlrank.jobs.kernel.errors import BadInput, BadLine
from crawlrank.jobs.kernel.formats.reading import parts, read_lines
from crawlrank.jobs.kernel.formats.side_lines import (
    COUNTERS,
    END,
    ERROR,
    NOTES,
    RAN,
    ROWS,
    SUMS,
    side_name,
)
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import COMPRESSED, ending, open_part, part_sizes

if TYPE_CHECKING:
    from crawlrank.jobs.mapreduce.job import Job  # slow to import, as mrjob is

Error = dict[str, Any]  # see jobs/mapreduce/job.py, Job.bad_line


class MappedInputs(NamedTuple):
    """Datasets of lines, and the job that maps them."""

    job: type[Job]
    args: Sequence[str]
    inputs: Sequence[PathOrUrl]


def first_error(errors: Sequence[Error], inputs: MappedInputs, origin: MappedInputs) -> BadInput:
    """The error that comes first, with its file and line. origin: the user's lines, where the
    inputs of the job are the output of an earlier stage."""
    lines = [error for error in errors if "line" in error]
    located = _bad_lines(lines, inputs) if lines else _bad_groups(errors, origin)
    where, error = next(located, ("the input", errors[0]))
    return _bad_input(where, error)


def first_error_at_url(errors: Sequence[Error], inputs: Sequence[PathOrUrl]) -> BadInput:
    """The first error by kind, file and message, so that it does not depend on the order of tasks.
    Lines at URLs are not looked up."""
    error = min(errors, key=lambda e: ("line" not in e, e.get("file", ""), e["found"]))
    where = error.get("file") or ", ".join(map(str, inputs))
    if line := error.get("line"):
        where += f", the line {line[:200]!a}"
    return _bad_input(where, error)


def _bad_input(where: str, error: Error) -> BadInput:
    return BadInput(where, error["found"], error.get("expected", ""), error.get("cure", ""))


def _bad_lines(errors: Sequence[Error], inputs: MappedInputs) -> Iterator[tuple[str, Error]]:
    wanted = {error["line"].encode("latin-1"): error for error in errors}
    for where, line in _lines(inputs):
        if line in wanted:
            yield where, wanted[line]


def _bad_groups(errors: Sequence[Error], origin: MappedInputs) -> Iterator[tuple[str, Error]]:
    missing = {
        error["key"].encode("latin-1"): (error, [v.encode("latin-1") for v in error["values"]])
        for error in errors
        if "key" in error
    }
    job = origin.job([*origin.args])
    for where, line in _lines(origin) if missing else ():
        for key, value in _pairs(job, line):
            error, values = missing.get(key, ({}, []))
            wanted = next((v for v in values if v in (value, value[:1])), None)
            if wanted is None:
                continue
            values.remove(wanted)
            if not values:
                yield where, error


def _pairs(job: Job, line: bytes) -> Iterator[tuple[bytes, bytes]]:
    try:
        yield from job.map_line(line)
        yield from job.map_end()
    except BadLine:
        return  # a side line


def _lines(source: MappedInputs) -> Iterator[tuple[str, bytes]]:
    for dataset in source.inputs:
        for path in parts(dataset):
            for file, number, line in read_lines(path.resolve()):
                yield f"{file}, line {number}", line


AT_ONCE = 16  # parts; a store takes its time for each
LAST = 64  # bytes, more than a line of END has


class Note(NamedTuple):
    """A side line that belongs to no dataset, and the part that it was in."""

    part: str
    value: bytes


@dataclass
class Outcome:
    """The reports of all tasks of a job together."""

    rows: Counter[str] = field(default_factory=Counter)  # lines written, by dataset
    counters: Counter[str] = field(default_factory=Counter)
    sums: list[dict[str, Any]] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    notes: dict[str, list[Note]] = field(default_factory=dict)  # other side lines, by name
    ran: tuple[float, float] | None = None  # when the first task began and the last one ended

    def add(self, name: bytes, note: Note) -> None:
        """Add a note of that name, but for rows, which the caller counts."""
        if name == COUNTERS:
            self.counters.update(json.loads(note.value))
        elif name == SUMS:
            self.sums.append(json.loads(note.value))
        elif name == ERROR:
            self.errors.append(json.loads(note.value))
        elif name == RAN:
            began, ended = map(float, note.value.split())
            before = self.ran or (began, ended)
            self.ran = min(before[0], began), max(before[1], ended)
        elif name not in (END, ROWS):
            self.notes.setdefault(name[1:].decode(), []).append(note)


# on this machine


def split_output(parts: Path, output: Path, side: Mapping[str, PathOrUrl]) -> Outcome:
    """Split the parts that tasks have written by dataset, into new folders; a part without lines of
    a dataset is an empty file there."""
    outcome = Outcome()
    folders = {name: Path(folder) for name, folder in side.items()}
    for folder in (output, *folders.values()):
        folder.mkdir(parents=True)
    for part in sorted(parts.glob("part-*")):
        _split_part(part, output, folders, outcome)
    return outcome


def _split_part(part: Path, output: Path, side: dict[str, Path], outcome: Outcome) -> None:
    with part.open("rb") as lines, (output / part.name).open("wb") as main:
        files = {name: (folder / part.name).open("wb") for name, folder in side.items()}
        try:
            for line in lines:
                if line[-2:] == b"\t\n":  # see jobs/mapreduce/job.py, ends of lines
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
                    outcome.add(name, Note(part.name, rest.rstrip(b"\n")))
        finally:
            for file in files.values():
                file.close()


# at a URL


def outcome_of(dataset: PathOrUrl) -> Outcome:
    """The reports of the tasks that wrote the dataset at a URL. Raises OSError."""
    outcome = Outcome()
    parts = part_sizes(dataset)
    with ThreadPool(max(1, min(AT_ONCE, len(parts)))) as pool:
        for (part, _), lines in zip(parts, pool.imap(_notes, parts), strict=True):
            for line in lines:
                name, value = side_name(line), line.partition(b"\t")[2]
                if name == ROWS:
                    outcome.rows.update(json.loads(value))
                outcome.add(name, Note(str(part).rpartition("/")[2], value))
    return outcome


def _notes(part: tuple[PathOrUrl, int]) -> list[bytes]:
    return [line for line in _last_lines(*part) if side_name(line) in NOTES]


def _last_lines(part: PathOrUrl, size: int) -> Iterator[bytes]:
    """The last lines, at least the notes of a part, each without its end and the tab that a cluster
    adds."""
    if str(part).endswith(COMPRESSED):  # its end cannot be read alone
        with open_part(part) as stream:
            yield from (_stripped(line) for line in stream if line.startswith(b"@"))
        return
    last = _stripped(ending(part, size, LAST).rstrip(b"\n").rpartition(b"\n")[2])
    if not last.startswith(END + b"\t"):
        return
    count = int(last.partition(b"\t")[2]) + LAST + 1
    lines = ending(part, size, count).split(b"\n")
    yield from map(_stripped, lines[1 if count < size else 0 :])


def _stripped(line: bytes) -> bytes:
    return line.rstrip(b"\n").removesuffix(b"\t")
