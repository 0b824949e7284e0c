"""A picture of the hosts of a ranking: what each has of all scores, and its pages by class.

Drawn from a few rows of the table of hosts, in its order. Equal tables give equal files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.analysis.plots.pictures import (
    BLUE,
    FORMATS,
    colour_map,
    drawing,
    new_figure,
    save,
    shown_name,
)

SHOWN = 20  # hosts


def require_picture(output: Path) -> str:
    """The form of a picture by the end of its name. Raises BadInput."""
    form = output.suffix.lstrip(".").lower()
    if form not in FORMATS:
        expected = f"a name that ends in .{' or .'.join(FORMATS)}"
        raise BadInput(str(output), "another ending", expected, "Name the picture so.")
    return form


def plot_hosts(rows: pa.Table, output: Path, *, by: str) -> None:
    """Draw the first hosts into a file. Raises NoMatplotlib, and BadInput for another ending."""
    form = require_picture(output)
    with drawing():
        figure = draw_hosts(rows.slice(0, SHOWN), by=by)
        output.parent.mkdir(parents=True, exist_ok=True)
        save(figure, output, form)


def draw_hosts(rows: pa.Table, *, by: str) -> Any:
    """Two bars for each host: its share of all scores, and the shares of its pages by class."""
    classes = np.array([rows[name] for name in rows.column_names if name.startswith("class_")]).T
    figure, (left, right) = new_figure(9, 1.8 + 0.24 * len(rows), 2)
    at, shares = np.arange(len(rows)), 100 * rows["share"].to_numpy()
    left.barh(at, shares, 0.8, color=BLUE)
    left.set(title=f"Scores by {by}", xlabel="share of the scores of all pages (%)")
    left.set_yticks(at)
    for label in left.set_yticklabels([shown_name(name) for name in rows["host"].to_pylist()]):
        label.set_parse_math(False)
    left.set_ylim(len(rows) - 0.5, -0.5)
    _draw_classes(figure, right, classes.reshape(len(rows), -1))
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
    return figure


def _draw_classes(figure: Any, axes: Any, classes: Any) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm

    bins = classes.shape[1]
    colours: Any = ScalarMappable(BoundaryNorm(np.arange(bins + 1) + 0.5, 256), colour_map())
    pages = classes.sum(axis=1)
    shares = 100 * classes / np.maximum(pages, 1)[:, None]
    lefts = np.cumsum(shares, axis=1) - shares
    for index in range(bins):
        colour = colours.to_rgba(index + 1)
        axes.barh(np.arange(len(pages)), shares[:, index], 0.8, left=lefts[:, index], color=colour)
    for row, count in enumerate(pages.tolist()):
        axes.text(101, row, f"{count:,}", va="center", fontsize=8, color="0.25")
    axes.set(title="Pages by class", xlabel="share of the host's pages (%)", xlim=(0, 100))
    axes.spines[["left", "bottom"]].set_visible(False)
    ticks = np.unique(np.linspace(1, bins, min(bins, 9)).round())
    bar = figure.colorbar(
        colours, ax=axes, orientation="horizontal", ticks=ticks, pad=0.02,
        label="precedence class (1 is crawled first)",
    )  # fmt: skip
    bar.ax.minorticks_off()
