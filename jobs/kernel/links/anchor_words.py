"""The words of the links of an HTML page: the text of an `a`, with the `alt` of images in it.

They are read apart from the links, and only where asked for. Pages that a parser may not read as
they are (jobs/kernel/markup/html_pieces.py) are counted as `skipped.anchors`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawlrank.jobs.kernel.keys.idna2003 import as_idna_2003
from crawlrank.jobs.kernel.keys.uris import base_uri
from crawlrank.jobs.kernel.links.html_links import query_codec
from crawlrank.jobs.kernel.links.joining import Base
from crawlrank.jobs.kernel.markup.charsets import as_utf8, charset_of
from crawlrank.jobs.kernel.markup.html_pieces import is_simple

LONGEST = 200  # characters of the words of a link
_NO_WORDS = ("script", "style")
_MOST_NODES = 100  # in a link; text behind them is left out


def anchor_words(
    body: bytes, page: str, content_type: str, counters: Counter[str], *, as_heritrix: bool = False
) -> Iterator[tuple[bytes, str]]:
    """(target, words) of each link that has words, in the order of the page. page: its URI.
    as_heritrix: see HtmlOptions.

    Words are separated by one blank, at most LONGEST characters.
    """
    charset = charset_of(body, content_type)
    text = as_utf8(body, charset)
    root = LexborHTMLParser(text).root if is_simple(text) else None
    if root is None:
        counters["skipped.anchors"] += 1
        return
    bases = (node.attributes.get("href") for node in root.css("base"))
    stated = next((href for href in bases if href is not None), "")
    codec = query_codec(charset, as_heritrix=as_heritrix)
    base = Base(base_uri(stated, page) if stated else page, codec)
    for node in root.css("a[href]"):
        if words := _words(node):
            reference = node.attributes["href"] or ""
            reference = as_idna_2003(reference) if as_heritrix else reference
            for target in base.targets([reference], Counter(), {}):
                yield target, words


def _words(node: LexborNode) -> str:
    words, size = list[str](), 0
    for number, inner in enumerate(node.traverse(include_text=True)):
        if number >= _MOST_NODES or size > LONGEST:
            break
        if inner.tag == "-text" and (inner.parent is None or inner.parent.tag not in _NO_WORDS):
            new = (inner.text() or "").split()
        else:
            new = (inner.attributes.get("alt") or "").split() if inner.tag == "img" else []
        words += new
        size += sum(map(len, new)) + len(new)
    shown = "".join(c if c.isprintable() else " " for c in " ".join(words))
    return " ".join(shown.split())[:LONGEST].strip()
