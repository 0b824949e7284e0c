"""Extraction: the links that Heritrix lists, beside and in place of those of pages."""

from __future__ import annotations

import pytest
from support.inputs.archive_samples import (
    ID,
    extracted,
    metadata,
    plain,
    response,
    targets,
)

A = [("http://h/a", "L")]
LINE = [("http://h/line", "L")]


@pytest.mark.parametrize("outlinks", ["auto", "html", "metadata", "both"])
def test_a_redirect_gives_its_location(outlinks: str) -> None:
    data = response(302, b"<a href=a>", "Location: ../b?c#d\r\n", extra=ID.format(1)) + metadata(1)
    assert targets(data, outlinks=outlinks) == [("http://h/b?c", "R")]
    assert targets(response(302, b"", "Location: mailto:x\r\n")) == []


HTML_AND_LINES = response(200, b"<a href=a>", extra=ID.format(1)), metadata(1)
OUTLINKS = {"auto": A, "html": A, "metadata": LINE, "both": A + LINE}


@pytest.mark.parametrize("outlinks", OUTLINKS)
@pytest.mark.parametrize("order", [1, -1])
def test_html_and_outlinks_in_either_order(outlinks: str, order: int) -> None:
    data = plain(HTML_AND_LINES[::order])
    assert targets(data, outlinks=outlinks) == OUTLINKS[outlinks]


def test_metadata_of_another_id_is_matched_by_uri_and_time() -> None:
    data = metadata(99) + HTML_AND_LINES[0]
    assert targets(data) == A
    later = HTML_AND_LINES[0].replace(b"2024", b"2025")
    assert targets(metadata(99) + later) == A + LINE


@pytest.mark.parametrize("order", [1, -1])
def test_outlinks_are_of_the_time_of_their_capture(order: int) -> None:
    """Some writers date metadata later. Those of another page keep their time."""
    page, lines = HTML_AND_LINES
    dated = page.replace(b"2024", b"2023"), lines
    links, *_ = extracted(plain(dated[::order]), outlinks="both", timestamps=True)
    assert {link.timestamp[:4] for link in links} == {b"2023"} and len(links) == len(A + LINE)
    elsewhere = dated[0], metadata(1, "http://h/another")
    links, *_ = extracted(plain(elsewhere[::order]), outlinks="both", timestamps=True)
    assert {link.timestamp[:4] for link in links} == {b"2023", b"2024"}


def test_outlinks_where_there_is_no_html() -> None:
    revisit = response(200, kind="revisit", extra=ID.format(1))
    text = HTML_AND_LINES[0].replace(b"text/html", b"text/css ")
    for capture in (revisit, text):
        assert targets(capture + metadata(1)) == LINE
        assert targets(metadata(1) + capture) == LINE
        assert targets(capture + metadata(1), outlinks="html") == []
    assert targets(metadata(7)) == LINE
    missing = response(404, b"<a href=a>", extra=ID.format(1))
    assert targets(missing + metadata(1)) == targets(metadata(1) + missing) == []


@pytest.mark.parametrize("first", [0, 1])
def test_links_that_are_left_out_hide_no_others(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those in the header of a feed that makes the parser fail, and what Heritrix lists."""

    def failing(*_: object, **__: object) -> None:
        raise KeyError("a feed that nobody thought of")

    header, body = "Link: <line>; rel=next\r\n", b'{"version": "https://jsonfeed.org/version/1"}'
    feed = response(200, body, header, extra=ID.format(1)).replace(b"text/html", b"text/json")
    listed = metadata(1, body=b"outlink: http://h/line X link/@href\r\n")
    data = plain((feed, listed)[:: -1 if first else 1])
    assert targets(data, links="all") == [("http://h/line", "X")]
    monkeypatch.setattr("json.loads", failing)
    assert targets(data, links="all") == [("http://h/line", "X")]
    counters = extracted(data, links="all")[3]
    assert (counters["damage.failed"], counters["dropped.duplicate"]) == (1, 0)


def test_metadata_waits_for_its_capture_with_bounds() -> None:
    waiting = [metadata(n, f"http://h/{n}") for n in range(1500)]
    links, _, _, counters = extracted(plain([*waiting, HTML_AND_LINES[0]]))
    assert len(links) == 1500 + 1
    assert counters["dropped.hop.I"] == 1500


def test_both_gives_a_link_once() -> None:
    same = metadata(1, body=b"outlink: http://h/a L a/@href\noutlink: http://h/a E img/@src\n")
    data = HTML_AND_LINES[0] + same
    assert targets(data, outlinks="both") == A
    assert targets(data, outlinks="both", links="all") == [*A, ("http://h/a", "E")]
