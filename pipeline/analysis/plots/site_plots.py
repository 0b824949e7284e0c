"""Two pictures of a ranking of sites: scores by position, and the sites with the largest shares.

Equal tables give equal files. A picture has a few hundred points, however many sites there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.pipeline.analysis.plots.pictures import BLUE, new_figure, set_ticks, shown_name
from crawlrank.pipeline.data.graph import Floats, Positions

TOP = 20  # bars
LOWEST = 0.1  # of the axis of scores; no score is below 0.15
STEPS = 64  # points for each factor 10 of the position


def rank_points(scores: Floats) -> tuple[Positions, Floats]:
    """Positions from 1 and their scores, of scores best first: all near the top, then fewer."""
    steps = int(np.ceil(np.log10(max(2, len(scores))) * STEPS)) + 1
    positions = np.unique(np.geomspace(1, len(scores), steps).round().astype(np.int64))
    return positions, scores[positions - 1]


def sites_by_rank(rows: pa.Table) -> Any:
    """The score of each site against its position, on logarithmic axes."""
    positions, scores = rank_points(rows["score"].to_numpy())
    figure, axes = new_figure(7, 4.6)
    axes.plot(positions, scores, "-", color=BLUE, marker="o", markersize=3)
    axes.set(
        xscale="log", yscale="log", title=f"Scores of {count_of(len(rows), 'site')}",
        xlabel="position of the site (1 is the best)",
        ylabel="score (0.15 without any link from another site)",
    )  # fmt: skip
    axes.set_ylim(LOWEST, 1.5 * scores[0])
    set_ticks(axes.xaxis, *axes.get_xlim())
    set_ticks(axes.yaxis, *axes.get_ylim())
    axes.grid()
    return figure


def top_sites(rows: pa.Table) -> Any:
    """For the best sites, their shares of all sites' scores, and after each bar its pages."""
    best = rows.slice(0, TOP)
    places, shares = np.arange(len(best)), 100 * best["share"].to_numpy()
    figure, axes = new_figure(7, 1.2 + 0.24 * len(best))
    axes.barh(places, shares, 0.8, color=BLUE)
    for at, (share, pages) in enumerate(zip(shares, best["pages"].to_pylist(), strict=True)):
        label = f" {pages:,} page{'s' * (pages != 1)}"
        axes.text(share, at, label, va="center", fontsize=8, color="0.25")
    axes.set(title=f"The best sites ({len(best):,})", xlabel="share of the scores of all sites (%)")
    axes.set_xlim(0, 1.2 * shares.max())
    axes.set_yticks(places)
    for label in axes.set_yticklabels([shown_name(site) for site in best["site"].to_pylist()]):
        label.set_parse_math(False)
    axes.set_ylim(len(best) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    return figure


SITE_PLOTS: dict[str, Callable[[pa.Table], Any]] = {
    "sites-by-rank": sites_by_rank,
    "top-sites": top_sites,
}
