"""Ratings of pages by people: CSV with the header `page,rater,rating`.

    page,rater,rating
    http://a.example/,Anne,4
    http://a.example/,Bob,3

page: a URI, a key or a site, as the ranking names what it ranks. rater: any name. rating: 1 (not
important) to 4 (most important). The columns may be in any order; fields are quoted as in RFC 4180.
A line is a row, so no field holds the end of one. Files are UTF-8, with or without a byte order
mark, with LF or CRLF; empty lines are passed over.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.ranking.ratings import RATINGS, RatingTable
from crawlrank.pipeline.workfolder.weight_files import numbered_texts, require_utf_8

COLUMNS = ("page", "rater", "rating")
HEADER = f"the header {','.join(COLUMNS)}"
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


class Rating(NamedTuple):
    """A row of the file. line: its number, from 1. rating: 1 to 4."""

    line: int
    page: str
    rater: str
    rating: int


def read_ratings(path: Path) -> list[Rating]:
    """The rows of a file of ratings, in its order.

    Raises BadInput with file and line for other columns or separators, for ratings that are not 1
    to 4, and for a page that a rater rates twice; and for a file without ratings.
    """
    ratings: list[Rating] = []
    lines: dict[tuple[str, str], int] = {}
    columns: list[str] = []
    for number, text in numbered_texts(path):
        where = f"{path}, line {number}"
        require_utf_8(where, text)
        fields = _fields(where, text)
        if not any(fields):
            continue
        if not columns:
            columns = _header(where, fields)
            continue
        row = _row(where, number, columns, fields)
        earlier = lines.setdefault((row.page, row.rater), number)
        if earlier != number:
            what = f"a second rating of {row.page} by {row.rater}, after that in line {earlier}"
            raise BadInput(where, what, "one for each page and rater", "Leave one of them out.")
        ratings.append(row)
    if not ratings:
        raise BadInput(str(path), "no ratings", f"{HEADER}, and a rating a line", "Add them.")
    return ratings


def table_of(ratings: Sequence[Rating]) -> RatingTable:
    """The ratings as a table of pages and raters, both in the order of their names."""
    pages = sorted({row.page for row in ratings})
    raters = sorted({row.rater for row in ratings})
    page_of = {page: at for at, page in enumerate(pages)}
    rater_of = {rater: at for at, rater in enumerate(raters)}
    given = np.zeros((len(pages), len(raters)), np.int8)
    for row in ratings:
        given[page_of[row.page], rater_of[row.rater]] = row.rating
    return RatingTable(tuple(pages), tuple(raters), given)


def _fields(where: str, text: str) -> list[str]:
    try:
        rows = list(csv.reader([text], strict=True, skipinitialspace=True))
    except csv.Error as error:
        cure = "Write a quote within a quoted field twice."
        raise BadInput(where, f"no row of CSV ({error})", "fields as in RFC 4180", cure) from None
    return [field.strip() for row in rows for field in row]


def _header(where: str, fields: list[str]) -> list[str]:
    """Raises BadInput for other columns than COLUMNS."""
    names = [field.lower() for field in fields]
    if sorted(names) == sorted(COLUMNS):
        return names
    if len(fields) == 1 and (separator := _other_separator(fields[0])):
        cure = "Save it as CSV with commas."
        raise BadInput(where, f"{separator} between the columns", HEADER, cure)
    unknown = [name for name in names if name not in COLUMNS]
    repeated = [name for name in COLUMNS if names.count(name) > 1]
    if unknown:
        what = f"the column {unknown[0] or 'without a name'}"
    elif repeated:
        what = f"the column {repeated[0]} twice"
    else:
        what = f"no column {next(name for name in COLUMNS if name not in names)}"
    cure = "Make the header the first line, and leave other columns out."
    raise BadInput(where, what, HEADER, cure)


def _row(where: str, number: int, columns: list[str], fields: list[str]) -> Rating:
    if len(fields) != len(columns):
        separator = _other_separator(fields[0]) if len(fields) == 1 else None
        what = f"{separator} between the fields" if separator else count_of(len(fields), "field")
        cure = "Save it as CSV with commas." if separator else "Quote a field that holds a comma."
        raise BadInput(where, what, f"{len(columns)}, {','.join(columns)}", cure)
    page, rater, rating = (fields[columns.index(name)] for name in COLUMNS)
    for name, field in (("page", page), ("rater", rater)):
        if not field:
            raise BadInput(where, f"no {name}", "one in every row", "Add it, or leave the row out.")
    if rating not in map(str, RATINGS):
        cure = "Leave the row out where there is no rating."
        expected = f"{RATINGS[0]} (not important) to {RATINGS[-1]} (most important)"
        raise BadInput(where, f"the rating {rating or 'is empty'}", expected, cure)
    return Rating(number, page, rater, int(rating))


def _other_separator(text: str) -> str | None:
    return next((name for sign, name in _SEPARATORS.items() if sign in text), None)
