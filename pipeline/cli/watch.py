"""`lab watch`: a page in which OPIC runs before one's eyes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import STDOUT, check_files
from crawlrank.pipeline.cli.parameters.groups import option
from crawlrank.pipeline.cli.parameters.options import OUTPUT, memory_option
from crawlrank.pipeline.cli.parameters.types import Days
from crawlrank.pipeline.cli.parameters.words import WorkOption
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.lab.watch import MOST_NODES
from crawlrank.pipeline.terminal import printable

if TYPE_CHECKING:
    from crawlrank.pipeline.lab.watch import Drawn

NAME = Path("watch.html")
SECONDS_A_DAY = 86_400


@command("lab watch")
@option("--graph", type=OUTPUT, metavar="FILE", help="Graph lines, of gen-graph or page-rank.")
@option("--work", cls=WorkOption, type=OUTPUT, help="Work folder of a finished run.")
@option(
    "--around",
    metavar="URI",
    help="Page of WORK, by URI or key: draw what is near it (default: the best pages).",
)
@option(
    "--nodes",
    "most",
    type=click.IntRange(2, MOST_NODES),
    default=60,
    help="Pages of WORK to draw, at most.",
)
@option(
    "--output",
    type=OUTPUT,
    help=f"File for the page; `-`: standard output (default: {NAME}, unless --serve).",
)
@click.option("--serve", is_flag=True, help="Serve the page on loopback, and print its URL.")
@option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="Port of --serve; 0: any that is free.",
)
@option("--idle", type=Days(), default="30m", help="--serve ends after this time without request.")
@memory_option
def watch(
    graph: Path | None,
    work: Path | None,
    around: str | None,
    most: int,
    output: Path | None,
    serve: bool,
    port: int,
    idle: float,
    memory: Memory,
) -> None:
    """The page has examples, and the graph of a file or a part of a crawl: play, step, policies,
    windows, the error against the exact importance, pages and links to add and remove.

    It is one file that needs no network. --serve ends by itself, or with Ctrl-C.
    """
    if graph and work:
        raise click.UsageError("--graph and WORK are two graphs: give one of them")
    if around is not None and work is None:
        raise click.UsageError("--around needs WORK, the crawl that has the page")
    if serve and output:
        raise click.UsageError("--serve and --output exclude each other")
    target = output or NAME
    if not serve:
        check_files(target, inputs=[graph] if graph else [])
    text = _page(graph, work, around, most, memory)
    if serve:
        _serve(text, port, idle * SECONDS_A_DAY)
        return
    if target == STDOUT:
        click.echo(text.encode(), nl=False)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    click.echo(f"{printable(str(target))}: open it in a browser")


def _page(
    graph: Path | None, work: Path | None, around: str | None, most: int, memory: Memory
) -> str:
    from crawlrank.pipeline.lab.watch import drawn_file, watch_page

    if work:
        return watch_page(_of_work(work, around, most, memory))
    return watch_page(drawn_file(graph) if graph else None)


def _of_work(work: Path, around: str | None, most: int, memory: Memory) -> Drawn:
    from crawlrank.pipeline.lab.watch import drawn_around, drawn_best
    from crawlrank.pipeline.workfolder.results.opened import open_finished, temporary_database
    from crawlrank.pipeline.workfolder.results.weights import NotAURI

    with temporary_database(memory.budget) as (db, near):
        finished = open_finished(work, db, near, "a")
        if around is None:
            return drawn_best(finished, most)
        try:
            return drawn_around(finished, around, most)
        except NotAURI as error:
            raise click.BadParameter(str(error), param_hint="--around") from error


def _serve(text: str, port: int, seconds: float) -> None:
    from crawlrank.pipeline.pages.serving import PageServer

    server = PageServer(text, port)
    click.echo(server.url)
    server.serve_until_idle(seconds)
    click.echo("stopped, as nobody asked for the page", err=True)
