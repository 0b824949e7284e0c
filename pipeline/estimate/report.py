"""An estimate as a table, a line and JSON, and what in it needs attention."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.mapreduce.launcher import CLUSTERS
from crawlrank.pipeline.estimate.estimate import RunEstimate
from crawlrank.pipeline.estimate.projection import Bracket
from crawlrank.pipeline.pages.page import size
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.terminal import TextTable, printable

SCHEMA = "crawlrank-estimate-1"
ROWS = {"captures": "captures", "links": "links", "uris": "URIs", "map": "pages with a score"}
NAMED = 3  # unreadable archives


def estimate_table(estimate: RunEstimate) -> TextTable:
    table = TextTable("what the run takes", "=what", ">likely", ">low", ">high")
    if estimate.cluster:
        _row(table, "node-hours, of 16 vCPUs", estimate.cluster.node_hours, _hours)
        starting = f"{estimate.cluster.starting:.1f} h"
        table.add(f"start of {count_of(estimate.cluster.jobs, 'job')}", starting)
        _row(table, "memory, of this machine", estimate.memory, size)
        _row(table, "datasets at the end", estimate.disk_end, size)
    else:
        _row(table, "time", estimate.seconds, duration)
        _row(table, "memory", estimate.memory, size)
        _row(table, "work folder at its largest", estimate.disk_most, size)
        _row(table, "work folder at the end", estimate.disk_end, size)
    for name, what in ROWS.items():
        _row(table, what, estimate.rows[name], count)
    return table


def _row(table: TextTable, what: str, value: Bracket, text: Callable[[float], str]) -> None:
    table.add(what, text(value.value), text(value.low), text(value.high))


def count(rows: float) -> str:
    """Three digits.

    >>> count(7), count(10_735), count(871_474)
    ('7', '10,700', '871,000')
    """
    digits = len(str(round(rows)))
    return f"{round(rows, min(0, 3 - digits)):,.0f}"


def _hours(hours: float) -> str:
    return two_digits(hours) if hours < 10 else f"{hours:,.0f}"


def two_digits(number: float) -> str:
    """The first two digits that are not 0, never with an exponent.

    >>> two_digits(2.43), two_digits(9.96), two_digits(0.000_031), two_digits(0)
    ('2.4', '10', '0.000031', '0')
    """
    return np.format_float_positional(number, 2, unique=False, fractional=False, trim="-")


def percent(share: float) -> str:
    """A part of the bytes; one that is not all of them is never shown as all.

    >>> percent(1), percent(0.9996), percent(0.123), percent(0.000_014)
    ('100 %', '99 %', '12 %', '0.0014 %')
    """
    if share >= 1:
        return "100 %"
    return f"{two_digits(min(99.0, 100 * share))} %"


def duration(seconds: float) -> str:
    """Two digits are all that an estimate has.

    >>> duration(2.43), duration(95), duration(1500), duration(40_000), duration(2e6)
    ('2.4 s', '95 s', '25 min', '11 h', '23 days')
    """
    if seconds < 120:
        return f"{two_digits(seconds)} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} days"


def sentences(estimate: RunEstimate, work: Path | None = None) -> Iterator[str]:
    """What the figures rest upon, and what needs attention."""
    yield _basis(estimate)
    yield from estimate.notes
    for archive in list(estimate.unreadable)[:NAMED]:
        yield f"Cannot be read: {printable(str(estimate.unreadable[archive]))}"
    if (more := len(estimate.unreadable) - NAMED) > 0:
        yield f"Of the sample, {more:,} more cannot be read."
    if estimate.unreadable:
        yield "A run ends at these, unless it has --skip-bad-files."
    yield from warnings(estimate, work)


def _basis(estimate: RunEstimate) -> str:
    if estimate.sampled >= estimate.size:
        return (
            f"All {size(estimate.size)} were extracted and ranked in a temporary folder just now."
        )
    archives = count_of(estimate.archives, "archive")
    return (
        f"From {size(estimate.sampled)} ({percent(estimate.share)}) of the {size(estimate.size)} in"
        f" {archives}, extracted and ranked on this machine just now."
    )


def warnings(estimate: RunEstimate, work: Path | None = None) -> Iterator[str]:
    """Where disk or memory of this machine may not do."""
    if work is not None and not estimate.cluster:
        free = shutil.disk_usage(_there(work)).free
        if free < estimate.disk_most.value:
            yield (
                f"Warning: {size(estimate.disk_most.value)} of disk are needed, and {size(free)}"
                f" are free at {printable(str(work))}."
            )
        elif free < estimate.disk_most.high:
            yield (
                f"Warning: up to {size(estimate.disk_most.high)} of disk may be needed, and"
                f" {size(free)} are free at {printable(str(work))}."
            )
    free = available_memory()
    if free and free < estimate.memory.value:
        cure = " Give --memory less, or fewer --jobs." if estimate.runner == EMBEDDED else ""
        if estimate.runner in CLUSTERS:
            cure = " With --no-validate it is much less."
        yield (
            f"Warning: {size(estimate.memory.value)} of memory are needed, and {size(free)} are"
            f" available.{cure}"
        )


def available_memory() -> int:
    """Bytes that programs may still take; 0 where the system does not tell."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return 0
    fields = dict(line.split(":") for line in text.splitlines())
    return int(fields.get("MemAvailable", "0").split()[0]) * 1024


def _there(path: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    path = Path(os.path.abspath(path))  # noqa: PTH100 (links stay links)
    return next(each for each in (path, *path.parents) if each.exists())


def estimate_line(estimate: RunEstimate) -> str:
    """The line for `inspect`, about a run on this machine."""
    if estimate.cluster:
        return (
            f"`crawlrank run` takes about {_hours(estimate.cluster.node_hours.value)} node-hours."
        )
    seconds, memory, disk = estimate.seconds, estimate.memory, estimate.disk_most
    return (
        f"`crawlrank run` takes about {duration(seconds.value)} ({duration(seconds.low)} to"
        f" {duration(seconds.high)}), {size(memory.value)} of memory and {size(disk.value)} of disk"
        f" (up to {size(disk.high)}): from {percent(estimate.share)} of the bytes, extracted and"
        " ranked on this machine just now."
    )


def estimate_document(estimate: RunEstimate, work: Path | None = None) -> dict[str, Any]:
    """The document for JSON: seconds, bytes and rows, each as low, value and high."""
    cluster = estimate.cluster
    return {
        "runner": estimate.runner,
        "archives": estimate.archives,
        "bytes": estimate.size,
        "sampled_bytes": estimate.sampled,
        "seconds": estimate.seconds._asdict(),
        "steps": {name: took._asdict() for name, took in estimate.steps.items()},
        "memory_bytes": estimate.memory._asdict(),
        "disk_bytes_most": estimate.disk_most._asdict(),
        "disk_bytes_end": estimate.disk_end._asdict(),
        "rows": {name: rows._asdict() for name, rows in estimate.rows.items()},
        "cluster": cluster
        and {
            "node_hours": cluster.node_hours._asdict(),
            "jobs": cluster.jobs,
            "hours_of_starting": cluster.starting,
        },
        "unreadable": {path: str(error) for path, error in estimate.unreadable.items()},
        "notes": list(estimate.notes),
        "warnings": list(warnings(estimate, work)),
    }
