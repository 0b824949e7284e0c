"""Where the head of a page ends: as a parser of the HTML standard has it, on drawn pages."""

from __future__ import annotations

import random

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode
from support.drawing import examples
from support.growth import assert_linear

from crawlrank.jobs.kernel.markup.html_tokens import head_end, head_tags, written_values

PIECES = [
    *("<!doctype html>", "<html>", "<head>", "</head>", "<body>", "</body>", "</html>", "</p>"),
    *("<title>a<p></title>", "<style><p></style>", "<script><p></script>", "<!-- <p> -->", "<?x>"),
    *("<meta charset=utf-8>", "<base href=x>", "<basefont>", "<bgsound>", "<noscript>", "<link>"),
    *("</noscript>", "<template>", "</template>", " ", "\n", "<p>", "x", "<div>", "</br>", "<svg>"),
    *("<noframes><p></noframes>", "</title>", "<br>", "<a>", "\u00a0", "<3"),
]
LINKS = 4


def drawn(seed: int) -> str:
    draw = random.Random(seed)
    pieces = draw.choices(PIECES[:-8] if draw.random() < 0.7 else PIECES, k=draw.randrange(12))
    for number in range(LINKS):
        pieces.insert(draw.randrange(len(pieces) + 1), f"<link href={number}>")
    return "".join(pieces)


def in_head(node: LexborNode) -> bool:
    parent = node.parent
    if parent is not None and parent.tag == "noscript":
        parent = parent.parent
    return parent is not None and parent.tag == "head"


def numbers(html: str) -> list[str]:
    page = html.encode()
    values = [written_values(rest, (b"href",)) for rest in head_tags(page, b"link")]
    return [value[b"href"].decode() for value in values if value]


def test_links_in_the_head_are_those_of_a_parser() -> None:
    inside = outside = 0
    for seed in range(examples(2000)):
        html = drawn(seed)
        nodes = LexborHTMLParser(html).css("link[href]")
        expected = [node.attributes["href"] or "" for node in nodes if in_head(node)]
        assert numbers(html) == expected, html
        inside, outside = inside + len(expected), outside + LINKS - len(expected)
    assert min(inside, outside) > examples(2000)


@pytest.mark.parametrize(
    ("html", "end"),
    [("", 0), ("<p>", 0), ("<head><p>", 6), ("<title></title> x<link>", 15), ("<head> <link", 6)],
)
def test_where_it_ends(html: str, end: int) -> None:
    assert head_end(html.encode()) == end


@pytest.mark.parametrize("some", ["<template>", "<link>", "</p>", "<title>", "<!--", "<link", " "])
def test_work_is_linear(some: str) -> None:
    assert_linear(lambda count: head_end(some.encode() * count), 2**15)


def test_values_as_they_are_written() -> None:
    names = (b"a", b"b", b"c")
    rest = b" a = 'x\"' b=\"'y'\" b=z c d=1 A=2"
    assert written_values(rest, names) == {b"a": b'x"', b"b": b"'y'", b"c": b""}
