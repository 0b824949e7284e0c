"""A scan gives what lexbor's tree gives, or leaves the page to it."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser
from support.drawing import examples
from support.growth import assert_linear
from support.inputs.mutated_pages import Page, mutated_page, pages
from support.paths import DATA
from support.scanning import OPTIONS, both_ways, counted, links_of

from crawlrank.jobs.kernel.links.html_documents import HtmlOptions
from crawlrank.jobs.kernel.markup.page_text import PageText, unescaped
from crawlrank.jobs.kernel.markup.scanner import ScannedTag, Scanner

URI, UTF8 = "http://h/d/p", "text/html; charset=utf-8"
CASES = sorted((DATA / "html5lib").glob("*.test.gz"))
STATES = {
    "Data state": "",
    "RCDATA state": "title",
    "RAWTEXT state": "style",
    "Script data state": "script",
    "PLAINTEXT state": "plaintext",
    "CDATA section state": "svg",
}


def decoded(case: dict[str, Any]) -> str:
    text: str = case["input"]
    return json.loads(f'"{text}"') if case.get("doubleEscaped") else text


def cases() -> Iterator[dict[str, Any]]:
    for path in CASES:
        yield from json.loads(gzip.decompress(path.read_bytes())).get("tests", [])


def in_pages(case: dict[str, Any]) -> Iterator[str]:
    """Pages in which the input of a case could make or hide links."""
    text = decoded(case)
    for state in case.get("initialStates", ["Data state"]):
        element = STATES[state]
        element = case.get("lastStartTag", element) if element else ""
        yield f"<{element}>{text}" if element else text
        yield f"<a href=before>{f'<{element}>' * bool(element)}{text}<a href=behind>x</a>"
        yield f"<{element or 'p'}>{text}</{element or 'p'}><a href=behind>x</a>--><a href=last>"
    yield f'<a href="{text}">x</a>'
    yield f"<a href='{text}' rel=x>x</a><img src='{text}'>"
    yield f"<a href={text}>x</a>"
    yield f"<a {text} href=x>x</a><a{text} href=y>"


@pytest.mark.slow
def test_the_cases_of_html5lib_make_the_links_of_lexbor() -> None:
    decided = total = 0
    every = [*cases()]
    for case in random.Random(1).sample(every, examples(len(every))):
        for html in in_pages(case):
            page = Page(html.encode("utf-8", "replace"), URI, UTF8)
            parsed, scanned = both_ways(page, OPTIONS[total % 2])
            total += 1
            if scanned is not None:
                decided += 1
                assert scanned == parsed, html
    assert total > examples(40_000)
    assert decided > 0.97 * total


def test_the_cases_of_html5lib_have_these_attributes() -> None:
    """By what html5lib expects, and no parser."""
    compared = 0
    for case in cases():
        tags = [token for token in case["output"] if token[0] == "StartTag"]
        names = {name for token in tags for name in token[2]}
        if case.get("doubleEscaped") or case.get("initialStates", ["Data state"]) != ["Data state"]:
            continue
        if not names or any(len(name) > 16 or not name.isascii() for name in names):
            continue
        page = PageText(decoded(case).encode("utf-8", "surrogatepass"), UTF8)
        scanned = Scanner({token[1] for token in tags}, names).scanned(page.markup) or []
        got = [
            (one.element, {name: page.value(raw) for name, raw in one.attributes.items()})
            if isinstance(one, ScannedTag)
            else ("a", {"href": page.value(one)})
            for one in scanned
        ]
        assert got == [(token[1], token[2]) for token in tags if token[2]], case
        compared += 1
    assert compared > 300


def test_mutated_pages_give_the_links_of_lexbor() -> None:
    total, left = examples(4000), 0
    for number in range(total):
        page = mutated_page(1, number)
        parsed, scanned = both_ways(page, random.Random(number).choice(OPTIONS))
        left += scanned is None
        assert scanned in (None, parsed), (number, page)
    assert 0 < left < 0.2 * total


@pytest.mark.few(1)
@pytest.mark.parametrize("options", OPTIONS)
def test_few_real_pages_are_left_to_the_parser(options: HtmlOptions) -> None:
    pages_before, parsed_before = counted()
    for page in pages(reference=False):
        links_of(page, options)
    count, parsed = counted()
    assert count - pages_before > 300
    assert parsed - parsed_before < 0.02 * (count - pages_before)


@pytest.mark.parametrize(
    "html",
    [
        "<template><a href=x></template>",
        "<select><option><a href=x></select>",
        "<svg><title><a href=x></svg>",
        "<svg><p><a href=x></svg>",
        "<svg><![CDATA[<a href=x>]]></svg>",
        "<svg><g></svg>",
        "<math><a href=x></math>",
        "<frameset><frame src=x></frameset>",
        "<base href=x><base href=y>",
    ],
)
def test_what_needs_a_tree_is_left_to_the_parser(html: str) -> None:
    assert both_ways(Page(html.encode(), URI, UTF8))[1] is None


@pytest.mark.parametrize(
    ("html", "targets"),
    [
        (b"<svg><g><a href=x><path/></a></g><use href=y /></svg><a href=z>", {b"x", b"y", b"z"}),
        (b"<select><option>x</option></select><a href=x>", {b"x"}),
        (b"<table><tr><td background=x></table><td background=y>", {b"x"}),
        (b"<form action=x><form action=y></form><form action=z>", {b"x", b"z"}),
        (b"<p style='background:url(x)'><style>@import 'y'</style>", {b"x", b"y"}),
        (b"<script><!--<script></script><a href=x></script>--></script><a href=y>", {b"y"}),
        (b"<a href='x&amp;y&lt=1&eacute'>", {b"x&y&lt=1%C3%A9"}),
        (b"<a href=x", set()),
    ],
)
def test_what_a_scan_decides(html: bytes, targets: set[bytes]) -> None:
    parsed, scanned = both_ways(Page(html, URI, UTF8), HtmlOptions(forms=True))
    assert scanned == parsed == ({*_kinds(scanned, targets)}, set())


def _kinds(scanned: Any, targets: set[bytes]) -> Iterator[tuple[bytes, str, str, bool]]:
    kinds = {link[0]: link for link in scanned[0]}
    for target in targets:
        yield kinds[b"http://h/d/" + target]


@pytest.mark.parametrize("charset", ["cp932", "gb18030", "big5", "euc-jp", "euc-kr", "koi8-r"])
def test_a_cut_character_takes_no_markup_with_it(charset: str) -> None:
    """So that pages can be scanned before they are decoded."""
    for lead in range(0x80, 0x100):
        for second in (b"", b"\x30", b"\x81", b"\xa1", b"\xfe"):
            for mark in b"<>\"'=/ &!-?":
                text = (bytes([lead]) + second + bytes([mark]) + b"x").decode(charset, "replace")
                assert text.endswith(f"{mark:c}x"), (lead, second, mark)


HOSTILE = {
    "less": b"<",
    "tag": b"<a ",
    "quote": b"<a href='",
    "attributes": b"<a" + b" a" * 100,
    "attribute": b"a=",
    "comment": b"<!--",
    "dashes": b"<!-- --",
    "script": b"<script><!--<script",
    "raw": b"<title></titl",
    "svg": b"<svg>",
    "select": b"<select><option>",
    "plaintext": b"<plaintext><a href=x>",
    "nul": b"\0<a\0href=x>",
    "utf-16": "<a href=x>".encode("utf-16-le"),
    "references": b"<a href=&amp;&#1;>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_linear_time(name: str) -> None:
    def read(size: int) -> None:
        body = b"<a href=first>" + HOSTILE[name] * (size // len(HOSTILE[name]))
        scanned = Scanner(["a", "base"], ["href", "rel", "style"]).scanned(body)
        assert scanned is None or next(iter(scanned[0])) == b"first"

    assert_linear(read, 2**22)


def test_character_references_in_values_are_those_of_lexbor() -> None:
    rng = random.Random(5)
    names = ("amp", "amp;", "lt", "notin;", "notit;", "eacute", "copy", "frac12;", "zz;", "Aacute;")
    codes = (
        "0",
        "1",
        "13",
        "x80",
        "x9f",
        "xD800",
        "x10FFFF",
        "x110000",
        "9" * 30,
        "",
        "x",
        "xfdd0",
    )
    made = [*names, *[f"#{code}{end}" for code in codes for end in ("", ";")], "", "#", "="]
    for _ in range(examples(3000)):
        value = "".join(f"&{rng.choice(made)}{rng.choice(('', 'a', '=', ' ', '1'))}" for _ in "123")
        node = LexborHTMLParser(f'<a href="{value}">').css_first("a")
        assert node is not None
        assert unescaped(value) == node.attributes["href"], value
