"""Three pictures of a finished run: how scores are distributed, rank against indegree, classes by
host; and two more of a ranking of sites. Drawn by matplotlib (the extra `plot`) from a few thousand
numbers, however many nodes.

Equal work folders give equal files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.analysis.plots.pictures import (
    BLUE,
    FORMATS,
    ORANGE,
    NoMatplotlib,
    colour_map,
    drawing,
    new_figure,
    save,
    set_ticks,
    shown_name,
)
from crawlrank.pipeline.analysis.plots.plot_bins import class_counts, rank_against_indegree
from crawlrank.pipeline.analysis.plots.plot_data import Pages, read_pages
from crawlrank.pipeline.analysis.plots.site_plots import SITE_PLOTS
from crawlrank.pipeline.analysis.sites.table import read_sites
from crawlrank.pipeline.data.graph import Mask, Positions
from crawlrank.pipeline.ranking.methods import method_of
from crawlrank.pipeline.ranking.sites.names import host_name
from crawlrank.pipeline.ranking.structure.distribution import distribution
from crawlrank.pipeline.workfolder.manifest import require_manifest
from crawlrank.pipeline.workfolder.work_folder import refuse_dataset

__all__ = ["FORMATS", "PLOTS", "NoMatplotlib", "plot"]

POINTS = 2_000  # of a distribution
NONE = 0.25  # position of the column of indegree 0 on a logarithmic axis


def plot(work: Path, out: Path, form: str = "png") -> list[Path]:
    """Write the pictures of a work folder into the folder `out`; their paths.

    form: `png` or `svg`. Raises NoMatplotlib, and BadInput if the run is not finished or `out` is
    one of its datasets.
    """
    if form not in FORMATS:
        raise ValueError(f"form is {form!r}, expected one of {', '.join(FORMATS)}")
    refuse_dataset(work, out)
    with drawing():
        with temporary_folder() as tmp:
            pages = read_pages(work, tmp)
        figures = {name: draw(pages) for name, draw in PLOTS.items()}
        if method_of(require_manifest(work).parameters).of_sites:
            rows = read_sites(work)
            figures |= {name: draw(rows) for name, draw in SITE_PLOTS.items()}
        out.mkdir(parents=True, exist_ok=True)
        return [save(figure, out / f"{name}.{form}", form) for name, figure in figures.items()]


def score_distribution(pages: Pages) -> Any:
    """P(score >= x) of all pages, and of those that were captured, on logarithmic axes."""
    figure, axes = new_figure(7, 4.6)
    shown = [("all pages", pages.scores, BLUE, "-")]
    if 0 < np.count_nonzero(pages.captured) < len(pages.captured):
        shown.append(("captured pages", pages.scores[pages.captured], ORANGE, "--"))
    for name, scores, colour, line in shown:
        points = distribution(scores, POINTS)
        axes.plot(
            *points, line, color=colour, drawstyle="steps-pre", label=f"{name} ({len(scores):,})"
        )
        axes.plot(points.values[-1:], points.shares[-1:], "o", color=colour, markersize=4)
    axes.set(
        xscale="log", yscale="log", title="Distribution of scores",
        xlabel="score x (Heritrix's scale: 0.15 without any link)",
        ylabel="share of pages with a score of x or more",
    )  # fmt: skip
    set_ticks(axes.xaxis, *axes.get_xlim())
    set_ticks(axes.yaxis, *axes.get_ylim(), percent=True)
    axes.grid()
    axes.legend()
    return figure


def indegree_rank(pages: Pages) -> Any:
    """How many pages there are of each indegree and rank, and the median rank of an indegree."""
    from matplotlib.colors import LogNorm

    histogram = rank_against_indegree(pages.ranks, pages.indegrees)
    figure, axes = new_figure(7, 5)
    columns = histogram.indegrees - 0.5
    columns[0] = NONE  # a logarithmic axis has no 0
    shown = np.ma.masked_equal(histogram.counts.T, 0)
    norm = LogNorm(1, max(2, int(histogram.counts.max())))
    mesh = axes.pcolormesh(
        columns, histogram.ranks - 0.5, shown, norm=norm, cmap=colour_map().reversed(),
        rasterized=True,
    )  # fmt: skip
    middles = np.sqrt(histogram.indegrees[:-1] * (histogram.indegrees[1:] - 1.0))
    middles[0] = zero = np.sqrt(columns[0] * columns[1])
    axes.plot(
        middles, histogram.medians, "o", color="white", markeredgecolor="black", markersize=4,
        label="median rank",
    )  # fmt: skip
    axes.set(
        xscale="log", yscale="log", title="Rank against indegree",
        xlabel="indegree (pages that link to the page)", ylabel="rank (1 is the best page)",
    )  # fmt: skip
    any_without = histogram.counts[0].any()
    axes.set_xlim(columns[0] if any_without else columns[1], columns[-1])
    axes.set_ylim(histogram.ranks[-1] - 0.5, 0.5)
    set_ticks(axes.xaxis, 1, columns[-1], zero=zero if any_without else None)
    set_ticks(axes.yaxis, 1, histogram.ranks[-1] - 0.5)
    axes.grid()
    axes.legend(loc="upper left")
    bar = figure.colorbar(mesh, label="pages")
    set_ticks(bar.ax.yaxis, 1, mesh.norm.vmax)
    return figure


def host_classes(pages: Pages) -> Any:
    """For the largest hosts, the share of their pages in each class."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm

    masks: list[tuple[str, Mask | None]] = [("all pages", None)]
    if 0 < np.count_nonzero(pages.captured) < len(pages.captured):
        masks.insert(0, ("captured pages", pages.captured))
    rows = _rows(pages)
    figure, panels = new_figure(3 + 3.5 * len(masks), 2 + 0.24 * len(rows), len(masks))
    panels = np.atleast_1d(panels)
    norm = BoundaryNorm(np.arange(pages.bins + 1) + 0.5, 256)
    colours = ScalarMappable(norm, colour_map())
    for axes, (name, mask) in zip(panels, masks, strict=True):
        counts = [_counts(pages, mask, ranges) for _, ranges in rows]
        _stack(axes, np.array(counts), colours)
        axes.set(title=f"Classes by host: {name}", xlabel="share of the host's pages (%)")
    panels[0].set_yticks(range(len(rows)))
    for label in panels[0].set_yticklabels([name for name, _ in rows]):
        label.set_parse_math(False)
    panels[0].set_ylim(len(rows) - 0.5, -0.5)
    ticks = np.unique(np.linspace(1, pages.bins, min(pages.bins, 9)).round())
    bar = figure.colorbar(
        colours, ax=panels, orientation="horizontal", ticks=ticks, aspect=50, pad=0.02,
        label="precedence class (1 is crawled first)",
    )  # fmt: skip
    bar.ax.minorticks_off()
    return figure


def _rows(pages: Pages) -> list[tuple[str, list[tuple[int, int]]]]:
    """Names and ranges of nodes: all hosts, the largest ones, and those between them."""
    nodes = len(pages.scores)
    rows = [(f"all hosts ({pages.host_count:,})", [(0, nodes)])]
    rows += [(shown_name(host_name(host.key)), [(host.begin, host.end)]) for host in pages.hosts]
    if others := pages.host_count - len(pages.hosts):
        ordered = sorted(pages.hosts)
        begins = [0, *(host.end for host in ordered)]
        ends = [*(host.begin for host in ordered), nodes]
        rows.append((f"other hosts ({others:,})", list(zip(begins, ends, strict=True))))
    return rows


def _counts(pages: Pages, mask: Mask | None, ranges: list[tuple[int, int]]) -> Positions:
    counts = [class_counts(pages.classes, mask, *ends, pages.bins) for ends in ranges]
    total: Positions = np.sum(counts, axis=0)
    return total


def _stack(axes: Any, counts: Any, colours: Any) -> None:
    """A bar of 100 % for each row, and after it the number of its pages."""
    totals = counts.sum(axis=1)
    shares = 100 * counts / np.maximum(totals, 1)[:, None]
    lefts = np.cumsum(shares, axis=1) - shares
    width = 0.4 if counts.shape[1] <= 10 else 0.0
    for index in range(counts.shape[1]):
        axes.barh(
            range(len(counts)), shares[:, index], left=lefts[:, index], height=0.8,
            color=colours.to_rgba(index + 1), edgecolor="white", linewidth=width,
        )  # fmt: skip
    for row, total in enumerate(totals):
        left, label = (101, f"{total:,}") if total else (1, "none")
        axes.text(left, row, label, va="center", fontsize=8, color="0.25")
    axes.set_xlim(0, 100)
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


PLOTS: dict[str, Callable[[Pages], Any]] = {
    "score-distribution": score_distribution,
    "rank-against-indegree": indegree_rank,
    "classes-by-host": host_classes,
}
