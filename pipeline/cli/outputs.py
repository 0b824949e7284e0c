"""What commands write: counts on stderr, tables on stdout, JSON; and the checks of output paths."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import click

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.reading import is_table, parts
from crawlrank.pipeline.cli.parameters.calls import echo, program_call
from crawlrank.pipeline.cli.parameters.options import OUTPUT
from crawlrank.pipeline.data.datasets import STDOUT as STDOUT
from crawlrank.pipeline.data.datasets import (
    is_file,
    refuse_existing,
    replacing,
    require_replaceable,
)
from crawlrank.pipeline.terminal import TextTable, printable, width_of
from crawlrank.pipeline.terminal.counter_meanings import meaning_of
from crawlrank.pipeline.terminal.text import json_text
from crawlrank.pipeline.version import crawlrank_version

json_option = click.option(
    "--json",
    "output",
    type=OUTPUT,
    help="Also write the results as JSON; `-`: to standard output, without the tables.",
)

verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Also show figures that say how results came about."
)


def print_counts(rows: dict[str, int], counters: dict[str, int]) -> None:
    """Rows and counters on stderr, so that a pipe gets none of it."""
    table = TextTable("", "=what", ">count", "~which is")
    for name, count in {**rows, **counters}.items():
        table.add(name, count, meaning_of(name))
    echo("\n".join(table.lines(width_of(sys.stderr))), err=True)


def show(tables: Iterable[TextTable | str], output: Path | None = None) -> None:
    """Tables and sentences on standard output, if the JSON is not there, with an empty line after
    each. Tables without rows are left out."""
    if output == STDOUT:
        return
    width = width_of(sys.stdout)
    for part in tables:
        if isinstance(part, str):
            echo(f"{printable(part)}\n")
        elif part.row_count:
            echo("\n".join([*part.lines(width), ""]))


def write_json(schema: str, data: dict[str, Any], output: Path | None) -> None:
    """One document, to a file or to standard output; nothing without an output."""
    if output:
        with json_stream(output) as stream:
            document = {"schema": schema, "version": crawlrank_version(), **data}
            stream.write(json_text(document, indent=1) + "\n")


@contextlib.contextmanager
def json_stream(output: Path) -> Iterator[TextIO]:
    """Standard output, or a file that is put in place when it is complete."""
    if output == STDOUT:
        call = program_call()
        yield call.document if call else sys.stdout
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    with replacing(output) as temporary, temporary.open("w") as stream:
        yield stream


def check_format(form: str | None, *outputs: Path) -> None:
    """Refuse files whose names say another format than --format."""
    for output in outputs if form else ():
        if is_file(output) and is_table(output) != (form == "parquet"):
            wanted = "end in .parquet" if form == "parquet" else "not end in .parquet"
            raise click.UsageError(f"{output} must {wanted}, with --format {form}")


def ending_of(output: Path, *, packed: bool = True) -> str:
    """What the name says of the format, without the dot. packed: .gz may be after it."""
    name = output.name.lower()
    return (name.removesuffix(".gz") if packed else name).rpartition(".")[2]


def check_ending(output: Path, endings: Iterable[str], form: str, option: str) -> None:
    """Refuse a file whose ending is one of these, and another than that of the format."""
    ending = ending_of(output)
    if "." in output.name and ending in endings and ending != form:
        cure = f"give {option} {ending}, or another name"
        raise click.UsageError(f"{output} is named .{ending}, and its format is {form}: {cure}")


def require_ending(
    output: Path, option: str, endings: Iterable[str], *, packed: bool = True
) -> None:
    """Refuse a file whose ending is none of these. packed: .gz may be after it."""
    if "." not in output.name or ending_of(output, packed=packed) not in endings:
        *names, last = (f".{ending}" for ending in endings)
        raise click.UsageError(f"{option} {output} must end in {', '.join(names)} or {last}")


def check_outputs(*outputs: Path, inputs: Iterable[str | Path], text: bool = False) -> None:
    """Refuse datasets that exist as folders, that are inputs too, or that are the same. text: they
    are written as text, and nothing else."""
    _check_apart(outputs, inputs)
    for output in outputs:
        if output == STDOUT:
            raise click.UsageError("a dataset is not written to standard output; name a file")
        if text and output.suffix == ".parquet":
            raise click.UsageError(f"{output}: this step writes text; name it .txt or .txt.gz")
        refuse_existing(output)


def check_files(*outputs: Path | None, inputs: Iterable[str | Path]) -> None:
    """Check outputs that are one file, which may replace a file of an earlier run."""
    files = [output for output in outputs if output and output != STDOUT]
    _check_apart(files, inputs)
    for output in files:
        require_replaceable(output)
        if output.is_dir():
            raise BadInput(str(output), "a folder", "the name of a file", "Name a file in it.")


def _check_apart(outputs: Sequence[Path], inputs: Iterable[str | Path]) -> None:
    known: set[Path] = set()
    for path_or_url in inputs:
        with contextlib.suppress(BadInput):  # whoever reads the input reports that it is missing
            known.update(path.resolve() for path in parts(path_or_url))
    for output in outputs:
        if output.resolve() in known:
            raise click.UsageError(f"{output} is an input too, and would be overwritten")
    if len(set(outputs)) < len(outputs):
        raise click.UsageError(f"{outputs[0]} is named for two outputs")
