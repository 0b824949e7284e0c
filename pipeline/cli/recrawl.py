"""`recrawl`: a job of Heritrix that follows a ranking."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from crawlrank.jobs.kernel.errors import NotConverged, count_of
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.cli.audit import audit, heritrix_option, warn
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import show
from crawlrank.pipeline.cli.parameters.groups import grouped, option
from crawlrank.pipeline.cli.parameters.options import OUTPUT, ranking_option
from crawlrank.pipeline.cli.parameters.types import Whole
from crawlrank.pipeline.cli.parameters.words import WorkOption
from crawlrank.pipeline.terminal import TextTable, printable
from crawlrank.pipeline.workfolder.rankings import ranking_folder

if TYPE_CHECKING:
    from crawlrank.pipeline.heritrix.home import HeritrixHome
    from crawlrank.pipeline.heritrix.job_folder import JobFolder
    from crawlrank.pipeline.heritrix.pages import Growth
    from crawlrank.pipeline.heritrix.recrawl import PageCounts, Preparation, Recrawl
    from crawlrank.pipeline.heritrix.rest import Login, RestCrawl

SHOWN_HOSTS = 20
LAST_CLASS = 125
MOST_PARTS = 10_000


class PartOf(click.ParamType):  # type: ignore[type-arg]
    """`I/N`: part I, from 1, of N parts."""

    name = "part"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        match = re.fullmatch("([1-9][0-9]{0,4})/([1-9][0-9]{0,4})", str(value))
        if not match or not int(match[1]) <= int(match[2]) <= MOST_PARTS:
            self.fail(f"{value!r} is no part such as 1/4, of {MOST_PARTS:,} at most", param, ctx)
        return int(match[1]), int(match[2])


class Console(NamedTuple):
    """A running Heritrix. checkpoint: from which the job is launched."""

    url: str
    login: Login
    certificate: str | None
    insecure: bool
    checkpoint: str | None


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
    from crawlrank.pipeline.heritrix.rest import read_login

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


class BeginWith(NamedTuple):
    """Which pages a crawl begins with, and how far it goes. seeds_only: none but the seeds of the
    job. grow: they become seeds. part: the first of how many. budget: fetches of all hosts."""

    last_class: int | None
    top: int | None
    seeds_only: bool
    grow: bool
    part: tuple[int, int] | None
    budget: int | None


def _begin_with(
    last_class: int | None,
    top: int | None,
    seeds_only: bool,
    grow: bool,
    part: tuple[int, int] | None,
    budget: int | None,
) -> BeginWith:
    if seeds_only and (last_class or top or grow):
        raise click.UsageError("--seeds-only goes without --classes, --top and --grow")
    return BeginWith(last_class, top, seeds_only, grow, part, budget)


begin_options = grouped(
    "begin",
    _begin_with,
    option(
        "--classes",
        "last_class",
        type=click.IntRange(1, LAST_CLASS),
        metavar="N",
        help="Begin with the pages of the classes 1 to N only (default: all pages).",
    ),
    option("--top", type=Whole(1), metavar="N", help="Begin with the first N pages only."),
    click.option(
        "--seeds-only",
        is_flag=True,
        help="Begin with the seeds of the job alone; the crawl finds the pages.",
    ),
    click.option(
        "--grow",
        is_flag=True,
        help="Make the captured pages seeds, so that their folders become part of the scope.",
    ),
    option(
        "--part",
        type=PartOf(),
        metavar="I/N",
        help="Crawl this part of the sites; N jobs with the same ranking and scope crawl all.",
    ),
    option(
        "--budget",
        type=Whole(1),
        metavar="N",
        help="Fetch some N URIs: each host gets the part of N that it has of all scores.",
    ),
)


@command("recrawl")
@option("--job", type=OUTPUT, required=True, help="Folder of the job, HERITRIX/jobs/NAME.")
@option("--work", cls=WorkOption, type=OUTPUT, help="Work folder of a finished run.")
@option("--plan", type=OUTPUT, help="Folder of `crawlrank plan`: crawl what is due.")
@ranking_option
@heritrix_option()
@begin_options
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
    begin: BeginWith,
    no_annotations: bool,
    dry_run: bool,
    undo: bool,
    console: Console | None,
) -> None:
    """The next launch of the job then crawls in the order of the ranking: its beans get what
    Heritrix needs for that, it begins with the pages of the precedence file, and the file is loaded
    into its state and looked up there. Its seeds and its scope stay. The job must be torn down.
    """
    from crawlrank.pipeline.heritrix.job_folder import JobFolder
    from crawlrank.pipeline.heritrix.pages import PageRule
    from crawlrank.pipeline.heritrix.recrawl import Recrawl

    folder = JobFolder(job)
    if undo:
        others = (work, plan, ranking, no_annotations, dry_run, *begin)
        if any(others) or console:
            raise click.UsageError("--undo goes with --job alone")
        _undo(folder)
        return
    _check_usage(work, plan, ranking, begin)
    if not dry_run and heritrix is None:
        raise click.UsageError("--heritrix is needed, or the variable HERITRIX_HOME")
    rule = None if begin.seeds_only else PageRule(begin.last_class, begin.top)
    ranked = plan or ranking_folder(work or Path(), ranking)
    wanted = Recrawl(
        folder, ranked, rule, not no_annotations, plan is not None, begin.grow, begin.part,
        _quotas(ranked, begin.budget) if begin.budget else {},
    )  # fmt: skip
    if dry_run or heritrix is None:
        _show_changes(wanted)
    else:
        _make_ready(wanted, heritrix, console)


def _undo(folder: JobFolder) -> None:
    is_of_earlier = folder.undo()
    click.echo(printable(f"{folder.beans}: as it was before"))
    if is_of_earlier:
        click.echo(
            "The store keeps the precedences that were loaded last. So give the recrawl before"
            " that one again, with its ranking, before a launch."
        )


def _check_usage(
    work: Path | None, plan: Path | None, ranking: str | None, begin: BeginWith
) -> None:
    if (work is None) == (plan is None) or (plan and ranking):
        raise click.UsageError("WORK, or --plan without --ranking, is needed, or --undo")
    if plan and (begin.grow or begin.budget):
        raise click.UsageError("--grow and --budget go with WORK")


def _quotas(ranking: Path, budget: int) -> dict[str, int]:
    from crawlrank.pipeline.heritrix.job_beans import quotas_of
    from crawlrank.pipeline.precedence.page_table import RankedPages
    from crawlrank.pipeline.workfolder.results.opened import scores_of_work

    with temporary_folder() as tmp:
        source = scores_of_work(ranking, tmp)
        return quotas_of(RankedPages(source.scores, source.uris, ranking), ranking, budget)


def _show_changes(wanted: Recrawl) -> None:
    from crawlrank.pipeline.heritrix.recrawl import prepared

    with temporary_folder() as tmp:
        preparation = prepared(wanted, tmp)
        for line in preparation.diff(wanted.job):
            click.echo(printable(line))
        if not preparation.edits:
            click.echo(printable(f"{wanted.job.beans}: as it should be"))
        _show_pages(wanted, preparation.pages)
        click.echo("Nothing was changed.")


def _make_ready(wanted: Recrawl, heritrix: Path, console: Console | None) -> None:
    """Make the job ready, and launch it where there is a console."""
    from crawlrank.pipeline.heritrix.home import HeritrixHome
    from crawlrank.pipeline.heritrix.recrawl import load_and_verify, prepared, write

    home, crawl = HeritrixHome(heritrix), _rest_crawl(console, wanted) if console else None
    with temporary_folder() as tmp:
        wanted.job.settle()
        preparation = prepared(wanted, tmp)
        if crawl:
            crawl.tear_down()
        verification = load_and_verify(home, wanted, preparation.state)
        changed = write(wanted, preparation, tmp)
    show(verification.tables(), None)
    warn(verification)
    _show_change(wanted, preparation, changed)
    if crawl and console:
        crawl.launch(console.checkpoint)
        crawl.await_end()
        _require_crawled(wanted.job.crawl_log)
        _audit(wanted)
    else:
        _show_launch(home, wanted)


def _show_change(wanted: Recrawl, preparation: Preparation, changed: bool) -> None:
    table = TextTable("the job", "file", "~change")
    for edit in preparation.edits:
        table.add(wanted.job.beans.name, edit)
    show([table], None)
    _show_pages(wanted, preparation.pages)
    if not changed:
        click.echo("The files of the job are as they were.")


def _show_pages(wanted: Recrawl, pages: PageCounts | None) -> None:
    """What the crawl begins with, and what that means for its scope; how far it goes."""
    if wanted.part:
        click.echo(f"The job crawls part {wanted.part[0]} of {wanted.part[1]} of the sites.")
    if wanted.quotas:
        _show_quotas(wanted.quotas)
    if pages is None:
        click.echo("The crawl begins with the seeds of the job, and finds all other pages.")
        return
    _show_lines(pages)
    if pages.gone:
        click.echo(
            f"Of these pages {pages.gone:,} are gone (404, 410) or redirect in a circle, and"
            " have a good class all the same: rank with --captures latest --fold redirects."
        )
    if wanted.grow:
        _show_growth(pages.growth)
    elif wanted.is_plan:
        click.echo("The crawl fetches these pages, and after them the seeds of the job.")
    else:
        before = pages.before or 0
        more = (
            f" With the pages that it did not capture, expect some {before + pages.uncaptured:,}."
        )
        click.echo(
            f"The crawl before captured {count_of(before, 'URI')}, images and styles too."
            f"{more * bool(pages.uncaptured)} Seeds and scope stay those of the job: a page out of"
            " scope is left out, see latest/logs/crawlrank-pages.log."
        )


def _show_lines(pages: PageCounts) -> None:
    table = TextTable("the crawl begins with", "lines of the file", "count")
    table.add("pages that were captured", f"{pages.captured:,}")
    table.add("pages that were linked to and never captured", f"{pages.uncaptured:,}")
    for cause, (count, _) in pages.left_out.items():
        table.add(f"not: {cause}", f"{count:,}")
    show([table], None)
    for cause, (count, first) in pages.left_out.items():
        click.echo(printable(f"Not, {cause}: {first}{', …' * (count > 1)}"))


def _show_quotas(quotas: Mapping[str, int]) -> None:
    table = TextTable("quotas of hosts", "host", "fetches")
    best = sorted(quotas.items(), key=lambda quota: (-quota[1], quota[0]))
    for host, fetches in best[:SHOWN_HOSTS]:
        table.add(host, f"{fetches:,}")
    if rest := best[SHOWN_HOSTS:]:
        count = count_of(len(rest), "other")
        table.add(count, f"{sum(fetches for _, fetches in rest):,}")
    show([table], None)


def _show_growth(growth: Growth) -> None:
    for what, counts in (("host", growth.hosts), ("SURT prefix", growth.prefixes)):
        enters = "hosts" if what == "host" else "folders"
        table = TextTable(f"{enters} that enter the scope", what, "pages")
        best = counts.most_common(SHOWN_HOSTS)
        for name, count in best:
            table.add(name, f"{count:,}")
        if rest := counts.total() - sum(count for _, count in best):
            table.add("others", f"{rest:,}")
        show([table], None)
    click.echo(
        "The pages that were captured become seeds: their folders enter the scope, and hops count"
        " from them."
    )


def _show_launch(home: HeritrixHome, wanted: Recrawl) -> None:
    from crawlrank.pipeline.heritrix.recrawl import launch_command

    click.echo("The job is ready. Launch it in the console, or run it to its end by\n")
    click.echo(printable(f"  {launch_command(home, wanted.job)}\n"))
    click.echo("Then see how well the crawl kept to the ranking:\n")
    command = shlex.join(["crawlrank", "audit", str(wanted.precedence), str(wanted.job.path)])
    click.echo(printable(f"  {command}"))


def _rest_crawl(console: Console, wanted: Recrawl) -> RestCrawl:
    from crawlrank.pipeline.heritrix.rest import HeritrixEngine
    from crawlrank.pipeline.heritrix.rest import RestCrawl as Crawl

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


def _require_crawled(log: Path) -> None:
    from crawlrank.pipeline.analysis.audit.crawl_log import outcomes_beside, why_ended

    if ended := why_ended(outcomes_beside(log)):
        raise NotConverged(f"{log}: {ended}")


def _audit(wanted: Recrawl) -> None:
    paths = [str(wanted.precedence), str(wanted.job.path)]  # with launches before a checkpoint
    audit.main(paths, standalone_mode=False)


if TYPE_CHECKING:
    from crawlrank.pipeline.heritrix.rest import Login
