"""The bytes of an HTML page; its charset and its text are made where they are asked for.

Character references in the value of an attribute, as the tokenizer of the HTML standard reads
them: one without a semicolon is text where a letter, a digit or `=` follows.
"""

from __future__ import annotations

import re

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
