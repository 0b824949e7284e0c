"""Types of values on the command line: paths and URLs, finite numbers, sizes of memory."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import Any

import click

from jobs.kernel.storage.opening import is_url
from pipeline.data.memory import LEAST, Memory, parse_size
from pipeline.terminal import printable

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class PathOrUrlType(click.Path):
    """A path, or a URL, which stays a string: a path would fold its slashes."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return value if is_url(value) else super().convert(value, param, ctx)


class LocalPath(click.Path):
    """A path on this machine: a URL would become a folder with the name of its scheme."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if _URL.match(os.fsdecode(value)):
            self.fail(f"{printable(os.fsdecode(value))} is a URL; a path is needed", param, ctx)
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A range without infinity and nan, which no comparison would refuse."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number


class Size(click.ParamType):  # type: ignore[type-arg]
    """A size of memory, `4GB` or `512MB`."""

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Memory:
        try:
            memory = Memory(parse_size(str(value)))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if memory.total < LEAST:
            self.fail(f"{value} is too little: at least {LEAST >> 20}MB", param, ctx)
        return memory


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
