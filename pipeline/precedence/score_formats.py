"""Formats of scores for crawlers other than Heritrix, each a function and a row of FORMATS.

    csv     RFC 4180, with a header: url,score,class,position,key,captures; an apostrophe before
            text that a spreadsheet would take for a formula
    jsonl   an object a line, with the same names
    nutch   `url<TAB>nutch.score=score`, which `nutch inject` reads: no blank beside the tab, as it
            would belong to the name, and a decimal that Java's Float.parseFloat accepts

Pages without score were captured and come last. nutch gets 0.15 for them, the score that the
equation gives to a page without incoming links.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from jobs.kernel.rank.equation import RECIPE

PIECE = 1 << 16  # characters
FORMULA = tuple("=+-@\t\r'")  # beginnings of formulas, and the apostrophe that makes one text


class ScoredPage(NamedTuple):
    """score and position: None for a page without score. captures: None if unknown."""

    url: str
    score: float | None
    precedence: int
    position: int | None
    key: str
    captures: int | None


NAMES = ("url", "score", "class", "position", "key", "captures")


def _csv(pages: Iterable[ScoredPage]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\r\n")
    writer.writerow(NAMES)
    for page in pages:
        writer.writerow(page._replace(url=as_text(page.url), key=as_text(page.key)))
        if line.tell() > PIECE:
            yield line.getvalue()
            line.seek(0)
            line.truncate()
    yield line.getvalue()


def as_text(cell: str) -> str:
    """The cell so that no spreadsheet takes it for a formula: a key begins with the host, which may
    be called `=hyperlink`. Without its first apostrophe, if it has one, it is the cell again."""
    return f"'{cell}" if cell[:1] in FORMULA else cell


def _jsonl(pages: Iterable[ScoredPage]) -> Iterator[str]:
    for page in pages:
        yield json.dumps(dict(zip(NAMES, page, strict=True))) + "\n"


def _nutch(pages: Iterable[ScoredPage]) -> Iterator[str]:
    for page in pages:
        score = RECIPE.base if page.score is None else page.score
        yield f"{page.url}\tnutch.score={score:.9g}\n"  # a float holds no more digits


FORMATS: dict[str, Callable[[Iterable[ScoredPage]], Iterator[str]]] = {
    "nutch": _nutch,
    "csv": _csv,
    "jsonl": _jsonl,
}
