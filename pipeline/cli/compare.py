"""`diff` and `explain`: what changed between two runs, how far rankings of one work folder agree
with each other and with people's ratings, and the score of one page."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import json_option, show, write_json
from crawlrank.pipeline.cli.parameters.calls import echo
from crawlrank.pipeline.cli.parameters.groups import on_command_line, option
from crawlrank.pipeline.cli.parameters.options import (
    OUTPUT,
    memory_option,
    ranked_work_option,
)
from crawlrank.pipeline.cli.parameters.types import Whole
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.workfolder.rankings import OWN, is_usable, labels, ranking_folder

if TYPE_CHECKING:
    from crawlrank.pipeline.analysis.compare.diff import Diff
    from crawlrank.pipeline.workfolder.results.finished import Finished


@command("diff")
@click.argument("works", nargs=-1, required=True, type=OUTPUT, metavar="WORK [NEWER]")
@option(
    "--ranking",
    "rankings",
    multiple=True,
    metavar="LABEL",
    help=f"Of two runs: the ranking of both (default: that of the run). Of one: a ranking to"
    f" compare; `{OWN}` is that of the run (default: that and all others).",
)
@option(
    "--ratings",
    type=OUTPUT,
    metavar="FILE",
    help="Of one run: compare with what people say, a CSV file with the columns page, rater and"
    " rating, 1 to 4.",
)
@option(
    "--top",
    type=Whole(0),
    default=10,
    help="Pages to list, of two runs for each kind: risen, fallen, new and gone.",
)
@option(
    "--links",
    type=Whole(0),
    default=3,
    help="Of two runs: links won, and links lost, to list for each page: those that give most.",
)
@json_option
@memory_option
def diff(
    works: tuple[Path, ...],
    rankings: tuple[str, ...],
    ratings: Path | None,
    top: int,
    links: int,
    output: Path | None,
    memory: Memory,
) -> None:
    """WORK and NEWER are the work folders of two finished runs, of any runner: the report has
    pages, classes, the order, and why pages moved. The classes of both are cut as in NEWER.

    WORK alone is a work folder with several rankings, which `crawlrank rank` makes. The report has
    rank correlations, how many of the best pages and of the classes are the same and, for two
    rankings, the pages that differ most with the links that give them most.
    """
    if len(works) > 2:
        raise click.UsageError(f"{len(works)} work folders; expected one or two")
    if len(works) == 2:
        if len(rankings) > 1 or ratings:
            raise click.UsageError("several --ranking, and --ratings, go with one work folder")
        ranking = rankings[0] if rankings else None
        changes = _changes(works[0], works[1], ranking, memory, top=top, links=links)
        _show_changes(changes, output)
        return
    if on_command_line("links"):
        raise click.UsageError("--links goes with two work folders")
    names = _chosen(works[0], rankings, least=1 if ratings else 2)
    with _opened(works[0], names, memory) as ranked:
        if ratings:
            _show_rated(ranked, ratings, output)
        else:
            _show_pairs(ranked, top, output)


def _changes(
    before: Path, after: Path, ranking: str | None, memory: Memory, *, top: int, links: int
) -> Diff:
    from crawlrank.pipeline.analysis.compare.diff import diff as compared
    from crawlrank.pipeline.workfolder.results.opened import open_finished, temporary_database

    folders = (ranking_folder(before, ranking), "a"), (ranking_folder(after, ranking), "b")
    with temporary_database(memory.budget) as (db, near):
        older, newer = (open_finished(work, db, near, name) for work, name in folders)
        return compared(older, newer, top=top, links=links)


def _show_changes(changes: Diff, output: Path | None) -> None:
    from crawlrank.pipeline.analysis.compare.diff_report import SCHEMA, tables

    write_json(SCHEMA, asdict(changes), output)
    show(tables(changes), output)


@command("explain")
@ranked_work_option
@click.argument("uri")
@option(
    "--links",
    "top",
    type=Whole(0),
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
    from crawlrank.pipeline.analysis.compare.explain import explain as explained
    from crawlrank.pipeline.analysis.compare.explain import key_of
    from crawlrank.pipeline.analysis.compare.explain_report import SCHEMA, tables
    from crawlrank.pipeline.workfolder.results.opened import open_finished, temporary_database
    from crawlrank.pipeline.workfolder.results.weights import NotAURI

    with temporary_database(memory.budget) as (db, near):
        finished = open_finished(work, db, near, "a")
        try:
            key = key_of(finished, uri)
        except NotAURI as error:
            raise click.BadParameter(str(error), param_hint="URI") from error
        explanation = explained(finished, uri, key, top)
    write_json(SCHEMA, asdict(explanation), output)
    show(tables(explanation), output)


def _chosen(work: Path, rankings: Sequence[str], *, least: int) -> list[str]:
    names = list(dict.fromkeys(rankings)) or _usable(work)
    if rankings and len(names) < least:
        names = [OWN, *(name for name in names if name != OWN)]
    if len(names) < least:
        raise click.UsageError(f"{work} has one ranking only: `crawlrank rank` makes others")
    return names


def _usable(work: Path) -> list[str]:
    """All rankings but those that are not finished, or not of this graph; these are told."""
    others = {label: is_usable(work, label) for label in labels(work)}
    for label in (label for label, usable in others.items() if not usable):
        message = f"{label} is left out: it is not finished, or of another graph"
        echo(f"crawlrank: the ranking {printable(message)}", err=True)
    return [OWN, *(label for label, usable in others.items() if usable)]


@contextlib.contextmanager
def _opened(
    work: Path, names: Sequence[str], memory: Memory
) -> Iterator[list[tuple[str, Finished]]]:
    from crawlrank.pipeline.workfolder.results.opened import open_finished, temporary_database

    with temporary_database(memory.budget) as (db, near):
        yield [
            (name, open_finished(ranking_folder(work, name), db, near, f"r{at}"))
            for at, name in enumerate(names)
        ]


def _show_pairs(ranked: list[tuple[str, Finished]], top: int, output: Path | None) -> None:
    from crawlrank.pipeline.analysis.compare.agree import SCHEMA, sides_of, tables
    from crawlrank.pipeline.analysis.compare.agree import agree as compared

    pairs = [compared(*pair, top) for pair in combinations(sides_of(ranked), 2)]
    write_json(SCHEMA, {"pairs": [asdict(pair) for pair in pairs]}, output)
    show(tables(pairs), output)


def _show_rated(ranked: list[tuple[str, Finished]], ratings: Path, output: Path | None) -> None:
    from crawlrank.pipeline.analysis.compare.agree import SCHEMA, rated, rated_tables
    from crawlrank.pipeline.analysis.compare.rating_files import read_ratings, table_of

    rankings, raters = rated(ranked, table_of(read_ratings(ratings)))
    results = {"raters": raters, "rankings": [asdict(ranking) for ranking in rankings]}
    write_json(SCHEMA, results, output)
    show(rated_tables(rankings, raters), output)
