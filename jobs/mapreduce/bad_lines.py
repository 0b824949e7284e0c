"""The error to raise for lines that tasks found wrong: the first one in the inputs.

Tasks do not know the numbers of their lines, and runners differ in which task ends first. So the
lines are looked up in the inputs after the failure, in order. A line without its format hides lines
of others, so such errors come before groups of lines that do not fit together. Groups are found by
mapping the inputs again: the line that makes the last of the pairs in question is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlrank.jobs.kernel.errors import BadInput, BadLine
from crawlrank.jobs.kernel.formats.reading import parts, read_lines
from crawlrank.jobs.kernel.storage.opening import PathOrUrl

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
