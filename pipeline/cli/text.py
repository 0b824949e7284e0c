"""`step import-text`: text files to a work folder."""

from __future__ import annotations

import os
from pathlib import Path

import click

from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import print_counts
from crawlrank.pipeline.cli.parameters.groups import option
from crawlrank.pipeline.cli.parameters.options import (
    memory_option,
    work_option,
)
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.import_text import Texts
from crawlrank.pipeline.import_text import import_text as read_text_files
from crawlrank.pipeline.terminal import printable

GOES_WITH = {"captures": ("links",), "map": ("input_links", "graph")}
BEGINNINGS = ("links", "canonical_links", "input_links", "graph")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@command("step import-text")
@work_option
@option("--links", multiple=True, help="Links of URIs, `target source [hop]`.")
@option(
    "--order",
    type=click.Choice(["target-source", "source-target"]),
    default="target-source",
    help="Order of the columns of links, of URIs, keys or numbers; in most edge lists the source"
    " comes first.",
)
@option("--captures", multiple=True, help="With --links: captures, 8 or 10 columns.")
@option("--canonical-links", multiple=True, help="Links of keys, `target_key source_key`.")
@option(
    "--input-links",
    multiple=True,
    help="Links of keys, `id target_key source_key`; new ids replace these, in byte order of keys.",
)
@option("--graph", help="Graph lines, `id<TAB>1.0<TAB>O:id,id,…`, such as pr0.txt.")
@option(
    "--map",
    "maps",
    multiple=True,
    help="Ids and keys, `id key`. With --graph: the keys of its ids. With --input-links: adds pages"
    " without links, which `run --nodes all` ranks too.",
)
@memory_option
def import_text(
    work: Path,
    links: tuple[str, ...],
    order: str,
    captures: tuple[str, ...],
    canonical_links: tuple[str, ...],
    input_links: tuple[str, ...],
    graph: str | None,
    maps: tuple[str, ...],
    memory: Memory,
) -> None:
    """`crawlrank run --work WORK` continues from it.

    Give one of --links, --canonical-links, --input-links and --graph: a file, a glob or a folder of
    parts, plain, .gz or .parquet. All but --graph may be given several times. Text without URIs
    gives ranks and scores by key, or by id, and no precedence file.
    """
    texts = Texts(
        links, captures, canonical_links, input_links, maps, graph or "", order == "source-target"
    )
    _check_usage(texts)
    result = read_text_files(work, texts, budget=memory.budget, threads=os.cpu_count() or 1)
    print_counts(result.rows, result.counters)
    for example in result.examples:
        click.echo(f"left out: {printable(example)}", err=True)
    click.echo(f"{printable(str(work))} is ready for `crawlrank run --work`.")


def _check_usage(texts: Texts) -> None:
    beginnings = [name for name in BEGINNINGS if getattr(texts, name)]
    if len(beginnings) != 1:
        names = ", ".join(map(_option, BEGINNINGS))
        more = ", not several" if beginnings else ""
        raise click.UsageError(f"one of {names} is needed{more}")
    for name, owners in GOES_WITH.items():
        if getattr(texts, name) and beginnings[0] not in owners:
            raise click.UsageError(f"{_option(name)} goes with {' or '.join(map(_option, owners))}")
    if texts.source_first and texts.graph:
        raise click.UsageError("--order goes with --links, --canonical-links or --input-links")
