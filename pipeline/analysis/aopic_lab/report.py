"""The page that holds the paper's claims against the results of a run, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crawlrank.pipeline.analysis.aopic_lab.claims import Claim, claims
from crawlrank.pipeline.analysis.aopic_lab.definitions import MOST, STEP
from crawlrank.pipeline.analysis.aopic_lab.experiments import (
    CRAWLS,
    OFFLINE,
    REPLAY,
    TIME,
    WARM_UP,
    WINDOWS,
    Errors,
)
from crawlrank.pipeline.analysis.aopic_lab.reason_rows import LEAST
from crawlrank.pipeline.analysis.aopic_lab.reasons import reasons
from crawlrank.pipeline.analysis.aopic_lab.results import LabResults

PAPER = "Abiteboul, Preda and Cobena, *Adaptive On-Line Page Importance Computation*, WWW 2003"

REPLAYED = (
    " Replay reads each captured page once, in the order of the captures, instead of making N"
    " visits. Pages that were not captured keep the cash that they get."
)


def report(results: LabResults) -> str:
    graphs, seeds = results.graphs, ", ".join(map(str, results.seeds))
    parts = [
        "# Adaptive OPIC: claims and measurements",
        f"{PAPER}, on {graphs}. Seeds: {seeds}. Errors are the mean of `100 |X - Imp| / Imp` over"
        " pages, in percent.",
        *_section("Claims", _claims(results)),
        *_section("Reasons", _reasons(results)),
        *_section("Policies", _policies(results)),
        *_section("Windows", _windows(results)),
        *_section("Definitions of importance", _definitions(results)),
        *_section("Partitions", _partitions(results)),
        *_section("Speed", _speeds(results)),
    ]
    return "\n\n".join(parts) + "\n"


def _section(title: str, body: str) -> list[str]:
    return [f"## {title}", body] if body else []


def _claims(results: LabResults) -> str:
    return _verdicts("the paper", claims(results))


def _reasons(results: LabResults) -> str:
    """Experiments on the claims that do not hold, and what they showed."""
    if all(row.holds for row in claims(results)):
        return ""
    about = (
        "The table says why claims do not hold here. An experiment tests each reason. Its random"
        f" webs are smaller: they have a tenth of the pages, but {LEAST:,} if there are so many."
        " Webs with a mean number of links follow Poisson's law."
    )
    return f"{about}\n\n{_verdicts('reason', reasons(results.reasons))}"


def _verdicts(title: str, rows: Sequence[Claim]) -> str:
    cells = [(row.claim, row.measured, "yes" if row.holds else "**no**", row.rule) for row in rows]
    return _table((title, "measured", "holds", "it holds here if"), cells)


def _partitions(results: LabResults) -> str:
    """The last sweep of each size of buffers, the mean over seeds."""
    last = [row for row in results.partitions if row.sweep == CRAWLS]
    rows = []
    for machines, buffer in sorted({(row.machines, row.buffer) for row in last}):
        chosen = [row for row in last if (row.machines, row.buffer) == (machines, buffer)]
        names = ("messages", "transfers", "crossing")
        sums = (sum(getattr(row, name) for row in chosen) / len(chosen) for name in names)
        error = sum(row.error for row in chosen) / len(chosen)
        counts = [f"{count:,.0f}" for count in sums]
        rows.append((str(machines), str(buffer) if machines > 1 else "", *counts, f"{error:.2g}"))
    head = ("machines", "buffer", "messages", "transfers", "links between machines", "error (%)")
    about = (
        f"The table shows the last of {CRAWLS} sweeps by cycle. A hash says which machine has a"
        " page. Cash for a page of another machine waits in a buffer, where transfers to the same"
        " page are added up. The machine sends the buffer as a message when it holds as many"
        " transfers as the table says, and at the end of a sweep. The error is that of the last"
        " sweep alone. It falls to 0, as the fixed point is the same."
    )
    return f"{about}\n\n{_table(head, rows)}" if rows else ""


def _policies(results: LabResults) -> str:
    """Errors after N and after 10 N visits."""
    if not results.policies:
        return ""
    rows = []
    for name in results.policy_names:
        columns = (results.policy(name, column) for column in ("error", "error_of_top"))
        errors = [f"{each[turn]:.2f}" for each in columns for turn in (0, -1)]
        more = [f"{results.policy(name, column)[-1]:.3g}" for column in Errors._fields]
        cash = "" if name == OFFLINE else f"{results.policy(name, 'mean_cash')[-1]:.2f}/N"
        rows.append((name, *errors, *more, cash))
    last = f"{CRAWLS} N"
    head = ("all pages, N visits", last, "top tenth, N visits", last)
    more = ["by importance", "pairs in wrong order (%)", "variance", "mean cash at a read"]
    about = (
        f"The last four columns are measured after {last} visits. *By importance* is the error"
        " with each page weighed by its importance. *Pairs in wrong order* are pairs of pages in"
        " another order than that of the importance. *Variance* is that of the error with its sign,"
        " over pages." + (REPLAYED if REPLAY in results.policy_names else "")
    )
    return f"{about}\n\n{_table(('policy', *head, *more), rows)}"


def _windows(results: LabResults) -> str:
    """Errors of all windows over the rates of change, and what they store."""
    rates = sorted({row.rate for row in results.windows})
    rows = []
    for name in WINDOWS if rates else ():
        errors = [f"{results.window(name, rate):.2f}" for rate in rates]
        rows.append((name, *errors, f"{results.window(name, rates[0], 'measures'):.1f}"))
    head = ("window", *(f"{100 * rate:g} %" for rate in rates), "measures a page")
    about = (
        f"The table has the mean error of {CRAWLS} crawls of N greedy visits, after {WARM_UP} N"
        " visits without changes. The columns are rates of change: the share of the pages whose"
        " indegree halves or doubles in N visits. M is the number of visits in a window. The"
        f" windows *fixed* and *improved fixed* have {TIME:g} units of the clock."
    )
    return f"{about}\n\n{_table(head, rows)}" if rows else ""


def _definitions(results: LabResults) -> str:
    """The mean over seeds."""
    rows = []
    for name in dict.fromkeys(row.definition for row in results.definitions):
        each = [row for row in results.definitions if row.definition == name]
        means = [sum(values) / len(each) for values in zip(*(row[2:] for row in each), strict=True)]
        rounds = "not settled" if max(row.rounds for row in each) == MOST else f"{means[0]:.0f}"
        rows.append((name, rounds, f"{means[1]:.4f}", f"{means[2]:.1f} %"))
    about = (
        "The paper begins with other definitions. *(L + I)* adds to the matrix of the random walk"
        " the identity, so that its powers settle on any graph; the importance is the same."
        " *Adjacency*: a page gives all of its importance to each page that it links to."
        " *Undirected*: links count in both directions. Rounds are those until a round moves the"
        f" importance by at most {STEP:g} in sum, {MOST:,} at most."
    )
    head = ("definition", "rounds", "Kendall's tau-b with the walk", "of the walk's top tenth")
    return f"{about}\n\n{_table(head, rows)}" if rows else ""


def _speeds(results: LabResults) -> str:
    rows = [(name, f"{speed / 1e6:.1f}") for name, speed in results.speeds.items()]
    return _table(("policy", "million visits a second, of this run"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def lines() -> Iterator[str]:
        for cells in (head, ["---"] * len(head), *rows):
            yield f"| {' | '.join(cells)} |"

    return "\n".join(lines()) if rows else ""
