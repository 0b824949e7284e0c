"""`diff` and `explain`: what changed between two runs, and the score of one page."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.cli.commands import command
from pipeline.cli.groups import option
from pipeline.cli.options import OUTPUT, memory_option, ranked_work_option, ranking_option
from pipeline.cli.outputs import json_option, show, write_json
from pipeline.data.memory import Memory
from pipeline.workfolder.rankings import ranking_folder

if TYPE_CHECKING:
    import duckdb


@command("diff")
@click.argument("work_a", type=OUTPUT)
@click.argument("work_b", type=OUTPUT)
@ranking_option
@option(
    "--top",
    type=click.IntRange(0),
    default=10,
    help="Pages to list of each kind: risen, fallen, new and gone.",
)
@option(
    "--links",
    type=click.IntRange(0),
    default=3,
    help="Links won, and links lost, to list for each page: those that give most.",
)
@json_option
@memory_option
def diff(
    work_a: Path,
    work_b: Path,
    ranking: str | None,
    top: int,
    links: int,
    output: Path | None,
    memory: Memory,
) -> None:
    """The report has pages, classes, the order, and why pages moved.

    Both are work folders of finished runs, of any runner. Classes of both are cut as in WORK_B.
    """
    from pipeline.analysis.compare.diff import diff as compared
    from pipeline.analysis.compare.diff_report import SCHEMA, tables
    from pipeline.workfolder.results.opened import open_finished

    folders = (ranking_folder(work_a, ranking), "a"), (ranking_folder(work_b, ranking), "b")
    with database_beside(memory) as (db, near):
        before, after = (open_finished(work, db, near, name) for work, name in folders)
        changes = compared(before, after, top=top, links=links)
    write_json(SCHEMA, asdict(changes), output)
    show(tables(changes), output)


@command("explain")
@ranked_work_option
@click.argument("uri")
@option(
    "--links",
    "top",
    type=click.IntRange(0),
    default=10,
    help="Incoming links to list: those that give most.",
)
@json_option
@memory_option
def explain(work: Path, uri: str, top: int, output: Path | None, memory: Memory) -> None:
    """URI is any spelling of the page, or its key.

    The report says what each link gives to the score: with PageRank 0.85 times its source's score,
    divided by the number of pages that the source links to. It also has the page's lines in the
    precedence file.
    """
    from pipeline.analysis.compare.explain import explain as explained
    from pipeline.analysis.compare.explain import key_of
    from pipeline.analysis.compare.explain_report import SCHEMA, tables
    from pipeline.workfolder.results.opened import open_finished
    from pipeline.workfolder.results.page_keys import NotAURI

    with database_beside(memory) as (db, near):
        finished = open_finished(work, db, near, "a")
        try:
            key = key_of(finished, uri)
        except NotAURI as error:
            raise click.BadParameter(str(error), param_hint="URI") from error
        explanation = explained(finished, uri, key, top)
    write_json(SCHEMA, asdict(explanation), output)
    show(tables(explanation), output)


@contextlib.contextmanager
def database_beside(memory: Memory) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A database in the folder for temporary files, as nothing is written to a work folder."""
    from pipeline.data.database import database

    budget = memory.budget // 2  # arrays have the other half
    threads = os.cpu_count() or 1
    with (
        tempfile.TemporaryDirectory(prefix="crawlrank-") as tmp,
        database(Path(tmp), budget=budget, threads=threads) as opened,
    ):
        yield opened
