"""Links in HTTP headers: Location by status, Refresh, Link by its relation, and nofollow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.growth import assert_linear

from crawlrank.jobs.kernel.links.header_links import (
    header_nofollow,
    header_references,
    link_values,
    location,
)


@pytest.mark.parametrize(
    ("status", "counts"), [(301, True), (302, True), (304, True), (201, True), (200, False)]
)
def test_location(status: int, counts: bool) -> None:
    fields = [("location", " /x ")]
    assert list(location(fields, status)) == ([("/x", "R", "Location:")] if counts else [])
    assert list(location([], status)) == []


FIELDS = {
    ("refresh", "5; url=x"): [("x", "R", "Refresh:")],
    ("refresh", "5"): [],
    ("link", "<x>; rel=stylesheet"): [("x", "E", "Link:")],
    ("link", '<x>; rel="next"'): [("x", "X", "Link:")],
    ("link", "<x>"): [("x", "X", "Link:")],
    ("link", "<x>; rel=preconnect, <y>; rel=preload; as=font"): [("y", "E", "Link:")],
    ("link", '<a,b>; title="c, <d>"; rel=next'): [("a,b", "X", "Link:")],
    ("link", "<x>; rel=next; anchor='#a'"): [],
    ("link", '<x>; title="; anchor=y"; rel=next'): [("x", "X", "Link:")],
    ("link", '<x>; title="; rel=preconnect"; rel=stylesheet; rel=next'): [("x", "E", "Link:")],
    ("link", r'<x>; title="\"<z>, <y>"; rel=next'): [("x", "X", "Link:")],
    ("link", "x; rel=next"): [],
    ("link", "<>; rel=next"): [],
}


@pytest.mark.parametrize("field", FIELDS)
def test_fields(field: tuple[str, str]) -> None:
    assert list(header_references([field])) == FIELDS[field]


ROBOTS = {
    "nofollow": True,
    "noindex, NoFollow": True,
    "none": True,
    "unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow": True,
    "noindex": False,
    "somebot: nofollow": False,
    "": False,
}


@pytest.mark.parametrize("value", ROBOTS)
def test_nofollow(value: str) -> None:
    assert header_nofollow([("x-robots-tag", value)]) is ROBOTS[value]
    assert header_nofollow([("x-robots-tag", "all"), ("x-robots-tag", value)]) is ROBOTS[value]


QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
VALUE = re.compile(rf'<([^<>]*)>([^<,"]*(?:{QUOTED}[^<,"]*)*)')
PIECES = st.lists(st.sampled_from(["<a>", "<", ">", '"', "\\", ",", "; rel=next", "x", "<b c>"]))


@given(PIECES.map("".join))
def test_values_of_link_are_those_of_the_grammar(value: str) -> None:
    """The grammar is one expression, which takes quadratic time where quotes are not closed."""
    assert [*link_values(value)] == [match[:2] for match in VALUE.findall(value)]


@pytest.mark.parametrize("piece", ['<a>\\"', "<", '<a>"', "<a>;", '<a>;x="\\"'])
def test_long_headers(piece: str) -> None:
    """The expression of the grammar took 18 seconds."""
    assert_linear(lambda count: list(header_references([("link", piece * count)])), 50_000)
