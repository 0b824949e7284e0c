"""Pages in any encoding: read by parts as they are read whole, and as the standard reads them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import examples
from support.encoding.decoders import decode
from support.encoding.indexes import ENCODINGS, LABELS

from crawlrank.jobs.kernel.links.body_links import body_links
from crawlrank.jobs.kernel.links.html_links import html_links
from crawlrank.jobs.kernel.markup.charsets import as_utf8, decodes_by_parts, reads_ascii_as_it_is
from crawlrank.jobs.kernel.markup.page_text import PageText

MARKS = tuple(bytes((byte,)) for byte in b"<>\"'= \n/")
LEADS = bytes(range(0x80, 0x100)) + b"0189AZaz~\\@\x0e\x0f\x1b"
PARTS = st.lists(st.lists(st.sampled_from(LEADS), max_size=5).map(bytes), max_size=6)
UNLIKE_ASCII = ("iso-2022-jp", "replacement", "utf-16be", "utf-16le")


def page(parts: list[bytes], marks: list[bytes]) -> bytes:
    return b"".join(part + mark for part, mark in zip(parts, marks, strict=False))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(data=st.data())
@pytest.mark.few(6)
def test_parts_are_read_as_in_the_whole_page(encoding: str, data: st.DataObject) -> None:
    for _ in range(examples(4)):
        parts = data.draw(PARTS)
        marks = data.draw(st.lists(st.sampled_from(MARKS), min_size=6, max_size=6))
        body, header = page(parts, marks), f"text/html; charset={encoding}"
        whole = decode(encoding, body)
        assert as_utf8(body, encoding).decode() == whole
        if not reads_ascii_as_it_is(body, header):
            assert encoding in UNLIKE_ASCII
        elif decodes_by_parts(body, encoding):
            text = PageText(body, header)
            shown = "".join(
                text.text(part) + mark.decode() for part, mark in zip(parts, marks, strict=False)
            )
            assert shown == whole.replace("\0", "\ufffd")


@pytest.mark.parametrize("label", [label for label in LABELS if LABELS[label] in UNLIKE_ASCII])
@pytest.mark.parametrize(
    "declaration",
    [
        "<meta charset={}>", "<!doctype html><META Charset = ' {} '>", "<?xml encoding='{}'?>",
        "<meta http-equiv=content-type content='text/html; charset={}'>", "header",
    ],
)  # fmt: skip
def test_a_page_unlike_ascii_is_not_read_as_ascii(label: str, declaration: str) -> None:
    in_header = declaration == "header"
    body = b"<p>" if in_header else declaration.format(label.upper()).encode()
    header = f"text/html; charset={label}" if in_header else "text/html"
    # A declaration that can be read is not in UTF-16.
    expected = not in_header and LABELS[label].startswith("utf-16")
    assert reads_ascii_as_it_is(body, header) == expected


@pytest.mark.parametrize(
    "words", ["replacement", "charset", "hz-gb-2312 iso-2022-jp", "<!-- charset=iso-2022-kr -->"]
)
def test_words_of_a_page_are_no_declaration(words: str) -> None:
    assert reads_ascii_as_it_is(f"<meta charset=gbk><p>{words}".encode(), "")


LINKS = [
    ("gbk", b"<a href='/l?q=\xa9\x81\x80'>", ["/l?q=%A9%81%80"]),
    ("gbk", b"<a href='/l?q=&copy;'>", ["/l?q=%26%23169%3B"]),
    ("gb18030", b"<a href='/l?q=&copy;'>", ["/l?q=%810%848"]),
    ("big5", b"<a href='/l?q=&uuml;'>", ["/l?q=%26%23252%3B"]),
    ("koi8-u", b"<a href='/\xae?q=&#1118;'>", ["/%D1%9E?q=%AE"]),
    ("koi8-u", b"<a href='/?a=\xae\n b&amp;&eacute; '>", ["/?a=%AE%20b&%26%23233%3B"]),
    ("euc-jp", b"<a href='/\xa1\xc1\xa1\xdd'>", ["/%EF%BD%9E%EF%BC%8D"]),
    ("shift_jis", b"<a href=\x81><a href='/\x81'>", ["/%EF%BF%BD"] * 2),
    ("shift_jis", b"<a href='/?\x83\\\x81|&yen;'>", ["/?%83\\%81|\\"]),
    ("windows-1252", b"<a href='/?\x81\x8d&#1118;'>", ["/?%81%8D%26%231118%3B"]),
    ("iso-2022-jp", b"<a href='/?\x1b$B$\"\x1b(Ba#'>", ["/?%1B$B$%22%1B(Ba"]),
    ("iso-2022-jp", b"<a href='/?\x1b(B\x1b(Ba'>", ["/?%26%2365533%3Ba"]),
    ("iso-2022-kr", b"<a href='/l'>", []),
    ("x-user-defined", b"<a href='/\x80?\xff&eacute;'>", ["/%EF%9E%80?%FF%26%23233%3B"]),
    ("utf-16le", "<a href='/?é'>".encode("utf-16-le"), ["/?%C3%A9"]),
]  # fmt: skip


@pytest.mark.parametrize(("label", "body", "paths"), LINKS)
def test_links_of_a_page(label: str, body: bytes, paths: list[str]) -> None:
    found = html_links(body, "http://h.example/", f"text/html; charset={label}")
    assert [target.decode() for target, *_ in found] == [f"http://h.example{p}" for p in paths]


BODIES = {
    "html": b"<a href='/l'>",
    "css": b"a{background:url(/l)}",
    "feed": b"<rss><channel><link>/l</link></channel></rss>",
    "sitemap": b"http://h.example/l",
}


@pytest.mark.parametrize("document", BODIES)
@pytest.mark.parametrize("label", ["hz-gb-2312", "gbk"])
def test_documents_that_no_browser_reads_are_counted(document: str, label: str) -> None:
    counters: Counter[str] = Counter()
    header = f"text/plain; charset={label}"
    groups = body_links(document, BODIES[document], "http://h.example/", header, counters)
    assert bool([*groups]) == (label == "gbk")
    assert counters["dropped.encoding"] == (label != "gbk")
