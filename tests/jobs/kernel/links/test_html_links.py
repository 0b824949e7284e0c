"""Links of pages: the table, what is no link, bases, charsets, and pages made to hurt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.growth import assert_linear

from crawlrank.jobs.kernel.links.html_documents import HtmlOptions
from crawlrank.jobs.kernel.links.html_links import (
    MOST_JOINED,
    SHORT_BASE,
    html_link_groups,
    html_links,
)
from crawlrank.jobs.kernel.links.link_rules import RULES
from crawlrank.jobs.kernel.markup.html_pieces import LONG_TAG, MANY_TAGS, is_simple

PAGE = "http://h/d/p"


def found(html: str | bytes, content_type: str = "") -> list[tuple[str, str, str]]:
    body = html.encode() if isinstance(html, str) else html
    links = html_links(body, PAGE, content_type)
    return [(target.decode(), hop, context) for target, hop, context, _ in links]


def found_by_parser(html: bytes) -> list[tuple[str, str, str]]:
    groups = html_link_groups(html, PAGE, "", Counter(), options=HtmlOptions(scanned=False))
    return [
        (target.decode(), hop, context)
        for targets, hop, context, *_ in groups
        for target in targets
    ]


TABLE = {
    "<a href=x>": ("L", "a/@href"),
    "<A HREF='x#y'>": ("L", "a/@href"),
    "<map><area href=x></map>": ("L", "area/@href"),
    "<frameset><frame src=x></frameset>": ("E", "frame/@src"),
    "<iframe src=x></iframe>": ("E", "iframe/@src"),
    "<img src=x>": ("E", "img/@src"),
    "<img srcset='x 2x'>": ("E", "img/@srcset"),
    "<picture><source srcset=x></picture>": ("E", "source/@srcset"),
    "<video><source src=x></video>": ("E", "source/@src"),
    "<video src=x>": ("E", "video/@src"),
    "<video poster=x>": ("E", "video/@poster"),
    "<audio src=x>": ("E", "audio/@src"),
    "<video><track src=x>": ("E", "track/@src"),
    "<embed src=x>": ("E", "embed/@src"),
    "<object data=x>": ("E", "object/@data"),
    "<input type=image src=x>": ("E", "input/@src"),
    "<body background=x>": ("E", "body/@background"),
    "<script src=x></script>": ("E", "script/@src"),
    "<link rel=stylesheet href=x>": ("E", "link/@href"),
    "<link rel='Shortcut ICON' href=x>": ("E", "link/@href"),
    "<link rel=canonical href=x>": ("X", "link/@href"),
    "<link rel=next href=x>": ("X", "link/@href"),
    "<link href=x>": ("X", "link/@href"),
    "<meta http-equiv=Refresh content='0; URL=x'>": ("R", "meta/@content"),
    "<noscript><a href=x></noscript>": ("L", "a/@href"),
    "<svg><a href=x></svg>": ("L", "a/@href"),
    "<svg><a xlink:href=x></svg>": ("L", "a/@xlink:href"),
    "<svg><a xlink:href=y href=x></svg>": ("L", "a/@href"),
    "<svg><g><a xlink:href=x></g></svg>": ("L", "a/@xlink:href"),
    "<a href=x xlink:href=y>": ("L", "a/@href"),
    "<svg><image href=x xlink:href=y /></svg>": ("E", "image/@href"),
    "<svg><use xlink:href=y href=x /></svg>": ("E", "use/@href"),
    "<blockquote cite=x>": ("X", "blockquote/@cite"),
    "<q cite=x>": ("X", "q/@cite"),
    "<ins cite=x>": ("X", "ins/@cite"),
    "<del cite=x>": ("X", "del/@cite"),
    "<img longdesc=x>": ("X", "img/@longdesc"),
    "<iframe longdesc=x></iframe>": ("X", "iframe/@longdesc"),
    "<frameset><frame longdesc=x></frameset>": ("X", "frame/@longdesc"),
    "<svg><image href=x /></svg>": ("E", "image/@href"),
    "<svg><image xlink:href=x /></svg>": ("E", "image/@xlink:href"),
    "<svg><use href='x#part'/></svg>": ("E", "use/@href"),
    "<svg><use xlink:href=x /></svg>": ("E", "use/@xlink:href"),
    "<link rel=preload as=image imagesrcset='x 2x'>": ("E", "link/@imagesrcset"),
    "<table background=x></table>": ("E", "table/@background"),
    "<table><thead background=x></table>": ("E", "thead/@background"),
    "<table><tbody background=x></table>": ("E", "tbody/@background"),
    "<table><tfoot background=x></table>": ("E", "tfoot/@background"),
    "<table><tr background=x></table>": ("E", "tr/@background"),
    "<table><td background=x></table>": ("E", "td/@background"),
    "<table><th background=x></table>": ("E", "th/@background"),
    "<style>@import 'x';</style>": ("E", "style"),
    "<p style='background: URL(x)'>": ("E", "p/@style"),
    "<body style=\"background: url('x')\">": ("E", "body/@style"),
}
STYLES = {"style", "p/@style", "body/@style"}


@pytest.mark.parametrize("html", TABLE)
def test_the_table(html: str) -> None:
    assert found(html) == [("http://h/d/x", *TABLE[html])]
    assert found(html + "\n" * (LONG_TAG + 1)) == [("http://h/d/x", *TABLE[html])]


def test_every_rule_is_in_the_table() -> None:
    assert {f"{r.element}/@{r.attribute}" for r in RULES} == {
        context for _, context in TABLE.values()
    } - STYLES


@pytest.mark.parametrize(
    "html",
    [
        "<!-- <a href=x> -->",
        "<script>'<a href=x>'</script>",
        "<style><a href=x></style>",
        "<template><a href=x></template>",
        "<textarea><a href=x></textarea>",
        "<title><a href=x></title>",
        "<a name=x>",
        "<a xlink:href=x>",
        "<svg><foreignObject><p><a xlink:href=x></svg>",
        "<svg><desc><a xlink:href=x></svg>",
        "<svg></svg><a xlink:href=x>",
        "<svg><image href xlink:href=x /></svg>",
        "<use href=x></use><p><use xlink:href=x></use>",
        "<img src=''>",
        "<input type=text src=x>",
        "<link rel=preconnect href=x><link rel='dns-prefetch' href=x>",
        "<meta name=refresh content='0;url=x'>",
        "<meta http-equiv=refresh content=5>",
        "<meta http-equiv=refresh content='5; url='>",
        "<form action=x><button formaction=x>",
        "<applet code=x archive=x codebase=x></applet><object codebase=x classid=x></object>",
        "<img lowsrc=x dynsrc=x data-src=x usemap=x><bgsound src=x><a ping=x>",
        "<p title='<a href=x>'>",
        "<noframes><a href=x></noframes>",
        "<noembed><a href=x></noembed>",
        "<iframe><a href=x></iframe>",
        "<svg><use href='#x'/></svg><img src='#x'>",
        "<meta http-equiv=refresh content='5; url=#x'>",
        "<style>/* url(x) */ a { fill: url(#x) }</style>",
        "<script>url(x)</script><p title='url(x)'>",
        "<template><style>@import 'x';</style></template>",
        "",
    ],
)
def test_no_links(html: str) -> None:
    assert found(html) == []
    assert found(html + "\n" * (LONG_TAG + 1)) == []


def test_self_links_stay() -> None:
    assert [target for target, _, _ in found("<a href><a href=''><a href='#top'>")] == [PAGE] * 3


def test_dropped_schemes_are_counted() -> None:
    counters: Counter[str] = Counter()
    html = b"<a href=mailto:a@h><a href='javascript:x'><img src=data:,><a href=tel:1><a href='http://['>"
    assert list(html_links(html, PAGE, "", counters)) == []
    reasons = ("scheme.mailto", "scheme.javascript", "scheme.data", "scheme.other", "invalid")
    assert counters == {f"dropped.{reason}": 1 for reason in reasons}


BASES = {
    "<base href=/b/><a href=x>": "http://h/b/x",
    "<base href=/b/><base href=/c/><a href=x>": "http://h/b/x",
    "<a href=x><base href=//o/><p>": "http://o/x",
    "<base target=t><base href=/b/><a href=x>": "http://h/b/x",
    "<base href=javascript:x><a href=x>": "http://h/d/x",
    "<base href='http://['><a href=x>": "http://h/d/x",
    "<base href=''><a href=x>": "http://h/d/x",
    "<base href=''><base href=/b/><a href=x>": "http://h/d/x",
    "<base href=../e/><a href=x>": "http://h/e/x",
    "<base href=data:,x><a href=x>": "http://h/d/x",
    "<base href=' JavaScript:x'><a href=x>": "http://h/d/x",
    "<base href=data:,x><base href=/b/><a href=x>": "http://h/d/x",
    "<base href=file:///c:/web/><a href=/x><a href=//o/x><a href=x><a href=http://o/x>": (
        "http://o/x"
    ),
    "<base href=mailto:x><a href=x><a href=/x><a href=http://o/x>": "http://o/x",
    "<base href=ftp://o/><a href=x><a href=#x><a href=//o/x><a href=http://o/x>": "http://o/x",
    f"<base href=/{'b' * 9000}/><a href=x><a href=/x>": "http://h/x",
    f"<base href=/{'b' * 2**17}/><a href=x><a href=http://o/x>": "http://o/x",
}


@pytest.mark.parametrize("html", BASES)
def test_bases(html: str) -> None:
    assert [target for target, _, _ in found(html)] == [BASES[html]]


def srcdoc(html: str) -> str:
    return '<iframe srcdoc="' + html.replace("&", "&amp;").replace('"', "&quot;") + '"></iframe>'


def test_a_page_in_an_iframe_belongs_to_the_page() -> None:
    html = "<base href=/b/>" + srcdoc("<a href=x>") + "<a href=y>"
    assert [target for target, _, _ in found(html)] == ["http://h/b/y", "http://h/b/x"]
    assert [target for target, _, _ in found(srcdoc("<base href=c/><a href=x>"))] == [
        "http://h/d/c/x"
    ]
    nested = "<a href=x>"
    for _ in range(10):
        nested = srcdoc("<a href=x>" + nested)
    assert len(found(nested)) == 3


def test_forms_on_request() -> None:
    html = (
        "<form action=x><form></form><form method=POST action=y></form><form method=GET action=z>"
    )
    html = html.replace("<form></form>", "</form>")
    made = [link[:3] for link in html_links(html.encode(), PAGE, forms=True)]
    assert made == [(b"http://h/d/x", "X", "form/@action"), (b"http://h/d/z", "X", "form/@action")]
    assert found(html) == []


NOFOLLOW = {
    "<a href=x rel=nofollow>": [True],
    "<a href=x rel='noopener UGC'>": [True],
    "<area href=x rel=sponsored>": [True],
    "<a href=x rel=noopener>": [False],
    "<a href=x><a href=y rel=nofollow>": [False, True],
    "<link rel='canonical nofollow' href=x>": [False],
    "<meta name=Robots content='noindex, NOFOLLOW'><a href=x><img src=y>": [True, False],
    "<a href=x><meta name=robots content=none>": [True],
    "<meta name=robots content=noindex><a href=x>": [False],
    "<meta name=somebot content=nofollow><a href=x>": [False],
}


@pytest.mark.parametrize("html", NOFOLLOW)
def test_nofollow(html: str) -> None:
    assert [flag for *_, flag in html_links(html.encode(), PAGE)] == NOFOLLOW[html]


def test_xhtml_may_close_what_html_may_not() -> None:
    html = (
        "<html><head><title/><script src='s' data-x='a>b'/></head><body><iframe src='f'/>"
        "<a href='x'/></body>"
    )
    for content_type in ("application/xhtml+xml", "text/xml"):
        assert [context for _, _, context in found(html, content_type)] == [
            *("script/@src", "iframe/@src", "a/@href"),
        ]


def test_styles_are_read_in_their_place_and_with_the_base() -> None:
    html = "<base href=/b/><style>a{b:url(1)}</style><p style='x:url(&quot;2&quot;)'><img src=3>"
    assert [target for target, _, _ in found(html)] == [f"http://h/b/{n}" for n in (1, 2, 3)]


SRCSETS = {
    "a.jpg 1x, b.jpg 2x": ["a.jpg", "b.jpg"],
    "a.jpg 1x,b.jpg 2x": ["a.jpg", "b.jpg"],
    "a.jpg, b.jpg": ["a.jpg", "b.jpg"],
    " a,b.jpg 100w , c.jpg": ["a,b.jpg", "c.jpg"],
    "a.jpg 1x 2h, , b.jpg": ["a.jpg", "b.jpg"],
    ", ,": [],
    "a.jpg (1x, x.jpg 2x), b.jpg 2x, c.jpg (": ["a.jpg", "b.jpg", "c.jpg"],
}


@pytest.mark.parametrize("value", SRCSETS)
def test_srcset(value: str) -> None:
    targets = [target for target, _, _ in found(f'<img srcset="{value}">')]
    assert targets == [f"http://h/d/{name}" for name in SRCSETS[value]]


REFRESHES = {
    "0;url=x": "x",
    "5; URL = 'x y' z": "x%20y",
    '0;"x"': "x",
    ".;x": "x",
    "0.5, url=x": "x",
    "0 x": "x",
}


@pytest.mark.parametrize("value", REFRESHES)
def test_refresh(value: str) -> None:
    html = f"<meta http-equiv=refresh content='{value.replace(chr(39), '&#39;')}'>"
    assert found(html) == [(f"http://h/d/{REFRESHES[value]}", "R", "meta/@content")]


@pytest.mark.parametrize("first", ["#x", "mailto:a@h", "'#x'", ""])
def test_the_first_refresh_counts_wherever_it_leads(first: str) -> None:
    html = f'<meta http-equiv=refresh content="0;url={first}"><meta http-equiv=refresh content=0;x>'
    assert found(html) == []
    again = html.replace(f"url={first}", "url=http://[/")
    assert [target for target, *_ in found(again)] == ["http://h/d/x"]


@pytest.mark.parametrize("element", ["base", "area", "iframe", "script", "source", "link", "q"])
def test_elements_of_html_mean_nothing_as_elements_of_svg(element: str) -> None:
    """They do where HTML begins again in a picture."""
    value = f"<{element} rel=next href=/q/ src=/q/ cite=/q/></{element}>"
    html = f"<svg><g>{value}</g></svg><a href=x>"
    inner = f"<svg><desc>{value}</desc></svg><a href=x>"
    for read in (found, lambda text: found_by_parser(text.encode())):
        assert [target for target, *_ in read(html)] == ["http://h/d/x"]
        assert [target for target, *_ in read(inner)] != ["http://h/d/x"]


def test_charsets() -> None:
    html = "<a href='é?é'>"
    assert (
        found(html.encode("cp1252"), "text/html; charset=latin1")[0][0] == "http://h/d/%C3%A9?%E9"
    )
    assert found(html.encode())[0][0] == "http://h/d/%C3%A9?%C3%A9"
    based = "<meta charset=windows-1251><base href='/b/?ж'><a href='#t'><a href=x>"
    assert [uri for uri, *_ in found(based.encode("cp1251"))] == [
        "http://h/b/?%E6", "http://h/b/x",
    ]  # fmt: skip
    assert found(b"\xff\xfe" + html.encode("utf-16-le"))[0][0] == "http://h/d/%C3%A9?%C3%A9"


@pytest.mark.slow
@given(st.binary())
def test_any_bytes_are_a_page(body: bytes) -> None:
    for target, *_ in html_links(body, PAGE):
        assert len(target.split()) == 1


@pytest.mark.slow
@given(st.text(alphabet=st.sampled_from("<>/=\"' \n&;#!-abhrefscipt"), max_size=300))
def test_any_soup_is_a_page(text: str) -> None:
    assert all(target.startswith(b"http") for target, *_ in html_links(text.encode(), PAGE))


#: pages of these numbers of pieces, and the most that are tried
HOSTILE: dict[str, tuple[Callable[[int], bytes], int]] = {
    "depth": (lambda n: b"<div>" * n, 300_000),
    "formatting": (
        lambda n: b"<p>" + b"".join(b"<b id=%d>" % i for i in range(n)) + b"<p>x" * n,
        20_000,
    ),
    "attributes": (lambda n: b"<a " + b"".join(b"a%d " % i for i in range(n)) + b">", 200_000),
    "comments": (lambda n: b"<!--" * n, 500_000),
    "scripts": (lambda n: b"<script " * n, 200_000),
    "tables": (lambda n: b"<table><td>" * n, 100_000),
    "quotes": (lambda n: b'<a href="' * n, 200_000),
    "srcset": (lambda n: b'<img srcset="' + b",a" * n + b'">', 500_000),
    "anchors": (lambda n: b"<a href=x><div>" * n, 50_000),
    "styles": (lambda n: b"<p style='url(" * n, 100_000),
    "sheet": (lambda n: b"<style>" + b'"\\"@import /*url(' * n, 100_000),
    "srcdoc": (lambda n: b"<iframe srcdoc='" * n, 100_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_time_in_proportion(name: str) -> None:
    page, most = HOSTILE[name]

    def read(size: int) -> None:
        assert found(b"<a href=/first></a>" + page(size))[0][0] == "http://h/first"

    assert_linear(read, most)


@pytest.mark.parametrize(("count", "simple"), [(9, True), (MANY_TAGS // 8, False)])
def test_pieces_give_the_links_of_the_whole(count: int, simple: bool) -> None:
    parts = [
        f"<!-- <a href=c{n}> --><script>if (a<b) '<a href=s{n}>'</script><div><p>text"
        f"<a href=/{n}>x</a><ul><li><img src=i{n}></ul></div><template><a href=t{n}></template>"
        for n in range(count)
    ]
    wanted = [
        link
        for n in range(count)
        for link in ((f"http://h/{n}", "L", "a/@href"), (f"http://h/b/i{n}", "E", "img/@src"))
    ]
    text = "x" * (LONG_TAG // 2 if simple else 3 * LONG_TAG)
    html = ("<base href=/b/>" + "".join(parts) + text + "<a href=/last>").encode()
    assert is_simple(html) == simple
    assert found_by_parser(html) == [*wanted, ("http://h/last", "L", "a/@href")]


def test_an_ordinary_page_is_parsed_as_it_is() -> None:
    assert is_simple(b"<p>" * MANY_TAGS + b"x" * 100)


@pytest.mark.parametrize("html", TABLE)
def test_for_navigation_only_these_are_read(html: str) -> None:
    context = TABLE[html][1]
    kept = context in ("a/@href", "a/@xlink:href", "area/@href", "frame/@src", "meta/@content")
    assert len(list(html_links(html.encode(), PAGE, nav=True))) == kept


def test_reading_for_navigation_leaves_the_other_links_as_they_are() -> None:
    html = (
        b"<base href=/b/><meta name=robots content=nofollow><img src=i><p style='x:url(j)'>"
        b"<a href=x rel=ugc><iframe src=k srcdoc='<a href=y><img src=l>'></iframe>"
        b"<template><a href=t></template><a href>"
    )
    assert list(html_links(html, PAGE, nav=True)) == [
        (b"http://h/b/x", "L", "a/@href", True),
        (b"http://h/b/", "L", "a/@href", True),
        (b"http://h/b/y", "L", "a/@href", True),
    ]


@pytest.mark.parametrize("depth", [0, 1])
def test_a_long_base_is_joined_to_some_references_alone(depth: int) -> None:
    """The bound is for all documents of a page together; on a short one all are joined."""
    for length, most in ((SHORT_BASE - 20, 3000), (4000, MOST_JOINED // 4000)):
        links = "".join(f"<a href={number}>" for number in range(3000))
        if depth:
            links = "".join(
                f'<iframe srcdoc="<a href={number}>"></iframe>' for number in range(3000)
            )
        counters: Counter[str] = Counter()
        body = f"<base href='http://h/{'b' * length}/'>{links}".encode()
        count = sum(1 for _ in html_links(body, "http://h/", "", counters))
        assert abs(count - min(3000, most)) < 30
        assert counters["dropped.over-limit"] == (count < 3000)
