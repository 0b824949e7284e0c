"""Values of a page as text: the filters of templates, each the same wherever a value is shown.

The name of a format is also in the page (`data-format`), so that a test can take a text back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from crawlrank.pipeline.terminal import printable

NOTHING = "–"
SHOWN, TAIL = 300, 60  # characters of a text, and those of its end, that are shown
UNITS = ("B", "kB", "MB", "GB", "TB")
TIMESTAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\Z", re.ASCII)


def count(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,}"


def percent(value: float | None) -> str:
    """A share; one that is neither nothing nor all is never shown as either."""
    if value is None:
        return NOTHING
    if 0 < value < 0.0001:
        return "<0.01%"
    if 0.9999 < value < 1:
        return ">99.99%"
    return f"{100 * value:.2f}%"


def size(value: float | None) -> str:
    """Bytes in a unit of which they are 1 to 999.

    >>> size(999), size(77584), size(2012526), size(5e15)
    ('999 B', '77.6 kB', '2.01 MB', '5,000 TB')
    """
    if value is None:
        return NOTHING
    power = next((p for p in range(4) if value < 999.5 * 1000**p), 4)
    return f"{value / 1000**power:,.3g} {UNITS[power]}" if power < 4 else f"{value / 1e12:,.0f} TB"


def seconds(value: float | None) -> str:
    if value is None:
        return NOTHING
    if value < 120:
        return f"{value:.1f} s"
    minutes = value / 60
    return f"{minutes:,.1f} min" if minutes < 120 else f"{minutes / 60:,.1f} h"


def small(value: float | None) -> str:
    """A bound or an error: two digits and an exponent."""
    return NOTHING if value is None else f"{value:.1e}"


def number(value: float | None) -> str:
    """A number with six digits."""
    return NOTHING if value is None else f"{value:.6g}"


def timestamp(value: str | None) -> str:
    """The 14 digits of a capture as a date and a time (UTC)."""
    if value is None:
        return NOTHING
    match = TIMESTAMP.match(value)
    return "{}-{}-{} {}:{}:{}".format(*match.groups()) if match else printable(value)


def cut(shown: str) -> str:
    """Printable text without its middle where it is long."""
    shown = printable(shown)
    return shown if len(shown) <= SHOWN else f"{shown[: SHOWN - TAIL]}…{shown[-TAIL:]}"


def text(value: Any) -> str:
    return NOTHING if value is None or value == "" else cut(str(value))


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "count": count, "percent": percent, "size": size, "seconds": seconds, "small": small,
    "number": number, "timestamp": timestamp, "text": text,
}  # fmt: skip
NUMBERS = ("count", "percent", "size", "seconds", "small", "number")
