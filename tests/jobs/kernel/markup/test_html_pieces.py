"""A page gives the same links whatever its size: those of a large one, which is parsed in pieces,
against those of a small one, which the parser is given whole."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.inputs.archive_samples import extracted, page
from support.paths import SAMPLES

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.links.documents import document
from crawlrank.jobs.kernel.links.html_links import html_links
from crawlrank.jobs.kernel.markup.html_pieces import (
    LONG_TAG,
    MANY_TAGS,
    PIECE_TAGS,
    is_simple,
    pieces,
)
from crawlrank.jobs.kernel.storage.opening import opened

PAGE = "http://h/d/p"
TAIL = b"".join(b"<a href=/l%d>x</a>" % number for number in range(50))
#: of no meaning at the end of any page
BLANKS = b"\n" * (LONG_TAG + 1)

BEFORE_LINKS = {
    b"<svg><title>x</svg>": 0,
    b"<svg><desc><title>x</svg></title></desc></svg>": 0,
    b"<svg><style><!-- a{}</svg>-->": 0,
    b"<math><mi><title>x</math></title></mi></math>": 0,
    b"<!-->": 0,
    b"<!--->": 0,
    b"<!-- --!>": 0,
    b"<!x '>": 0,
    b"</ x='>'>'>": 0,
    b'<a href="/one" title="a <!-- b">': 1,
    b'<a href="/one" title="the <title> element">': 1,
    b'<a href="/one" onclick="f(\'<script>\')">': 1,
    b'<input value="<iframe src=x>">': 0,
    b'<p title="<svg><template><!--">': 0,
    b'<p a ="<!--" b= "<!--" c = <!-- d>': 0,
    b'<p ="x>': 0,
    b'<iframe srcdoc="<a href=/in>"></iframe>': 1,
    b'<script data-x="a>b"></script>': 0,
    b'<script></script x="</script>">': 0,
    b"<script><!--<script></script>--></script>": 0,
    b"<script><!-- <script> </script> <a href=/no> </script> --></script>": 0,
    b"<script><!--></script>": 0,
    b"<svg><![CDATA[ <!-- ]]></svg>": 0,
    b"<svg><![CDATA[ <a href=/no> ]]></svg>": 0,
    b"<![CDATA[ <a href=/one> ]]>": 0,
    b"<template><svg><title></template>": 0,
    b"<template><a href=/no><template></template><a href=/no></template>": 0,
    b"<div><svg></div><title>x</title>": 0,
    b"<table><td><svg></table><title><a href=/no></title>": 0,
    b"<svg><p><title><a href=/no></title>": 0,
    b"<frame src=/no><frameset>": 0,
    b"<title/><a href=/no></title>": 0,
    b"": 0,
}


def links(html: bytes, **options: bool) -> list[tuple[bytes, str, str, bool]]:
    return list(html_links(html, PAGE, "text/html; charset=utf-8", **options))


@pytest.mark.parametrize("html", BEFORE_LINKS)
def test_links_behind_what_looks_like_other_tags(html: bytes) -> None:
    for begin in (b"<p>x", b"<p>x" * (MANY_TAGS + 1)):
        assert len(links(begin + html + TAIL, nav=True)) == 50 + BEFORE_LINKS[html]


#: what is open where a page is cut -> links in it and in the TAIL
OPEN_AT_A_CUT = {
    b"<template>" + b"<a href=/no>" * 3 * PIECE_TAGS + b"</template>": 50,
    b"<template><template>" + b"<a href=/no>" * 3 * PIECE_TAGS + b"</template></template>": 50,
    b"<div><template shadowrootmode=open>" + b"<p>" * PIECE_TAGS + b"<a href=/in></template>": 51,
    b"<svg>" + b"<g></g>" * PIECE_TAGS + b"<use href=/u#x></use></svg>": 51,
    b"<table>" + b"<tr><td>" * PIECE_TAGS + b"<td background=/b></table>": 51,
    b"<b>" * PIECE_TAGS + b"<frameset><frame src=/no></frameset>": 50,
    b"<!--" + b"<a href=/no>" * PIECE_TAGS + b"-->": 50,
    b"<script>" + b"<a href=/no>" * PIECE_TAGS + b"</script>": 50,
    b"<svg><title>" + b"<g></g>" * PIECE_TAGS + b"</title><image href=/i></image></svg>": 51,
}


@pytest.mark.parametrize("html", OPEN_AT_A_CUT)
def test_links_after_what_is_open_where_a_page_is_cut(html: bytes) -> None:
    page = b"<math></math>" + b"<p>x" * MANY_TAGS + html + TAIL
    assert not is_simple(page)
    assert len(links(page)) == OPEN_AT_A_CUT[html]


def test_pieces_join_to_the_page() -> None:
    page = b"".join(b"<p>%d<!-- <i> --><script><b></script>" % number for number in range(3000))
    parts = list(pieces(page, frozenset()))
    assert len(parts) > 5
    assert parts[0] + b"".join(part.removeprefix(b"x") for part in parts[1:]) == page


NAMES = (
    *("a", "area", "base", "frame", "iframe", "meta", "link", "img", "source", "script", "video"),
    *("input", "q", "form", "body", "table", "tbody", "tr", "td", "th", "caption", "style"),
    *("title", "textarea", "template", "xmp", "noembed", "noframes", "svg", "math", "desc", "mi"),
    *("foreignObject", "annotation-xml", "p", "div", "span", "b", "font", "h1", "li", "ul", "dd"),
    *("option", "select", "button", "object", "plaintext", "frameset", "html", "br", "hr"),
    *("image", "use", "o:p", "pre"),
)
ATTRIBUTES = (
    *("href=/{n}", 'href="/{n}"', "href='/{n}'", "HREF = /{n}", "src=/{n}", "xlink:href=/{n}"),
    *('title="a <!-- b"', 'title="<script>"', "x='<title>'", 'data-x="a>b"', 'a=b"c', '="x', "/"),
    *("style='background:url(/{n})'", "background=/{n}", "action=/{n}", "color=red", "href"),
    *("rel=nofollow", "encoding=text/html", 'srcdoc="<a href=/{n}>"', 'title="open'),
)
TEXTS = (
    *("x", " ", "a < b", "<!-- c -->", "<!--", "-->", "<!-->", "<!--->", "--!>", "<!x>", "</>"),
    *("<![CDATA[ <!-- ]]>", "<![CDATA[", "]]>", "<!doctype html>", "<?x '>' ?>", "</ x>"),
    *("<script><!--<script></script>--></script>", "<svg><title>x</svg>", "<svg/>", "</svg>"),
    *("<svg><style>a{{b:url(/s{n})}}</style></svg>", '@import "/{n}";', "</script>", "</title>"),
    *("</template>", "</table>", "<a href=/{n}>y</a>"),
)


@st.composite
def hostile_pages(draw: st.DrawFn) -> bytes:
    names = ["a", *draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=12))]
    attributes = st.lists(st.sampled_from(ATTRIBUTES), max_size=3)
    parts = []
    for number in range(draw(st.integers(1, 30))):
        name, kind = draw(st.sampled_from(names)), draw(st.integers(0, 3))
        if kind < 2:
            part = " ".join((f"<{name}", *draw(attributes))) + ">"
        else:
            part = f"</{name}>" if kind == 2 else draw(st.sampled_from(TEXTS))
        parts.append(part.format(n=number))
    return "".join([*parts, "<a href=/end>"]).encode()


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(hostile_pages(), st.booleans())
def test_a_hostile_page_gives_the_same_links_whatever_its_size(html: bytes, nav: bool) -> None:
    large = html + BLANKS
    assert is_simple(html)
    assert not is_simple(large)
    assert set(links(html, nav=nav, forms=True)) == set(links(large, nav=nav, forms=True))


def real_pages() -> list[bytes]:
    bodies: dict[bytes, None] = {}
    for path in sorted(SAMPLES.glob("*arc.gz")):
        with opened(path) as stream:
            for record in read_records(stream, path.name):
                if isinstance(record, Record) and len(record.body) < LONG_TAG:
                    kind = document(record.media_type, record.body, record.uri)
                    if kind == "html" and is_simple(record.body):
                        bodies[record.body] = None
    return list(bodies)


def test_real_pages_and_what_becomes_of_them_give_the_same_links_whatever_their_size() -> None:
    pages = real_pages()
    assert len(pages) > 100
    choice = random.Random(1)
    hostile = [*BEFORE_LINKS, *(text.format(n=0).encode() for text in TEXTS), b"<svg>", b'"', b"'"]
    for html in choice.sample(pages, examples(100)):
        for _ in range(4):
            assert set(links(html)) == set(links(html + BLANKS))
            place = choice.randrange(len(html))
            html = html[:place] + choice.choice(hostile) + html[place + choice.randrange(20) :]


def test_tags_of_many_attributes_and_long_ones() -> None:
    many = b"".join(b" a%d='>'" % number for number in range(20_000))
    html = b"<a%b href=/x href=/y><a title='%b' href=/z>" % (many, b"x" * 2**20)
    assert [target for target, *_ in links(html * 2)] == [b"http://h/x", b"http://h/z"] * 2


def test_a_body_that_is_twice_there_has_the_attributes_of_both() -> None:
    for end in (b"", BLANKS):
        html = b"<body class=x><p><body background=/x><body background=/y>" + end
        assert [target for target, *_ in links(html)] == [b"http://h/x"]


def test_a_set_of_frames_takes_the_place_of_an_empty_body() -> None:
    frames = b"<frameset><frame src=/f><noframes><a href=/n></noframes></frameset><a href=/end>"
    for end in (b"", BLANKS):
        assert [link[0] for link in links(b"<a href=/x></a>" + frames + end)] == [b"http://h/f"]
        assert [link[0] for link in links(b"<a href=/x>x" + frames + end)] == [
            *(b"http://h/x", b"http://h/end")
        ]


def test_what_is_left_out_is_counted() -> None:
    def framed(inner: str) -> str:
        return (
            '<iframe srcdoc="' + inner.replace("&", "&amp;").replace('"', "&quot;") + '"></iframe>'
        )

    html = "<a href=/x>"
    for _ in range(5):
        html = framed("<a href=/x>" + html)
    counters: Counter[str] = Counter()
    assert len(list(html_links(html.encode(), PAGE, "", counters))) == 3
    assert counters == {"dropped.srcdoc": 1}


def test_text_that_takes_more_bytes_than_its_page_is_read_to_its_end() -> None:
    html = b"<p>" + b"\x80" * (3 * 2**20) + b"<a href=/end>"  # three bytes each in UTF-8
    made, _, _, counters = extracted(page(html).replace(b"text/html", b"text/html;charset=cp1252"))
    assert (len(made), counters["dropped.html-tail"]) == (1, 0)


MEMORY = """
import resource, sys
from crawlrank.jobs.kernel.links.html_links import html_links
html = eval(sys.argv[1])
resource.setrlimit(resource.RLIMIT_DATA, (100 * 2**20, 100 * 2**20))
print(len(list(html_links(html, "http://h/"))))
"""
IN_FEW_BYTES = {
    "elements": "b'<a href=/x>' + b'<b>' * 2_600_000 + b'<a href=/y>'",
    "opened again": "b'<a href=/x></a>' + b''.join(b'<b a=%d><p>' % n for n in range(990))"
    " + b'<a href=/y>'",
    "attributes": "b'<a href=/x>' + b'<p a b c d e f g h>' * 400_000 + b'<a href=/y>'",
    "pictures": "b'<a href=/x>' + b'<svg>' * 500_000 + b'<a href=/y>'",
}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name",
    [
        *("elements", "opened again", "attributes"),
        pytest.param("pictures", marks=pytest.mark.slow),
    ],
)
def test_memory_is_a_small_multiple_of_the_page(name: str) -> None:
    command = [sys.executable, "-c", MEMORY, IN_FEW_BYTES[name]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
