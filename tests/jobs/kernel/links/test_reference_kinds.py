"""Kinds of references: links of a body at one address, joined to another, are those that extraction
finds in the same body there."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples

from crawlrank.jobs.kernel.formats.lines import parse_link
from crawlrank.jobs.kernel.formats.rows import Link
from crawlrank.jobs.kernel.links.body_links import body_links
from crawlrank.jobs.kernel.links.html_documents import HtmlOptions
from crawlrank.jobs.kernel.links.html_links import PageLinks
from crawlrank.jobs.kernel.links.reference_kinds import links_at

PAGES = st.sampled_from(
    [
        "http://a.example/", "http://a.example/d/p", "https://a.example/d/e/f/p?q=1",
        "http://b.example:8080/x/", "https://c.example/%7Ed/p;a/b.html?x/y", "http://d.example//e//f",
        "http://e.example/1/2/3/4/5/6/7/8/9/p",
    ]
)  # fmt: skip
REFERENCES = st.one_of(
    st.sampled_from(
        [
            "", "#top", "?", "?q", "a", "a/b?c", "./", "../", "..", "../../x", "/", "/y/z?q",
            "//h.example", "//h.example/x", "\\\\h.example\\x", "/\\k.example/", " \n a ", "a\tb",
            "http://a.example/d/a", "HTTP://A.example/y", "https://a.example/y/z?q", "http:/e",
            "b:c", "./b:c", "/a:b", "a//b", "//a.example//e", "/.//e", ".//e", "%2e%2e/x", "ü?ü",
            "mailto:x@h", "javascript:a()", "http://[/",
        ]
    ),
    st.text("/.?#:\\a%2eü ", max_size=8),
)  # fmt: skip
BASES = st.sampled_from(
    ["", "", "sub/", "../", "/r/", "//k.example/r/", "http://k.example/r/", "?b"]
)


def found(document: str, body: bytes, page: str, *, kinds: bool) -> tuple[list[Link], Counter[str]]:
    counters = Counter[str]()
    links = PageLinks(nav=False, drop=False, most=1000, counters=counters, timestamps=kinds)
    links.begin(page.encode(), "20240101000000")
    groups = body_links(document, body, page, "", counters, options=HtmlOptions(kinds=kinds))
    runs = links.add(page.encode(), groups, document)
    return [link for run in runs for link in run.links()], counters


def joined(links: list[Link], page: str) -> set[tuple[bytes, bytes]]:
    there = [links_at(page.encode(), link, link.reference, Counter()) for link in links]
    return {(link.target, link.hop) for some in there for link in some}


def html(references: list[str], base: str) -> bytes:
    head = f'<base href="{base}">' if base else ""
    anchors = [f'<a href="{reference}">x</a><img src="{reference}">' for reference in references]
    return f"<meta charset=utf-8>{head}{''.join(anchors)}".encode()


def css(references: list[str], _: str) -> bytes:
    return "".join(f'a {{background: url("{reference}")}}' for reference in references).encode()


def feed(references: list[str], base: str) -> bytes:
    links = "".join(f'<link href="{reference}"/>' for reference in references)
    return f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="{base}">{links}</feed>'.encode()


@pytest.mark.parametrize("write", [html, css, feed])
@settings(max_examples=examples(100), deadline=None)
@given(st.lists(REFERENCES, max_size=6), BASES, PAGES, PAGES)
def test_links_of_another_page_are_those_of_the_same_body_there(
    write, references: list[str], base: str, page: str, other: str
) -> None:
    references = [one.replace('"', "") for one in references if not one.startswith("http:/e")]
    body = write(references, base)
    links, counters = found(write.__name__, body, page, kinds=True)
    plain, plain_counters = found(write.__name__, body, page, kinds=False)
    assert [link[:3] for link in links] == [link[:3] for link in plain]
    assert counters == plain_counters
    expected, _ = found(write.__name__, body, other, kinds=False)
    missing = {(link.target, link.hop) for link in expected} ^ joined(links, other)
    assert not missing


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("http://h.example/a", "-"), ("//h.example/a", "//"), ("/a", "/"), ("a", "0.1"),
        ("../../a/b", "2.2"), ("?q", "?"), ("#a", "#"), ("", "#"), ("./", "0.1"), ("..", "1.1"),
    ],
)  # fmt: skip
def test_a_reference_has_its_kind(reference: str, kind: str) -> None:
    links, _ = found("html", html([reference], ""), "http://p.example/c/d/e", kinds=True)
    assert links[0].reference == kind.encode()


@pytest.mark.parametrize("schemes", [("https", "http"), ("http", "https")])
def test_a_scheme_of_its_own_takes_nothing_of_the_page(schemes: tuple[str, str]) -> None:
    """`http:host` on a page of https is a host, not a path."""
    page, other = schemes
    links, _ = found(
        "html", html([f"{other}:www.c.example"], ""), f"{page}://p.example/c", kinds=True
    )
    assert links[0][:1] == (f"{other}://www.c.example/".encode(),)
    assert links[0].reference == b"-"


def test_a_target_that_is_referred_to_in_two_ways_has_two_kinds() -> None:
    links, _ = found("html", html(["a", "/d/a", "a"], ""), "http://a.example/d/p", kinds=True)
    assert [link.reference for link in links] == [b"0.1,/", b"0.1,/"]
    there = {(b"http://b.example/x/a", b"L"), (b"http://b.example/d/a", b"L")}
    assert joined(links[:1], "http://b.example/x/p") == there


def test_a_reference_without_a_target_at_another_page_is_counted() -> None:
    link = parse_link(b"http://h/a http://h/ L 20240101000000 0.1")
    counters = Counter[str]()
    assert [*links_at(b"http://h/" + b"d" * 8190 + b"/", link, link.reference, counters)] == []
    assert counters == {"links.unresolved": 1}


@pytest.mark.parametrize("kind", ["//", "/", "0.1", "3.2"])
@pytest.mark.parametrize("target", ["b", "", "//", "mailto:x@h", "http:", "http://h", "http:/a"])
def test_a_target_that_no_reference_of_its_kind_has_is_counted(target: str, kind: str) -> None:
    """Extraction writes no such line; a file made by hand may have it."""
    counters = Counter[str]()
    link = Link(target.encode(), b"http://h/", b"L", b"20240101000000", kind.encode())
    assert [*links_at(b"http://i/", link, link.reference, counters)] == []
    assert counters == {"links.unresolved": 1}
