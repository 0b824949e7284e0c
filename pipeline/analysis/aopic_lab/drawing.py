"""The figures of the laboratory, drawn by matplotlib (the extra `plot`) from its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.pipeline.analysis.aopic_lab.experiments import RATES
from crawlrank.pipeline.analysis.aopic_lab.results import SHOWN, STORED, LabResults
from crawlrank.pipeline.analysis.pictures import BLUE, FORMATS, ORANGE, new_figure, save

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
    """For each window, the share of pages that store at least so many measures."""
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
