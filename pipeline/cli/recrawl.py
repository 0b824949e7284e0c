"""`recrawl` and `verify-precedence`: a job of Heritrix that follows a ranking."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from jobs.kernel.errors import count_of
from jobs.kernel.storage.binary_files import require_text
from jobs.kernel.storage.opening import require_file
from pipeline.cli.commands import command
from pipeline.cli.outputs import check_files, json_option, show, write_json
from pipeline.cli.parameters.groups import Decorator, grouped, option
from pipeline.cli.parameters.options import OUTPUT, ranking_option
from pipeline.cli.parameters.types import Whole
from pipeline.terminal import TextTable, printable
from pipeline.workfolder.rankings import ranking_folder

if TYPE_CHECKING:
    from pipeline.heritrix.home import HeritrixHome
    from pipeline.heritrix.recrawl import Preparation, Recrawl
    from pipeline.heritrix.rest import Login
    from pipeline.heritrix.rest_crawl import RestCrawl

SCHEMA = "crawlrank-verify-precedence/1"
LAST_CLASS = 125


class Console(NamedTuple):
    """A running Heritrix. checkpoint: from which the job is launched."""

    url: str
    login: Login
    certificate: str | None
    insecure: bool
    checkpoint: str | None


def heritrix_option(**attributes: bool) -> Decorator:
    return option(
        "--heritrix",
        type=OUTPUT,
        envvar="HERITRIX_HOME",
        show_envvar=True,
        help="Folder of the distribution of Heritrix 3, with lib in it.",
        **attributes,
    )


def _console(
    rest: str | None,
    login: Path | None,
    certificate: str | None,
    insecure: bool,
    checkpoint: str | None,
) -> Console | None:
    if rest is None:
        if login or certificate or insecure or checkpoint:
            raise click.UsageError(
                "--login, --certificate, --insecure and --checkpoint go with --rest"
            )
        return None
    if certificate and insecure:
        raise click.UsageError("give --certificate or --insecure, not both")
    from pipeline.heritrix.rest import read_login

    return Console(rest, read_login(login), certificate, insecure, checkpoint)


console_options = grouped(
    "console",
    _console,
    option(
        "--rest",
        metavar="URL",
        help="Then build and launch the job in the Heritrix at https://HOST:PORT, wait for its end,"
        " and audit it.",
    ),
    option(
        "--login",
        type=OUTPUT,
        help="File with the line user:password (default: the variable CRAWLRANK_HERITRIX_LOGIN).",
    ),
    option(
        "--certificate",
        metavar="SHA256",
        help="Fingerprint of Heritrix's certificate, which it has signed itself.",
    ),
    click.option("--insecure", is_flag=True, help="Take any certificate."),
    option("--checkpoint", metavar="NAME", help="Launch from this checkpoint; `latest`: the last."),
)


class Seeds(NamedTuple):
    """Which pages become seeds; keep: leave those of the job."""

    last_class: int | None
    top: int | None
    keep: bool


def _seeds(last_class: int | None, top: int | None, keep: bool) -> Seeds:
    if keep and (last_class or top):
        raise click.UsageError("--keep-seeds goes without --seeds-from-class and --top")
    return Seeds(last_class, top, keep)


seeds_options = grouped(
    "seeds",
    _seeds,
    option(
        "--seeds-from-class",
        "last_class",
        type=click.IntRange(1, LAST_CLASS),
        metavar="N",
        help="Make only pages of the classes 1 to N seeds (default: all pages).",
    ),
    option("--top", type=Whole(1), metavar="N", help="Make only the first N pages seeds."),
    click.option("--keep-seeds", "keep", is_flag=True, help="Leave the seeds of the job."),
)


@command("recrawl")
@option("--job", type=OUTPUT, required=True, help="Folder of the job, HERITRIX/jobs/NAME.")
@option("--work", type=OUTPUT, help="Work folder of a finished run.")
@option("--plan", type=OUTPUT, help="Folder of `crawlrank plan`: crawl what is due.")
@ranking_option
@heritrix_option()
@seeds_options
@click.option("--no-annotations", is_flag=True, help="Do not log the precedence of each fetch.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--undo", is_flag=True, help="Take back what the last recrawl wrote into the job.")
@console_options
def recrawl(
    job: Path,
    work: Path | None,
    plan: Path | None,
    ranking: str | None,
    heritrix: Path | None,
    seeds: Seeds,
    no_annotations: bool,
    dry_run: bool,
    undo: bool,
    console: Console | None,
) -> None:
    """The next launch of the job then crawls in the order of the ranking: its beans get what
    Heritrix needs for that, its seeds are the pages of the precedence file, best first, and the
    file is loaded into its state and looked up there. The job must be torn down.
    """
    from pipeline.heritrix.job_folder import JobFolder
    from pipeline.heritrix.pages import SeedRule
    from pipeline.heritrix.recrawl import Recrawl

    folder = JobFolder(job)
    if undo:
        for name in folder.undo():
            click.echo(printable(f"{folder.path / name}: as it was before"))
        return
    if (work is None) == (plan is None) or (plan and ranking):
        raise click.UsageError("--work, or --plan without --ranking, is needed, or --undo")
    if not dry_run and heritrix is None:
        raise click.UsageError("--heritrix is needed, or the variable HERITRIX_HOME")
    rule = None if seeds.keep else SeedRule(seeds.last_class, seeds.top)
    ranked = plan or ranking_folder(work or Path(), ranking)
    wanted = Recrawl(folder, ranked, rule, not no_annotations, plan is not None)
    if dry_run or heritrix is None:
        _show_changes(wanted)
    else:
        _make_ready(wanted, heritrix, console)


def _show_changes(wanted: Recrawl) -> None:
    from pipeline.heritrix.recrawl import prepared

    with tempfile.TemporaryDirectory(prefix="crawlrank-") as tmp:
        preparation = prepared(wanted, Path(tmp))
        for line in preparation.diff(wanted.job):
            click.echo(printable(line))
        if not preparation.edits:
            click.echo(printable(f"{wanted.job.beans}: as it should be"))
        if preparation.seeds is not None:
            click.echo(f"{count_of(preparation.seeds, 'page')} would be seeds.")
        click.echo("Nothing was changed.")


def _make_ready(wanted: Recrawl, heritrix: Path, console: Console | None) -> None:
    """And launch it, where there is a console."""
    from pipeline.heritrix.home import HeritrixHome
    from pipeline.heritrix.recrawl import load_and_verify, prepared, write

    home, crawl = HeritrixHome(heritrix), _rest_crawl(console, wanted) if console else None
    with tempfile.TemporaryDirectory(prefix="crawlrank-") as tmp:
        preparation = prepared(wanted, Path(tmp))
        if crawl:
            crawl.tear_down()
        verification = load_and_verify(home, wanted, preparation.state)
        changed = write(wanted, preparation)
    show(verification.tables(), None)
    _show_change(wanted, preparation, changed)
    if crawl and console:
        crawl.launch(console.checkpoint)
        crawl.await_end()
        _audit(wanted)
    else:
        _show_launch(home, wanted)


def _show_change(wanted: Recrawl, preparation: Preparation, changed: list[str]) -> None:
    table = TextTable("the job", "file", "~change")
    for edit in preparation.edits:
        table.add(wanted.job.beans.name, edit)
    if preparation.seeds is not None:
        table.add("seeds.txt", f"{count_of(preparation.seeds, 'page')}, best first")
    show([table], None)
    if preparation.gone:
        click.echo(
            f"Of these pages {preparation.gone:,} are gone (404, 410) or redirect in a circle, and"
            " have a good class all the same: rank with --captures latest --fold redirects."
        )
    if not changed:
        click.echo("Seeds and beans are as they were.")


def _show_launch(home: HeritrixHome, wanted: Recrawl) -> None:
    from pipeline.heritrix.recrawl import launch_command

    log = wanted.job.crawl_log
    click.echo("The job is ready. Launch it in the console, or run it to its end by\n")
    click.echo(printable(f"  {launch_command(home, wanted.job)}\n"))
    click.echo("Then see how well the crawl kept to the ranking:\n")
    click.echo(printable(f"  crawlrank audit-precedence {wanted.precedence} {log}"))


def _rest_crawl(console: Console, wanted: Recrawl) -> RestCrawl:
    from pipeline.heritrix.rest import HeritrixEngine
    from pipeline.heritrix.rest_crawl import RestCrawl as Crawl

    if console.insecure:
        warning = "--insecure: whoever answers at this address gets the password's digest"
        click.echo(f"crawlrank: {warning}, and commands the crawl", err=True)
    engine = HeritrixEngine(
        console.url,
        console.login,
        fingerprint=console.certificate,
        is_trusted=console.insecure,
    )

    def say(text: str) -> None:
        click.echo(printable(f"{wanted.job.name}: {text}"), err=True)

    return Crawl(engine, wanted.job, say)


def _audit(wanted: Recrawl) -> None:
    command_line = ["audit-precedence", str(wanted.precedence), str(wanted.job.crawl_log)]
    from pipeline.cli.audit import audit_precedence

    audit_precedence.main(command_line[1:], standalone_mode=False)


@command("verify-precedence")
@click.argument("precedence", type=OUTPUT)
@click.argument("lists", nargs=-1, type=OUTPUT)
@option("--state", type=OUTPUT, required=True, help="The job's folder `state`.")
@heritrix_option(required=True)
@json_option
def verify_precedence(
    precedence: Path, lists: tuple[Path, ...], state: Path, heritrix: Path, output: Path | None
) -> None:
    """PRECEDENCE is the file that was loaded. LISTS are further URIs: files with one in each line,
    or crawl.log files. Every line and URI is looked up by Heritrix's own policy, as a crawl does.
    Exit code 4 if a line does not count as the file says.
    """
    from pipeline.heritrix.home import HeritrixHome
    from pipeline.heritrix.verification import verify

    check_files(output, inputs=[precedence, *lists])
    for path in (precedence, *lists):
        require_file(path)
    require_text(precedence, "a precedence file")
    verification = verify(HeritrixHome(heritrix), state, precedence, lists)
    write_json(SCHEMA, verification.as_data(), output)
    show(verification.tables(), output)
    verification.require(state)
