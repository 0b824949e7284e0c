"""What the pictures of audits and of the laboratory share: settings of matplotlib (the extra
`plot`), colours, and saving.

Equal data give equal files: they hold no date, no version and no random ids, and no setting of the
user changes them. Colours differ for the colour-blind and in grey.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.errors import CrawlrankError
from crawlrank.jobs.kernel.machine.extras import cure_of
from crawlrank.pipeline.data.datasets import replacing

FORMATS = ("png", "svg")
SETTINGS = {
    "svg.hashsalt": "crawlrank", "savefig.dpi": 200, "figure.constrained_layout.use": True,
    "font.size": 10, "axes.titlesize": 12, "axes.titlelocation": "left", "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "axes.formatter.min_exponent": 7,
    "grid.color": "0.88", "grid.linewidth": 0.6, "legend.frameon": False,
}  # fmt: skip
BLUE, ORANGE = "#0072B2", "#D55E00"  # of Okabe and Ito's palette
COLOURS = "viridis"  # lightness rises steadily, so it also reads in grey
LIGHTEST = 0.93  # of the range of COLOURS: lighter ones cannot be seen on paper


class NoMatplotlib(CrawlrankError):
    """matplotlib is not installed."""

    exit_code = 2

    def __init__(self) -> None:
        super().__init__(f"plots need matplotlib, which is not installed. {cure_of('plot')}")


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """matplotlib with its own defaults and SETTINGS, without log messages."""
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)  # about caches and fonts
    try:
        import matplotlib
    except ImportError as error:
        raise NoMatplotlib from error
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def save(figure: Any, path: Path, form: str) -> Path:
    """Write a figure, in one of FORMATS; its path."""
    unnamed = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[form]
    metadata = {"Title": figure.axes[0].get_title(loc="left"), **unnamed}
    with replacing(path) as temporary, temporary.open("wb") as file:
        figure.savefig(file, format=form, metadata=metadata)
    return path


def new_figure(width: float, height: float) -> Any:
    """A figure and its axes; width and height in inches. It is made without pyplot, which keeps
    figures in memory and looks for a screen."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.subplots()


def colour_map() -> Any:
    """Dark to light."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[COLOURS](np.linspace(0, LIGHTEST, 256)))
