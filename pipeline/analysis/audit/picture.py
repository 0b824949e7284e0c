"""One picture of an audit: when the URIs of each class were fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.analysis.audit.findings import Audit
from crawlrank.pipeline.analysis.audit.order import CLASSES
from crawlrank.pipeline.analysis.pictures import (
    FORMATS,
    ORANGE,
    colour_map,
    drawing,
    new_figure,
    save,
)
from crawlrank.pipeline.data.arrays import Int64Array

COLUMNS = 240  # bins that are drawn, if there are more than twice as many
NAMED = 30  # classes that get a name on the axis, at most


def plot(audit: Audit, path: Path) -> Path:
    """Write the picture in the format that the name ends in. Raises BadInput, NoMatplotlib."""
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise BadInput(str(path), f"a name that ends in {path.suffix or 'nothing'}", ".png or .svg")
    with drawing():
        path.parent.mkdir(parents=True, exist_ok=True)
        return save(fetches_by_class(audit), path, form)


def fetches_by_class(audit: Audit) -> Any:
    """For each class, the share of its fetches in each bin, and its median; unlisted URIs last."""
    names, counts = _rows(audit)
    figure, axes = new_figure(8, 2.2 + 0.16 * min(len(names), NAMED))
    total = max(1, audit.counts["ordered"])
    edges = np.linspace(0.5, total + 0.5, counts.shape[1] + 1)
    shares = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
    masked = np.ma.masked_equal(shares, 0)
    mesh = axes.pcolormesh(
        edges, np.arange(len(names) + 1) - 0.5, 100 * masked, cmap=colour_map().reversed(),
        vmin=0, rasterized=True,
    )  # fmt: skip
    rows = np.flatnonzero(counts.any(axis=1))
    medians = [audit.classes[number].median for number in _numbers(audit)]
    axes.plot(
        [medians[row] for row in rows], rows, "o", color=ORANGE, markersize=4,
        markeredgecolor="white", label="median",
    )  # fmt: skip
    step = -(-len(names) // NAMED)
    ticks = sorted({*range(0, len(names), step), len(names) - 1} if names else set())
    axes.set_yticks(ticks, [names[row] for row in ticks])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0.5, total + 0.5)
    axes.xaxis.get_major_formatter().set_useOffset(False)
    axes.set(
        title="Fetches by class", xlabel=f"place in the crawl (of {audit.counts['ordered']:,})",
        ylabel="precedence (1 is to be first)",
    )  # fmt: skip
    figure.legend(loc="outside upper right")
    figure.colorbar(mesh, label="share of the class (%)")
    return figure


def _numbers(audit: Audit) -> list[int]:
    return sorted(audit.classes, key=lambda number: number % (CLASSES + 1))


def _rows(audit: Audit) -> tuple[list[str], Int64Array]:
    """Names of the classes, and their fetches by bin of position."""
    numbers = _numbers(audit)
    bins = audit.positions.shape[1]
    columns = COLUMNS if bins > 2 * COLUMNS else bins
    counts = np.zeros((len(numbers), columns), np.int64)
    column_of = np.arange(bins) * columns // bins
    for row, number in enumerate(numbers):
        np.add.at(counts[row], column_of, audit.positions[number])
    return [audit.classes[number].label for number in numbers], counts
