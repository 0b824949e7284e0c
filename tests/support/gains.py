"""What a fetch more a day adds to a plan of fetches, by the derivatives of its objectives."""

from __future__ import annotations

import math

import numpy as np

from crawlrank.jobs.kernel.rank.array_types import Floats
from crawlrank.pipeline.online.freshness.allocation import ChangingPages
from crawlrank.pipeline.online.freshness.loops import mean_gain, shape_beside

SMALL = 1e-3  # changes between two fetches, below which a series is more exact than the difference


def gains_of(pages: ChangingPages, rates: Floats) -> Floats:
    """What a fetch more a day of each page adds to the sum of value times freshness, float64[N]."""
    shapes = pages.shapes if len(pages.shapes) else [None] * len(rates)
    columns = zip(pages.changes, shapes, pages.values, rates, strict=True)
    return np.array(
        [
            value * gain(pages.objective, change, shape, rate) if value > 0 else 0.0
            for change, shape, value, rate in columns
        ]
    )


def gain(objective: str, change: float, shape: float | None, rate: float) -> float:
    """Of a page of value 1. shape: of the distribution of its rate of changes, if that is not
    known."""
    if change <= 0:
        return 0.0
    if objective == "regular" and shape is not None:
        a = shape_beside(shape)
        limit = 1 / (a - 1) if a > 1 else math.inf
        return float(a / change * (mean_gain(a, change / (a * rate)) if rate > 0 else limit))
    if rate <= 0:
        return math.inf if objective == "harmonic" else 1 / change
    if objective == "regular":
        x = change / rate
        small = x * x / 2 - x**3 / 3 + x**4 / 8
        return float((small if x < SMALL else -math.expm1(-x) - x * math.exp(-x)) / change)
    if objective == "random":
        return float(change / (rate + change) ** 2)
    return float(change / (rate * (rate + change)))
