"""The page that holds the paper's claims against the results of a run, as Markdown.

`reasons` says why claims of the paper do not hold here, by the experiments on them.

`draw` draws the figures by matplotlib (the extra `plot`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.pipeline.analysis.pictures import BLUE, FORMATS, ORANGE, new_figure, save
from crawlrank.pipeline.lab.claims import (
    ALIKE,
    MEAN_CASH,
    NEAR,
    SHOWN,
    STORED,
    Claim,
    LabResults,
    alike,
    claims,
    mean,
)
from crawlrank.pipeline.lab.experiments import (
    CRAWLS,
    INTERPOLATIONS,
    LEAST,
    LONG,
    MEANS,
    MOST,
    OFFLINE,
    RATES,
    REPLAY,
    SHORT,
    STEP,
    TIME,
    TIMES,
    VISITS,
    WARM_UP,
    WINDOWS,
    Errors,
    ReasonRow,
)
from crawlrank.pipeline.lab.partitions import Traffic

FORGOTTEN = 0.1  # part of an error
LONGEST = f"interpolation, T = {TIMES[-1]:g}"


def reasons(rows: Sequence[ReasonRow]) -> list[Claim]:
    """The reasons that rows were measured for, held against them as claims of the paper are."""
    measured = {row.experiment for row in rows}
    return [
        *(_on_incomes(rows) if "income" in measured else []),
        *(_on_orders(rows) + _on_interpolation(rows) if "greedy" in measured else []),
    ]


def _on_incomes(rows: Sequence[ReasonRow]) -> list[Claim]:
    cash = [_mean(rows, "income", mean, "mean cash, greedy") for mean in MEANS]
    pairs = [[_mean(rows, "income", mean, name) for name in ("greedy", "cycle")] for mean in MEANS]
    ratios = [greedy / cycle for greedy, cycle in pairs]
    return [
        Claim(
            "The mean cash of greedy is above 2/N because income comes in lumps, which lift a page"
            " far above the threshold at which it is read",
            "on webs by Poisson's law it falls with the mean indegree, and ends within"
            f" {MEAN_CASH:.0%} of 2/N",
            _by_mean([f"{value:.2f}/N" for value in cash]),
            sorted(cash, reverse=True) == cash and abs(cash[-1] / 2 - 1) <= MEAN_CASH,
        ),
        Claim(
            "Greedy is better than cycle on all pages because of these lumps: it reads a page soon"
            " after one came",
            "the error of greedy over that of cycle grows with the mean indegree, and ends within"
            f" {ALIKE:.0%} of 1",
            _by_mean([f"{ratio:.2f}" for ratio in ratios]),
            sorted(ratios) == ratios and alike(ratios[-1], 1.0),
        ),
    ]


def _on_orders(rows: Sequence[ReasonRow]) -> list[Claim]:
    least, middle, most = (f"M = {visits}" for visits in VISITS)
    random = [_mean(rows, "random", LONG, name) for name in (least, middle)]
    short, long = (
        [_mean(rows, "greedy", visits, name) for name in (least, middle, most)]
        for visits in (SHORT, LONG)
    )
    return [
        Claim(
            f"{least} is near the fixed point because greedy reads a page at nearly equal distances"
            " of the clock; with random reads it is not",
            f"with random reads, an error above {NEAR:g} % and above that of {middle}",
            f"random, {least}: {random[0]:.2f} %, {middle}: {random[1]:.2f} %;"
            f" greedy, {least}: {long[0]:.2f} %",
            random[0] > max(NEAR, random[1]),
        ),
        Claim(
            f"{most} is worse than {least} because windows of pages that are read seldom reach back"
            " to the start; without it, more visits are better",
            f"after {LONG} N greedy visits, each longer window is better",
            f"{SHORT} N: {_percents(short)}; {LONG} N: {_percents(long)}",
            sorted(long, reverse=True) == long,
        ),
    ]


def _on_interpolation(rows: Sequence[ReasonRow]) -> list[Claim]:
    most = f"M = {VISITS[-1]}"
    begun, ended = (_mean(rows, "greedy", visits, LONGEST) for visits in (SHORT, LONG))
    return [
        Claim(
            f"{LONGEST} is bad because it still knows the start, by about exp(-clock/T)",
            f"after {LONG} N visits at most {FORGOTTEN:.0%} of the error after {SHORT} N",
            f"{SHORT} N: {begun:.2f} %, {LONG} N: {ended:.2f} %",
            ended <= FORGOTTEN * begun,
        ),
        Claim(
            f"{LONGEST} is what corresponds to {most}, since a page of mean importance is read"
            " T/2 times in T; once the start is forgotten they are alike",
            f"errors after {LONG} N visits differ by at most {ALIKE:.0%}",
            ", ".join(
                f"{name}: {_mean(rows, 'greedy', LONG, name):.2f} %"
                for name in (*INTERPOLATIONS, most)
            ),
            alike(ended, _mean(rows, "greedy", LONG, most)),
        ),
    ]


def _mean(rows: Sequence[ReasonRow], experiment: str, case: float, quantity: str) -> float:
    return mean(rows, "value", experiment=experiment, case=case, quantity=quantity)


def _by_mean(values: Sequence[str]) -> str:
    return ", ".join(f"{mean:g} links: {value}" for mean, value in zip(MEANS, values, strict=True))


def _percents(errors: Sequence[float]) -> str:
    pairs = zip(VISITS, errors, strict=True)
    return ", ".join(f"M = {visits} {error:.2f} %" for visits, error in pairs)


#: of Okabe and Ito's palette, and lines that differ in grey
STYLES = (
    (BLUE, "-", "o"),
    (ORANGE, "--", "s"),
    ("#009E73", "-.", "^"),
    ("#CC79A7", ":", "D"),
    ("#000000", "-", "x"),
    ("#E69F00", "--", "+"),
)
MARKERS = 20  # of a line, about
DOTS = 100  # an inch; half of other pictures, for the sake of small files


def draw(results: LabResults, output: Path) -> list[Path]:
    """Each figure of the run as PNG and as SVG; their paths. Within pictures.drawing()."""
    import matplotlib

    paths = list[Path]()
    with matplotlib.rc_context({"savefig.dpi": DOTS}):
        for number in results.figures:
            figure = DRAWN[number](results)
            paths += [save(figure, output / f"figure-{number}.{form}", form) for form in FORMATS]
    return paths


def _of_policies(results: LabResults, column: str, title: str) -> Any:
    figure, axes = new_figure(7, 4.6)
    for name, style in zip(results.policy_names, STYLES, strict=False):
        errors = results.policy(name, column)
        _line(axes, range(1, len(errors) + 1), errors, name, style)
    axes.set(yscale="log", title=title, xlabel="visits, in multiples of N", ylabel="error (%)")
    return _finished(figure, axes)


def _over_rates(results: LabResults, number: int, title: str) -> Any:
    figure, axes = new_figure(7, 4.6)
    positions = range(len(RATES))
    for name, style in zip(SHOWN[number], STYLES, strict=False):
        errors = [results.window(name, rate) for rate in RATES]
        _line(axes, positions, errors, name, style)
    axes.set_xticks(list(positions), [f"{100 * rate:g}" for rate in RATES])
    axes.set(
        yscale="log", title=title, ylabel="error (%)",
        xlabel="pages whose indegree halves or doubles in N visits (%)",
    )  # fmt: skip
    return _finished(figure, axes)


def _stored(results: LabResults) -> Any:
    """For each window, the share of pages that store at least a number of measures."""
    figure, axes = new_figure(7, 4.6)
    for name, style in zip(SHOWN[STORED], STYLES, strict=True):
        counts: dict[int, int] = {}
        for row in results.measures:
            if row.window == name:
                counts[row.measures] = counts.get(row.measures, 0) + row.pages
        many = np.array(sorted(counts))
        pages = np.array([counts[each] for each in many.tolist()])
        share = 100 * np.cumsum(pages[::-1])[::-1] / pages.sum()
        _line(axes, np.maximum(many, 0.5), share, name, style)
    axes.set(
        xscale="log", yscale="log", title="Measures stored per page",
        xlabel="measures m (0 is drawn at 0.5)", ylabel="pages that store m or more (%)",
    )  # fmt: skip
    return _finished(figure, axes)


def _line(axes: Any, x: Sequence[float] | Any, y: Any, name: str, style: Sequence[str]) -> None:
    colour, line, marker = style
    step = max(1, len(y) // MARKERS)
    axes.plot(x, y, line, color=colour, marker=marker, markersize=4, markevery=step, label=name)


def _finished(figure: Any, axes: Any) -> Any:
    axes.grid()
    axes.legend()
    return figure


TOP = "Error of the top tenth, by policy"
DRAWN: dict[int, Callable[[LabResults], Any]] = {
    2: lambda results: _of_policies(results, "error", "Error of all pages, by policy"),
    3: lambda results: _of_policies(results, "error_of_top", TOP),
    4: lambda results: _over_rates(results, 4, "Windows of M visits, and interpolation"),
    5: _stored,
    6: lambda results: _over_rates(results, 6, "Types of windows"),
}


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
        f" webs are smaller: they have a tenth of the pages, but at least {LEAST:,}."
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
        messages, transfers, crossing, error = (
            mean(last, column, machines=machines, buffer=buffer)
            for column in (*Traffic._fields, "error")
        )
        counts = [f"{count:,.0f}" for count in (messages, transfers, crossing)]
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
        settled, tau, top = (
            mean(results.definitions, column, definition=name)
            for column in ("rounds", "kendall", "top")
        )
        most = max(row.rounds for row in results.definitions if row.definition == name)
        rounds = "not settled" if most == MOST else f"{settled:.0f}"
        rows.append((name, rounds, f"{tau:.4f}", f"{top:.1f} %"))
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
