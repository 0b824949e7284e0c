"""`agree`: rankings of one work folder beside each other, and beside people's ratings."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.cli.commands import command
from pipeline.cli.compare import database_beside
from pipeline.cli.groups import option
from pipeline.cli.options import OUTPUT, memory_option
from pipeline.cli.outputs import json_option, show, write_json
from pipeline.data.memory import Memory
from pipeline.workfolder.rankings import OWN, labels, named_ranking

if TYPE_CHECKING:
    from pipeline.workfolder.results.finished import Finished


@command("agree")
@click.argument("work", type=OUTPUT)
@option(
    "--ranking",
    "rankings",
    multiple=True,
    metavar="LABEL",
    help=f"A ranking to compare; `{OWN}` is that of the run (default: that and all others).",
)
@option(
    "--ratings",
    type=OUTPUT,
    metavar="FILE",
    help="Compare with what people say: CSV with the columns page, rater and rating, 1 to 4.",
)
@option("--top", type=click.IntRange(0), default=10, help="Pages that differ most, to list.")
@json_option
@memory_option
def agree(
    work: Path,
    rankings: tuple[str, ...],
    ratings: Path | None,
    top: int,
    output: Path | None,
    memory: Memory,
) -> None:
    """WORK is a work folder with several rankings, which `crawlrank rank` makes. The report has
    rank correlations, how many of the best pages and of the classes are the same and, for two
    rankings, the pages that differ most with the links that give them most."""
    names = _chosen(work, rankings, least=1 if ratings else 2)
    with _opened(work, names, memory) as ranked:
        if ratings:
            _show_rated(ranked, ratings, output)
        else:
            _show_pairs(ranked, top, output)


def _chosen(work: Path, rankings: Sequence[str], *, least: int) -> list[str]:
    names = list(dict.fromkeys(rankings)) or [OWN, *labels(work)]
    if rankings and len(names) < least:
        names = [OWN, *(name for name in names if name != OWN)]
    if len(names) < least:
        raise click.UsageError(f"{work} has one ranking only: `crawlrank rank` makes others")
    return names


@contextlib.contextmanager
def _opened(
    work: Path, names: Sequence[str], memory: Memory
) -> Iterator[list[tuple[str, Finished]]]:
    from pipeline.workfolder.results.opened import open_finished

    with database_beside(memory) as (db, near):
        yield [
            (name, open_finished(named_ranking(work, name), db, near, f"r{at}"))
            for at, name in enumerate(names)
        ]


def _show_pairs(ranked: list[tuple[str, Finished]], top: int, output: Path | None) -> None:
    from pipeline.analysis.compare.agree import agree as compared
    from pipeline.analysis.compare.agree import sides_of
    from pipeline.analysis.compare.agree_report import SCHEMA, tables

    pairs = [compared(*pair, top) for pair in combinations(sides_of(ranked), 2)]
    write_json(SCHEMA, {"pairs": [asdict(pair) for pair in pairs]}, output)
    show(tables(pairs), output)


def _show_rated(ranked: list[tuple[str, Finished]], ratings: Path, output: Path | None) -> None:
    from pipeline.analysis.compare.agree_report import SCHEMA, rated_tables
    from pipeline.analysis.compare.rated import rated
    from pipeline.workfolder.rating_files import read_ratings, table_of

    rankings, raters = rated(ranked, table_of(read_ratings(ratings)))
    results = {"raters": raters, "rankings": [asdict(ranking) for ranking in rankings]}
    write_json(SCHEMA, results, output)
    show(rated_tables(rankings, raters), output)
