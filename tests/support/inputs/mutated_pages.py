"""Mutated pages of real crawls, each made from a seed and a number alone."""

from __future__ import annotations

import contextlib
import random
from functools import cache
from pathlib import Path
from typing import NamedTuple

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.links.documents import document
from support.paths import REFERENCE, SAMPLES

_ELEMENTS = (
    *("a", "p", "table", "tr", "td", "svg", "title", "style", "script", "textarea", "select"),
    *("option", "button", "form", "template", "frameset", "noframes", "noscript", "iframe", "xmp"),
    *("plaintext", "math", "image", "head", "body", "html", "div", "base", "caption", "nobr"),
    *("path", "desc", "foreignObject", "g", "frame", "meta", "link", "font"),
)
_MARKUP = rb"""< > </ /> " ' = & ; <!-- --> --!> <!--> <!---> <![CDATA[ ]]> <? <! </> <!-- <script>
    &amp &lt;x &eacute; &#x80; &#0; &notit; &copy=1 &#98; <a/href=x0> <a/href="x1"/rel=nofollow>
    <a/href='x2'/href=x3> <base/href=/b/> <base/href=//q.r/> <a/xlink:href=x4>
    <meta/http-equiv=refresh/content='0;url=x5'> <svg><a/xlink:href=x6></a></svg>
    <svg><path/><title> <image/src=x7> <img/srcset='x8,x9'> <td/background=x10>
    <body/background=x11> <table/background=x12> <p/style='a:url(x13)'> <style>@import'x14';
    <iframe/srcdoc='<a/href=x15>'> <form/action=x16><form/action=x17> <svg><use/href=x18>
    <svg><image/xlink:href=x19> <link/rel=canonical/href=x20> <input/type=image/src=x21>
    <script/src=x22> <svg><style>a{b:url(x23)}</style></svg> <frame/src=x24>
    <frameset><frame/src=x25></frameset> <option/style=a:url(x26)> <link/rel=icon/href=x27>"""
_BYTES = (
    b" ",
    b"\n",
    b"\r",
    b"\0",
    b"\x81",
    b"\xe9",
    b"\xc3\xa9",
    b"\xe3\x81",
    b"\x1b$B",
    b"\x1b(B",
)
TOKENS = (
    *_MARKUP.split(), *_BYTES,
    *[f"<{name}>".encode() for name in _ELEMENTS],
    *[f"</{name}>".encode() for name in _ELEMENTS],
)  # fmt: skip
_CHARSETS = (
    "utf-8",
    "gb18030",
    "shift_jis",
    "iso-8859-1",
    "utf-16",
    "iso-2022-jp",
    "big5",
    "euc-jp",
)
_TYPES = ("text/html", "application/xhtml+xml", *[f"text/html; charset={c}" for c in _CHARSETS])
_LONG, _MOST_PAGES = 6000, 2000


class Page(NamedTuple):
    body: bytes
    uri: str
    media_type: str


@cache
def pages(*, reference: bool) -> list[Page]:
    """Pages of the samples or, with reference, of the reference archives."""
    folder = REFERENCE / "archives" if reference else SAMPLES
    archives = sorted(path for path in folder.rglob("*arc.gz") if "damaged" not in path.parts)
    return [page for archive in archives for page in _pages(archive)]


def _pages(archive: Path) -> list[Page]:
    kept: list[Page] = []
    with archive.open("rb") as stream, contextlib.suppress(BadInput):  # of some that are no archive
        for record in read_records(stream, archive.name):
            if not isinstance(record, Record) or record.kind != "response":
                continue
            if document(record.media_type, record.body, record.uri) == "html":
                kept.append(Page(record.body, record.uri, record.media_type))
            if len(kept) == _MOST_PAGES:
                break
    return kept


def mutated_page(seed: int, number: int, *, reference: bool = False) -> Page:
    rng = random.Random(f"{seed}:{number}")
    body, uri, media_type = rng.choice(pages(reference=reference))
    if len(body) > _LONG:
        begin = rng.randrange(len(body) - _LONG // 2)
        body = body[: rng.choice((0, 600))] + body[begin : begin + rng.randrange(200, _LONG // 2)]
    made = bytearray(body)
    for _ in range(rng.choice((0, 1, 2, 3, 5, 8, 15))):
        _mutate(made, rng)
    return Page(bytes(made), uri, rng.choice((media_type, media_type, *_TYPES)))


def _mutate(page: bytearray, rng: random.Random) -> None:
    position, kind = rng.randrange(len(page) + 1), rng.random()
    if rng.random() < 1 / 2:  # at a tag, or after its `<`
        position = max(0, page.find(b"<", position)) + rng.choice((0, 0, 0, 1))
    if kind < 0.6:
        page[position:position] = rng.choice(TOKENS).replace(b"/", rng.choice((b" ", b"/")), 1)
    elif kind < 0.8:
        del page[position : position + rng.choice((1, 1, 2, 5, 20))]
    elif kind < 0.9:
        page[position : position + 1] = rng.randbytes(1)
    else:
        other = rng.randrange(len(page) + 1)
        page[position:position] = page[other : other + rng.randrange(60)]
