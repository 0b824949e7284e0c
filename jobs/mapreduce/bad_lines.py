"""Where in the inputs the lines are that tasks found wrong: looked up after the failure, in order.

Tasks see lines without their places, and runners differ in which task ends first. Of all that the
tasks reported, the error whose line comes first in the inputs is the one to tell. A line without
its format hides lines of others, so such come before groups that do not fit together. Those are
found by mapping the inputs again: the line that makes the last of the pairs in question is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jobs.kernel.errors import BadInput, BadLine
from jobs.kernel.formats.reading import read_lines
from jobs.mapreduce.job import Job

Error = dict[str, Any]  # see jobs/mapreduce/job.py, Job.bad_line


class Source(NamedTuple):
    """Files of lines, and the job that maps them."""

    job: type[Job]
    args: Sequence[str]
    paths: Sequence[str]


def first_error(errors: Sequence[Error], inputs: Source, origin: Source) -> BadInput:
    """The error that comes first, with its file and line. origin: the user's lines, where the
    inputs of the job are what an earlier stage made of them."""
    lines = [error for error in errors if "line" in error]
    found = _bad_line(lines, inputs) if lines else _bad_group(errors, origin)
    where, error = next(found, ("the input", errors[0]))
    return BadInput(where, error["found"], error.get("expected", ""), error.get("cure", ""))


def _bad_line(errors: Sequence[Error], inputs: Source) -> Iterator[tuple[str, Error]]:
    wanted = {error["line"].encode("latin-1"): error for error in errors}
    for where, line in _lines(inputs):
        if line in wanted:
            yield where, wanted[line]


def _bad_group(errors: Sequence[Error], origin: Source) -> Iterator[tuple[str, Error]]:
    missing = {
        error["key"].encode("latin-1"): (error, [v.encode("latin-1") for v in error["values"]])
        for error in errors
        if "key" in error
    }
    job = origin.job([*origin.args])
    for where, line in _lines(origin) if missing else ():
        for key, value in _pairs(job, line):
            error, values = missing.get(key, ({}, []))
            wanted = next((one for one in values if one in (value, value[:1])), None)
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


def _lines(source: Source) -> Iterator[tuple[str, bytes]]:
    for path in source.paths:
        for file, number, line in read_lines(path):
            yield f"{file}, line {number}", line
