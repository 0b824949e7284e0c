"""The bytes of an HTML page; its charset, text and title are made where they are asked for.

Character references in the value of an attribute, as the tokenizer of the HTML standard reads
them: one without a semicolon is text where a letter, a digit or `=` follows.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from crawlrank.jobs.kernel.encodings.decoding import REPLACED, Decoder, decoder_of
from crawlrank.jobs.kernel.markup.charsets import (
    as_utf8,
    charset_of,
    decodes_by_parts,
    reads_ascii_as_it_is,
)
from crawlrank.jobs.kernel.markup.html_tokens import RAW

_REFERENCE = re.compile(
    r"&(?:#(?:([0-9]+)|[xX]([0-9A-Fa-f]+));?|([A-Za-z][A-Za-z0-9]*)(;|=|))", re.ASCII
)
_USUAL = {"amp": "&", "lt": "<", "gt": ">", "quot": '"'}
_REPLACEMENT = "\ufffd"
_MOST_DIGITS = 8
_LAST = 0x10FFFF
_LONGEST_OPEN = 6  # letters of a name that needs no semicolon


def unescaped(value: str) -> str:
    """The value with characters in place of references."""
    return _REFERENCE.sub(_character, value)


def _character(match: re.Match[str]) -> str:
    decimal, hexadecimal, name, end = match.groups()
    if name is None:
        digits = (decimal or hexadecimal).lstrip("0")
        if len(digits) > _MOST_DIGITS:
            return _REPLACEMENT
        return _of_code(int(digits or "0", 10 if decimal else 16))
    if end == "=":
        return match[0]
    known = _USUAL.get(name) or _named(name + end)
    return match[0] if known is None else known


def _character_in_text(match: re.Match[str]) -> str:
    """As `_character`, outside of tags: some names need no semicolon, whatever follows them."""
    name, end = match[3], match[4]
    if name is None:
        return _character(match)
    known = _named(name + ";") if end == ";" else None
    if known is not None:
        return known
    for size in range(min(len(name), _LONGEST_OPEN), 1, -1):
        known = _named(name[:size])
        if known is not None:
            return known + name[size:] + end
    return match[0]


def unescaped_text(text: str) -> str:
    """Text outside of tags, with characters in place of references."""
    return _REFERENCE.sub(_character_in_text, text)


def _named(name: str) -> str | None:
    from html.entities import html5  # a table of 2,231 names, which few pages need

    return html5.get(name)


def _of_code(code: int) -> str:
    if 0x80 <= code < 0xA0:  # as windows-1252 has them, but for five that it leaves out
        return bytes((code,)).decode("cp1252", "ignore") or chr(code)
    if code == 0 or code > _LAST or 0xD800 <= code < 0xE000:
        return _REPLACEMENT
    return chr(code)


# In XHTML such an element may be empty; in HTML it would hold the rest of the page.
_XHTML_EMPTY = re.compile(
    rb"<(" + rb"|".join(sorted(RAW | {b"template"})) + rb")(?=[\s/])"
    rb"([^<>\"']*(?:(?:\"[^<\"]*\"|'[^<']*')[^<>\"']*)*)/>",
    re.IGNORECASE,
)


LONGEST_TITLE = 300  # characters
MOST_CONTENTS = 2**14  # bytes of a title element that are read, or characters of its text
_XML_TEXT = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|([^<]+|<)", re.DOTALL)
# Controls that Chromium keeps, and what turns the direction of the text after a title.
_UNSHOWN = re.compile("[\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# What counts as a blank in Chromium, and the ends of lines of Unicode.
_BLANKS = re.compile("[\x00-\x20\x7f\u2028\u2029]+")


def _of_xml(text: str, *, unescape: bool) -> str:
    """The text of an element of XML, in which there may be CDATA sections and comments."""
    parts = (match.groups("") for match in _XML_TEXT.finditer(text))
    if unescape:
        return "".join(cdata + unescaped_text(rest) for cdata, rest in parts)
    return "".join(cdata + rest for cdata, rest in parts)


def shown_title(text: str) -> str:
    """The text of a title element as `document.title` gives it in Chromium, without blanks around
    it, and with one blank for several; ASCII's control characters are blanks. The others are left
    out, and so are those of directions. It has at most LONGEST_TITLE characters: the last is an
    ellipsis if more were there. '' if it says nothing: if nothing is left, or a dash, which stands
    for no title in text datasets."""
    shown = _BLANKS.sub(" ", _UNSHOWN.sub("", text[:MOST_CONTENTS])).strip(" ")
    if len(shown) > LONGEST_TITLE:
        shown = shown[: LONGEST_TITLE - 1].rstrip(" ") + "…"
    return "" if shown == "-" else shown


_MOST_TITLES = 32  # of a tree, of which the first of HTML is looked for
_DEEPEST = 512
_FOREIGN = frozenset({"svg", "math"})
_HTML_IN_FOREIGN = frozenset({
    *("foreignObject", "foreignobject", "desc", "title"),
    *("mi", "mo", "mn", "ms", "mtext", "annotation-xml"),
})  # fmt: skip


def _is_foreign(title: LexborNode) -> bool:
    """Whether a title element is one of SVG or MathML."""
    parent = title.parent
    for _ in range(_DEEPEST):
        if parent is None or parent.tag in _HTML_IN_FOREIGN:
            return False
        if parent.tag in _FOREIGN:
            return True
        parent = parent.parent
    return False


class PageText:
    """body: as it was sent. media_type: the HTTP header, for the charset. markup: the bytes to look
    for tags in; only what is between them may be in another charset."""

    def __init__(self, body: bytes, media_type: str = "") -> None:
        self._body, self._media_type = body, media_type
        self._is_xml = "xml" in media_type[:40].lower()
        self._is_as_sent = reads_ascii_as_it_is(body, media_type)
        self._charset: str | None = None
        self._utf8: bytes | None = None
        self._decoder: Decoder | None = None
        self.markup = self._as_html(body) if self._is_as_sent else self.utf8

    @property
    def charset(self) -> str:
        if self._charset is None:
            self._charset = charset_of(self._body, self._media_type)
        return self._charset

    @property
    def is_unread(self) -> bool:
        """Whether browsers read nothing of the page, because of its charset."""
        return not self._is_as_sent and self.charset == REPLACED

    @property
    def utf8(self) -> bytes:
        """The page in UTF-8, as it is parsed."""
        if self._utf8 is None:
            self._utf8 = self._as_html(as_utf8(self._body, self.charset))
        return self._utf8

    @property
    def is_read_by_parts(self) -> bool:
        """Whether each value in the markup can be decoded alone."""
        body = self._body
        return not self._is_as_sent or body.isascii() or decodes_by_parts(body, self.charset)

    def _as_html(self, page: bytes) -> bytes:
        return _XHTML_EMPTY.sub(rb"<\1\2></\1>", page) if self._is_xml else page

    def value(self, raw: bytes) -> str:
        """The value of an attribute, of its bytes in the markup, as a parser reads it."""
        text = self.text(raw)
        return unescaped(text) if "&" in text else text

    def title(self, raw: bytes) -> str:
        """The title of its contents in the markup; those after MOST_CONTENTS are not read."""
        text = self.text(raw[:MOST_CONTENTS])
        if self._is_xml and "<!" in text:
            return shown_title(_of_xml(text, unescape=True))
        return shown_title(unescaped_text(text) if "&" in text else text)

    def title_in(self, root: LexborNode) -> str | None:
        """The title of the first title element of HTML in a tree, None without one."""
        titles = (node for node in root.css("title")[:_MOST_TITLES] if not _is_foreign(node))
        node = next(titles, None)
        if node is None:
            return None
        text = node.text()[:MOST_CONTENTS]
        if self._is_xml and "<!" in text:
            text = _of_xml(text, unescape=False)  # the parser has done so, in CDATA too
        return shown_title(text)

    def text(self, raw: bytes) -> str:
        """Bytes of the markup as text."""
        if raw.isascii():
            text = raw.decode("ascii")
        else:
            if self._decoder is None:
                self._decoder = decoder_of(self.charset if self._is_as_sent else "utf-8")
            text = self._decoder(raw)
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.replace("\0", "\ufffd") if "\0" in text else text
