"""`diff` and `explain`: what has changed between two runs, and why a page stands where it does."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from pipeline.cli.options import OUTPUT, memory_option, work_option
from pipeline.data.datasets import replacing
from pipeline.data.memory import Memory, half_of_machine
from pipeline.terminal import console, lines
from pipeline.version import crawlrank_version

if TYPE_CHECKING:
    import duckdb

STDOUT = Path("-")
json_option = click.option(
    "--json",
    "output",
    type=OUTPUT,
    help="Also write it as JSON; `-`: to standard output, in place of the tables.",
)


@click.command()
@click.argument("work_a", type=OUTPUT)
@click.argument("work_b", type=OUTPUT)
@click.option(
    "--top",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Pages that are told one by one: of those risen, fallen, new and gone.",
)
@click.option(
    "--links",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="Links won, and lost, that are told of each of them, those that give most.",
)
@json_option
@memory_option
def diff(
    work_a: Path, work_b: Path, top: int, links: int, output: Path | None, memory: Memory | None
) -> None:
    """What has changed from WORK_A to WORK_B: pages, classes, the order, and why pages moved.

    Both are work folders of finished runs, of any runner. Classes of both are cut as in WORK_B.
    """
    from pipeline.analysis.compare.diff import diff as compared
    from pipeline.analysis.compare.diff_report import as_data, tables
    from pipeline.workfolder.results.opened import open_finished

    with _database(memory) as (db, near):
        before, after = (
            open_finished(work, db, near, name) for work, name in ((work_a, "a"), (work_b, "b"))
        )
        told = compared(before, after, top=top, links=links)
    _show(tables(told), as_data(told, crawlrank_version()), output)


@click.command()
@work_option
@click.argument("uri")
@click.option(
    "--links",
    "top",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Incoming links that are told one by one, those that give most.",
)
@json_option
@memory_option
def explain(work: Path, uri: str, top: int, output: Path | None, memory: Memory | None) -> None:
    """Why the page of URI has its score, its class and its lines in the precedence file.

    Any spelling will do, or the key. Every link to the page gives 0.85 times its source's score,
    divided by the number of pages that the source links to.
    """
    from pipeline.analysis.compare.explain import NotAURI, key_of
    from pipeline.analysis.compare.explain import explain as explained
    from pipeline.analysis.compare.explain_report import as_data, tables
    from pipeline.workfolder.results.opened import open_finished

    with _database(memory) as (db, near):
        finished = open_finished(work, db, near, "a")
        try:
            key = key_of(finished, uri)
        except NotAURI as error:
            raise click.BadParameter(str(error), param_hint="URI") from error
        told = explained(finished, uri, key, top)
    _show(tables(told), as_data(told, crawlrank_version()), output)


@contextlib.contextmanager
def _database(memory: Memory | None) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Nothing is written to a work folder: what does not fit goes where temporary files do."""
    from pipeline.data.database import database

    budget = (memory or half_of_machine()).budget // 2  # arrays have the other half
    threads = os.cpu_count() or 1
    with (
        tempfile.TemporaryDirectory(prefix="crawlrank-") as tmp,
        database(Path(tmp), budget=budget, threads=threads) as opened,
    ):
        yield opened


def _show(tables: Iterable[Table], data: dict[str, Any], output: Path | None) -> None:
    if output == STDOUT:
        click.echo(json.dumps(data, indent=1))
        return
    width = console().width
    for table in tables:
        click.echo("\n".join([*lines(table, width), ""]))
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
        with replacing(output) as place:
            place.write_text(json.dumps(data, indent=1) + "\n")
