"""Declarative shadow roots: links in them count, and those in all other templates do not."""

from __future__ import annotations

import random

import pytest
from support.drawing import examples
from support.growth import assert_linear

from crawlrank.jobs.kernel.links.html_links import html_links
from crawlrank.jobs.kernel.markup.html_pieces import MANY_TAGS, is_simple

OPEN, END = "<template shadowrootmode=open>", "</template>"
IN = "<a href=/in>x</a>"
#: page -> whether the link in it counts
CASES = {
    f"<div>{OPEN}{IN}{END}</div>": True,
    f"<div><template shadowrootmode='closed'>{IN}{END}</div>": True,
    f"<div><TEMPLATE SHADOWROOTMODE=OpeN>{IN}</TEMPLATE></div>": True,
    f"<div><template class=x shadowrootmode=&#111;pen shadowrootmode=x>{IN}{END}</div>": True,
    f"<div><template shadowrootmode=nonsense>{IN}{END}</div>": False,
    f"<div><template shadowrootmode>{IN}{END}</div>": False,
    f"<div><template shadowrootmode=' open'>{IN}{END}</div>": False,
    f"<div><template shadowroot=open>{IN}{END}</div>": False,
    f"<div><template title=shadowrootmode=open>{IN}{END}</div>": False,
    f"<div>{IN.replace('in', 'out')}<template>{IN}{END}</div>": False,
    f"<site-nav>{OPEN}{IN}{END}</site-nav>": True,
    f"<x-é>{OPEN}{IN}{END}</x-é>": True,
    f"<font-face>{OPEN}{IN}{END}</font-face>": False,
    f"<annotation-xml>{OPEN}{IN}{END}</annotation-xml>": False,
    f"<xnav>{OPEN}{IN}{END}</xnav>": False,
    f"<body>{OPEN}{IN}{END}": True,
    f"<p></p>{OPEN}{IN}{END}": True,
    f"text {OPEN}{IN}{END}": True,
    f"<p></p></body></html>{OPEN}{IN}{END}": True,
    f"{OPEN}{IN}{END}<p>": False,
    f"<head>{OPEN}{IN}{END}</head><p>": False,
    f"<head></head>{OPEN}{IN}{END}<body>": False,
    f"<html>{OPEN}{IN}{END}<p>": False,
    f"<div>{OPEN}{END}{OPEN}{IN}{END}</div>": False,
    f"<div><template>{END}{OPEN}{IN}{END}</div>": True,
    f"<div><template shadowrootmode=x>{END}{OPEN}{IN}{END}</div>": True,
    f"<div>{OPEN}{END}<p>{OPEN}{IN}{END}</p></div>": True,
    f"<div>{OPEN}{END}</div><div>{OPEN}{IN}{END}</div>": True,
    f"<body>{OPEN}{END}<p></p>{OPEN}{IN}{END}": False,
    f"<div>x{OPEN}{END}<b>y</b>{OPEN}{IN}{END}</div>": False,
    f"<div>{OPEN}<div>{OPEN}{IN}{END}</div>{END}</div>": True,
    f"<div>{OPEN}{OPEN}{IN}{END}{END}</div>": False,
    f"<div>{OPEN}<template>{IN}{END}{END}</div>": False,
    f"<template><div>{OPEN}{IN}{END}</div>{END}": False,
    f"<div>{OPEN}</div>{IN}{END}</div>": True,
    f"<div>{OPEN}<svg></template>{IN}": True,
    f"<div>{OPEN}<table>{END}{IN}</div>": True,
    f"<table>{OPEN}{IN}{END}</table>": False,
    f"<table><td>{OPEN}{IN}{END}</table>": False,
    f"<table><td><div>{OPEN}{IN}{END}</table>": True,
    f"<p>{OPEN}<div>{IN}</div>{END}{OPEN}{END}": True,
    f"<p><div>{OPEN}{IN}{END}": True,
    f"<h1>{OPEN}{END}<h2>{OPEN}{IN}{END}": True,
    f"<a href=x>{OPEN}{IN}{END}</a>": False,
    f"<ul><li>{OPEN}{IN}{END}</ul>": False,
    f"<svg><g-x>{OPEN}{IN}{END}</svg>": True,  # no template of HTML
    f"<svg><title><div>{OPEN}{IN}{END}</div></title></svg>": True,
    f"<form><div>{OPEN}{END}</form>{OPEN}{IN}{END}</div>": False,
    f"<form><div></form>{OPEN}{IN}{END}</div>": True,
    f"<div><!-- {OPEN} -->{OPEN}{IN}{END}</div>": True,
    f"<div>{OPEN}<script>{IN}</script>{END}</div>": False,
    f"<div>{OPEN}<noscript>{IN}</noscript>{END}</div>": True,
}  # fmt: skip
BLANKS = b" " * 2**15 + b"<p>" * (MANY_TAGS + 1)


def links(html: str | bytes) -> list[tuple[str, str]]:
    page = html.encode() if isinstance(html, str) else html
    rows = html_links(page, "http://h/", "text/html; charset=utf-8", forms=True)
    return [(uri.decode().removeprefix("http://h/"), hop) for uri, hop, *_ in rows]


@pytest.mark.parametrize("html", CASES)
def test_which_templates_are_content(html: str) -> None:
    for page in (html.encode(), html.encode() + BLANKS):
        assert (("in", "L") in links(page)) == CASES[html]


OF_HTML = (
    *("article", "aside", "blockquote", "body", "div", "footer", "header", "main", "nav", "p"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "section", "span"),
)


@pytest.mark.parametrize("host", [*OF_HTML, "a-b", "a-", "x-1.ü"])
def test_hosts(host: str) -> None:
    assert links(f"<{host}>{OPEN}{IN}{END}") == [("in", "L")]


@pytest.mark.parametrize("name", ["a", "b", "li", "ul", "td", "form", "button", "em", "pre", "a:b"])
def test_others_are_none(name: str) -> None:
    assert links(f"<i><{name}>{OPEN}{IN}{END}") == []


def test_what_else_is_in_a_shadow_root() -> None:
    inside = (
        "<base href=/b/><meta http-equiv=refresh content='0;url=r'><img src=i><link rel=stylesheet"
        " href=s><style>@import 'c';</style><p style='background:url(u)'><form action=f></form>"
        "<iframe srcdoc='<a href=d>'></iframe><table><tr><td background=t></table>"
    )
    expected = {("i", "E"), ("s", "E"), ("c", "E"), ("u", "E"), ("f", "X"), ("d", "L"), ("t", "E")}
    assert {*links(f"<div>{OPEN}{inside}{END}<a href=o></a>")} == expected | {("o", "L")}
    assert links(f"<div><template>{inside}{END}") == []


def test_a_robots_rule_in_a_shadow_root_says_nothing() -> None:
    rule = "<meta name=robots content=nofollow>"
    for html, flags in ((f"<div>{OPEN}{rule}{END}{IN}", [False]), (rule + IN, [True])):
        assert [link[3] for link in html_links(html.encode(), "http://h/")] == flags


# drawn trees

HOSTS = ("div", "section", "span", "x-y", "my-card")
NO_HOSTS = ("em", "object", "label", "xcard", "font-face")


def drawn(draw: random.Random, depth: int, visible: bool, expected: list[str]) -> str:
    """An element that is closed, whose visible links are added to those expected."""
    name = draw.choice(HOSTS if draw.random() < 0.7 else NO_HOSTS)
    has_root, parts = name not in HOSTS, []
    for _ in range(draw.randrange(5)):
        kind = draw.randrange(4 if depth else 2)
        if kind == 0:
            number = str(draw.getrandbits(40))
            parts.append(f"<a href={number}>x</a>")
            expected += [number] * visible
        elif kind == 1:
            parts.append(draw.choice(("x", "<!-- <template> -->", "<br>", " ")))
        elif kind == 2:
            parts.append(drawn(draw, depth - 1, visible, expected))
        else:
            mode = draw.choice(("open", "'closed'", '"OPEN"', "no", ""))
            is_root = mode not in ("no", "") and visible and not has_root
            has_root |= is_root
            inner = drawn(draw, depth - 1, is_root, expected)
            parts.append(f"<template shadowrootmode={mode or repr('')}>{inner}</template>")
    return f"<{name}>{''.join(parts)}</{name}>"


def test_drawn_trees() -> None:
    some = 0
    for seed in range(examples(1000)):
        draw, expected = random.Random(seed), list[str]()
        html = "<!doctype html><title>x</title>" + drawn(draw, 6, True, expected)
        assert [target for target, _ in links(html)] == expected, html
        some += len(expected)
    assert some > examples(1000)


@pytest.mark.parametrize("some", [
    f"<div>{OPEN}", f"<div>{OPEN}{END}", f"<div>{OPEN}{END}<form></div></form>", OPEN,
    f"<div>{OPEN}{END}<b><p></b>", f"<table>{OPEN}<td>",
])  # fmt: skip
@pytest.mark.slow
def test_work_is_linear(some: str) -> None:
    """From 8,000 roots on, all pages of the cases are read in pieces."""
    assert_linear(lambda count: links(("<p>" + some * count).encode()), 64_000)


def test_pages_without_shadow_roots_are_read_as_before() -> None:
    html = f"<div><template>{IN}{END}<p>shadow</p>{IN}".encode()
    assert is_simple(html)
    assert links(html) == [("in", "L")]
