"""What the commands of the steps share: checks of outputs, and counts on stderr."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from rich.table import Table

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.reading import parts
from jobs.kernel.formats.tables import is_table
from pipeline.data.datasets import is_file, refuse_existing
from pipeline.terminal import cell, console


def said(rows: dict[str, int], counters: dict[str, int]) -> None:
    """Rows and counters on stderr, so that a pipe sees none of it."""
    table = Table(box=None, pad_edge=False)
    table.add_column("what")
    table.add_column("count", justify="right")
    for name, count in {**rows, **counters}.items():
        table.add_row(cell(name), f"{count:,}")
    console(stderr=True).print(table)


def check_format(form: str | None, *outputs: Path) -> None:
    """Refuse files whose names say another format than --format."""
    for output in outputs if form else ():
        if is_file(output) and is_table(output) != (form == "parquet"):
            wanted = "end in .parquet" if form == "parquet" else "not end in .parquet"
            raise click.UsageError(f"{output} must {wanted}, with --format {form}")


def check_outputs(*outputs: Path, inputs: Iterable[str | Path]) -> None:
    """Refuse datasets that are there as folders, that are read, or that are one and the same."""
    _check_apart(outputs, inputs)
    for output in outputs:
        refuse_existing(output)


def check_files(*outputs: Path, inputs: Iterable[str | Path]) -> None:
    """The same of what is one file whatever its name: it replaces the one of an earlier run."""
    _check_apart(outputs, inputs)
    for output in outputs:
        if output.is_dir():
            raise BadInput(str(output), "a folder", "the name of a file", "Name a file in it.")


def _check_apart(outputs: Sequence[Path], inputs: Iterable[str | Path]) -> None:
    read: set[Path] = set()
    for where in inputs:
        with contextlib.suppress(BadInput):  # what is missing is told of by who reads it
            read.update(path.resolve() for path in parts(where))
    for output in outputs:
        if output.resolve() in read:
            raise click.UsageError(f"{output} is an input too, and would be overwritten")
    if len(set(outputs)) < len(outputs):
        raise click.UsageError(f"{outputs[0]} is named for two outputs")
