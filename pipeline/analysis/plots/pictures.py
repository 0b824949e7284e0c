"""The parts that all pictures share: settings of matplotlib (the extra `plot`), and saving.

Equal data give equal files: they hold no date, no version and no random ids, and no setting of the
user changes them. Colours differ for the colour-blind and in grey. Names come from archives and
logs: they are shown as plain text, never as markup.
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
LONGEST = 40  # characters of a host's name


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


def new_figure(width: float, height: float, panels: int = 1) -> Any:
    """A figure and its axes, side by side; width and height in inches. Without pyplot, which keeps
    figures in memory and looks for a screen."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(1, panels, sharey=True)


def shown_name(host: str) -> str:
    """A host's name as a label, without characters that a font may lack, and not too long."""
    plain = host.encode("ascii", "backslashreplace").decode()
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in plain)
    return plain if len(plain) <= LONGEST else f"…{plain[1 - LONGEST :]}"


def colour_map() -> Any:
    """Dark to light."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[COLOURS](np.linspace(0, LIGHTEST, 256)))


def _plain(value: float) -> str:
    """`1,000` and `0.15`, without exponents."""
    return f"{value:,.0f}" if value >= 1 else f"{value:.4g}"


def set_ticks(
    axis: Any, low: float, high: float, *, percent: bool = False, zero: float | None = None
) -> None:
    """Ticks of a logarithmic axis from low to high, as plain numbers: powers of ten, and in a short
    range 2 and 5 times these. zero: the position of a tick for 0."""
    from matplotlib.ticker import FixedFormatter, FixedLocator

    low, high = sorted((low, high))
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    major, minor = (
        [value for value in np.multiply.outer(powers, steps).ravel() if low <= value <= high]
        for steps in ((1, 2, 5) if high < 1000 * low else (1,), range(2, 10))
    )
    names = [f"{_plain(100 * value)} %" if percent else _plain(value) for value in major]
    if high > 1e5 * low:  # long numbers would touch
        names[1::2] = [""] * len(names[1::2])
    if zero is not None:
        major, names = [zero, *major], ["0", *names]
    axis.set_major_locator(FixedLocator(major))
    axis.set_major_formatter(FixedFormatter(names))
    axis.set_minor_locator(FixedLocator(minor))
    axis.set_minor_formatter(FixedFormatter([]))
