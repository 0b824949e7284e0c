"""Types of values on the command line: paths and URLs, finite numbers, sizes of memory, durations,
dates, addresses of replays."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urlsplit

import click

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import is_url, known_schemes, lower_scheme
from crawlrank.pipeline.data.memory import LEAST, Memory, parse_size
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.terminal.text import masked

_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1.0, "week": 7.0}
_UNITS = {"m": "minute", "h": "hour", "d": "day", "w": "week"}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([mhdw])", re.ASCII)
_LONGEST = 36_500.0  # days
_NOT_IN_PREFIX, _LONGEST_PREFIX = frozenset(" \"'<>`\\?#"), 1000
_FOURTEEN = re.compile(r"[0-9]{14}", re.ASCII)
MOST = 10**15
LARGEST = 10**15  # bytes
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def require_word(
    value: Any, param: click.Parameter | None = None, ctx: click.Context | None = None
) -> None:
    """Refuse an empty path, as of a variable of the shell that is not set: it would be the current
    folder. Raises BadParameter."""
    if value == "":
        raise click.BadParameter("an empty text is no path", ctx, param)


def require_utf_8(value: str, param: click.Parameter, ctx: click.Context) -> None:
    """Raises BadParameter for a text of the command line with other bytes, which Python keeps as
    surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter(f"{value!a} is no UTF-8", ctx, param) from error


class PathOrUrlType(click.Path):
    """A path, or a URL, which stays a string: a path would fold its slashes. Raises BadInput for a
    URL of another scheme."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        require_word(value, param, ctx)
        text = lower_scheme(value) if isinstance(value, str) else value
        if is_url(text) or (text == "-" and self.allow_dash):  # a path would be that of `./-`
            return text
        if isinstance(text, str) and _URL.match(text) and not os.path.lexists(text):
            what = f"a URL of {text.partition(':')[0]}://, which is not read"
            expected = f"a path, or a URL of {known_schemes()}"
            raise BadInput(masked(text), what, expected, "Download the file, and name that.")
        return super().convert(value, param, ctx)


class LocalPath(click.Path):
    """A path on this machine: a URL would become a folder with the name of its scheme."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        require_word(value, param, ctx)
        if _URL.match(os.fsdecode(value)):
            self.fail(f"{printable(os.fsdecode(value))} is a URL; a path is needed", param, ctx)
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A range without infinity and nan, which no comparison would refuse."""

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number


class Whole(click.IntRange):
    """A whole number that databases and arrays take, too: at most MOST."""

    def __init__(self, least: int) -> None:
        super().__init__(least, MOST)


class Size(click.ParamType):  # type: ignore[type-arg]
    """A size of memory, `4GB` or `512MB`."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> Memory:
        try:
            memory = Memory(parse_size(str(value)))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if memory.total < LEAST:
            self.fail(f"{value} is too little: at least {LEAST // 10**6}MB", param, ctx)
        if memory.total > LARGEST:
            self.fail(f"{value} is too much: at most {LARGEST // 10**12}TB", param, ctx)
        return memory


class Budget(click.ParamType):  # type: ignore[type-arg]
    """Fetches a day, of `5000/day` or `100/hour`."""

    name = "number/unit"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        number, _, unit = str(value).replace(",", "").replace("_", "").partition("/")
        days = _DAYS.get(unit.strip().lower().removesuffix("s"))
        try:
            budget = float(number) / (days or math.nan)
        except ValueError:
            budget = math.nan
        if not 0 <= budget < math.inf:
            self.fail(f"{value!r} is no budget such as 5000/day, 100/hour or 0/day", param, ctx)
        return budget


class Days(click.ParamType):  # type: ignore[type-arg]
    """Days, of `90d`, `12h` or `2w`; above 0."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        if isinstance(value, float):
            return value
        match = _DURATION.fullmatch(str(value).strip())
        days = float(match[1]) * _DAYS[_UNITS[match[2]]] if match else math.nan
        if not 0 < days < _LONGEST:
            self.fail(f"{value!r} is no duration such as 90d, 12h or 2w", param, ctx)
        return days

    def shown(self, days: float) -> str:
        """The value as it is written on the command line."""
        units = ((unit, days / _DAYS[name]) for unit, name in _UNITS.items() if unit != "w")
        number, unit = min((count, unit) for unit, count in units if count >= 1)
        return f"{number:g}{unit}"


class Moment(click.ParamType):  # type: ignore[type-arg]
    """A date, or a date and a time, as ISO 8601 has them or in 14 digits; UTC if it does not
    say."""

    name = "date"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        text = str(value)
        if _FOURTEEN.fullmatch(text):
            text = f"{text[:4]}-{text[4:6]}-{text[6:8]}T{text[8:10]}:{text[10:12]}:{text[12:]}"
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
            moment.astimezone(timezone.utc)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no date such as 2026-11-24 or 2026-11-24T12:00Z", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


class ReplayPrefix(click.ParamType):  # type: ignore[type-arg]
    """What comes before the time and the URI in the address of a replay; with a `/` at its end."""

    name = "prefix"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        try:
            parts = urlsplit(text)
            is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_web = False
        is_plain = text.isascii() and text.isprintable() and not set(text) & _NOT_IN_PREFIX
        if not (is_web and is_plain and len(text) <= _LONGEST_PREFIX):
            self.fail(
                f"{printable(text[:_LONGEST_PREFIX])} is no http or https address without a query,"
                " such as https://archive.example/wayback/",
                param,
                ctx,
            )
        return text if text.endswith("/") else f"{text}/"


class SomeOf(click.ParamType):  # type: ignore[type-arg]
    """Some words of a list, with commas between them, each once; none is the empty text."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words, self.name = words, ",".join(words)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        words = tuple(filter(None, str(value).split(",")))
        if not {*words} <= {*self.words} or len({*words}) < len(words):
            self.fail(f"{value!r} is not made of {', '.join(self.words)}", param, ctx)
        return tuple(sorted(words))
