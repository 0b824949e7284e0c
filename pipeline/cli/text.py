"""`import-text` and `export-text`: the recipe's text files to a work folder, and from one."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pipeline.cli.options import OUTPUT, memory_option, work_option
from pipeline.cli.outputs import said
from pipeline.data.memory import Memory, half_of_machine
from pipeline.export_text import export_text as write_text_files
from pipeline.import_text import Texts
from pipeline.import_text import import_text as read_text_files
from pipeline.terminal import printable

BELONG = {"captures": ("links",), "map": ("input_links", "graph")}
BEGINNINGS = ("links", "canonical_links", "input_links", "graph")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@click.command("import-text")
@work_option
@click.option("--links", multiple=True, help="Links of URIs, `target source [hop]`.")
@click.option(
    "--order",
    type=click.Choice(["target-source", "source-target"]),
    default="target-source",
    show_default=True,
    help="Which column of --links comes first; edge lists mostly have the source there.",
)
@click.option("--captures", multiple=True, help="With --links: captures, 8 or 10 columns.")
@click.option("--canonical-links", multiple=True, help="Links of keys, `target_key source_key`.")
@click.option(
    "--input-links",
    multiple=True,
    help="Links of keys, `id target_key source_key`; ids are made anew, in byte order of the keys.",
)
@click.option("--graph", help="Graph lines, `id<TAB>1.0<TAB>O:id,id,…`, such as pr0.txt.")
@click.option(
    "--map",
    "maps",
    multiple=True,
    help="`id key`. With --graph: the keys of its ids. With --input-links: pages without links,"
    " which `run --nodes all` ranks too.",
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
    memory: Memory | None,
) -> None:
    """Text files to a new work folder, from which `crawlrank run --work DIR` goes on.

    One of --links, --canonical-links, --input-links and --graph is needed, each a file, a glob or a
    folder of parts, plain, .gz or .parquet; all but --graph may be given several times. Without
    URIs there are ranks and scores by key, or by id, and no precedence file.
    """
    texts = Texts(
        links, captures, canonical_links, input_links, maps, graph or "", order == "source-target"
    )
    _check_usage(texts)
    memory = memory or half_of_machine()
    found = read_text_files(work, texts, budget=memory.budget, threads=os.cpu_count() or 1)
    said(found.rows, found.counters)
    for place in found.examples:
        click.echo(f"left out: {printable(place)}", err=True)
    click.echo(f"{printable(str(work))} is ready for `crawlrank run --work`.")


def _check_usage(texts: Texts) -> None:
    given = [name for name in BEGINNINGS if getattr(texts, name)]
    if len(given) != 1:
        named = ", ".join(map(_option, BEGINNINGS))
        raise click.UsageError(f"one of {named} is needed" + (", not several" if given else ""))
    for name, owners in BELONG.items():
        if getattr(texts, name) and given[0] not in owners:
            raise click.UsageError(f"{_option(name)} goes with {' or '.join(map(_option, owners))}")
    if texts.source_first and not texts.links:
        raise click.UsageError("--order goes with --links")


@click.command("export-text")
@work_option
@click.option("--out", type=OUTPUT, required=True, help="Folder for the recipe's own files.")
def export_text(work: Path, out: Path) -> None:
    """The recipe's own text files, from links.txt to precedence.txt, and captures.txt."""
    for path in write_text_files(work, out):
        click.echo(printable(str(path)))
