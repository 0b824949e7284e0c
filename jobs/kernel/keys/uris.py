"""URIs of pages and links: absolute, http or https, no fragment, in one line of printable text.

A function here returns the URI as bytes, or as a str the reason why there is none; reasons are
stable and closed: `invalid`, `too-long` and `scheme.data`, `.javascript`, `.mailto`, `.other`.
"""

from __future__ import annotations

import re
from urllib.parse import quote_from_bytes

import ada_url

LONGEST = 2**13  # bytes of a URI
_LONGEST_RAW = 2**16  # characters of a reference before it is resolved

# Every character of the categories Cc, Cf, Zs, Zl, Zp and Cs, and noncharacters that break tools.
# Written out, not asked of unicodedata: its tables differ between versions of Python, and every
# version must write the same bytes.
_BREAKING = re.compile(
    "[\\x00-\\x20\\x7f-\\xa0\\xad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u1680\\u180e"
    "\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ud800-\\udfff\\ufeff\\ufff0-\\uffff"
    "\\U000110bd\\U000110cd\\U00013430-\\U0001345f\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a"
    "\\U000e0000-\\U000e0fff]"
)
_SCHEME = re.compile(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.\-]*):")
_HTTP_URI = re.compile(r"https?://[^/?#\\]", re.IGNORECASE)
_CLASSES = {"data": "scheme.data", "javascript": "scheme.javascript", "mailto": "scheme.mailto"}
_OTHER = "scheme.other"
_TRAILS = "@[\\]^_`{|}~"  # second bytes in Shift_JIS, GBK and Big5, which no query escapes
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


_ABOVE_ASCII = re.compile(rb"[\x80-\xff]")


def as_text(raw: bytes) -> str:
    """The bytes of a URI as text: UTF-8 as it is. Where they are none, every byte above ASCII is
    escaped: a server knows the page by these bytes, and no text stands for them."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return percent_encoded(raw).decode()


def percent_encoded(raw: bytes) -> bytes:
    """The same bytes with `%XX` for each above ASCII."""
    return _ABOVE_ASCII.sub(lambda match: b"%%%02X" % match[0][0], raw)


def escape(text: str) -> str:
    """The text with every character that could end a line or a field, or steer a terminal,
    percent-encoded as UTF-8 (a lone surrogate as U+FFFD, as WHATWG says)."""
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    return _BREAKING.sub(_encoded, text)


def _encoded(match: re.Match[str]) -> str:
    character = match[0]
    if 0xD800 <= ord(character) <= 0xDFFF:
        character = "\ufffd"
    return "".join(f"%{byte:02X}" for byte in character.encode())


def as_crawled(uri: str) -> bytes | str:
    """The URI of a capture or an outlink: as it is, but escaped and without fragment."""
    if not _HTTP_URI.match(uri):
        scheme = _SCHEME.match(uri)
        if scheme and scheme[1].lower() not in ("http", "https"):
            return _CLASSES.get(scheme[1].lower(), _OTHER)
        return "invalid"
    return _bounded(escape(uri.partition("#")[0]))


def _bounded(uri: str) -> bytes | str:
    data = uri.encode()
    return data if len(data) <= LONGEST else "too-long"


def resolve(reference: str, base: str, charset: str = "utf-8") -> bytes | str:
    """The target of a reference on a page, resolved against base as the WHATWG standard says.

    charset: a Python codec; a query is encoded in that of its page. Without a base that can be
    parsed, absolute references still resolve.
    """
    scheme = _SCHEME.match(reference)
    if scheme and scheme[1].lower() not in ("http", "https"):
        return _CLASSES.get(scheme[1].lower(), _OTHER)
    if len(reference) > _LONGEST_RAW:
        return "too-long"
    if charset != "utf-8" and "?" in reference and not reference.isascii():
        reference = _query_encoded(reference, charset)
    try:
        uri = ada_url.join_url(base, reference)
    except ValueError:
        try:  # the base may be what is wrong
            uri = ada_url.URL(reference).href
        except ValueError:
            return "invalid"
    return _http(uri)


def base_uri(reference: str, page: str) -> str:
    """What references on a page are resolved against that states this base: nearly any URI, of
    other schemes too. The page itself if it states what is none, `data:` or `javascript:`, as the
    HTML standard says. Against one that is too long, '', only absolute references resolve."""
    if len(reference) > _LONGEST_RAW:
        return ""
    try:
        uri = ada_url.join_url(page, reference)
    except ValueError:
        return page
    return page if uri.startswith(("data:", "javascript:")) else uri


def parsed(uri: str) -> bytes | str:
    """An absolute URI as the WHATWG standard writes it."""
    try:
        return _http(ada_url.URL(uri).href)
    except ValueError:
        return "invalid"


def _http(uri: str) -> bytes | str:
    uri = uri.partition("#")[0]
    if not uri.startswith(("http://", "https://")):
        return _class_of(uri)
    return _bounded(escape(uri))


def _class_of(uri: str) -> str:
    return _CLASSES.get(uri.partition(":")[0], _OTHER)


def _query_encoded(reference: str, charset: str) -> str:
    """The reference with what is not ASCII in its query percent-encoded in that charset."""
    path, _, query = reference.partition("?")
    query, mark, fragment = query.partition("#")
    query = _NOT_ASCII.sub(
        lambda match: quote_from_bytes(match[0].encode(charset, "xmlcharrefreplace"), _TRAILS),
        query,
    )
    return f"{path}?{query}{mark}{fragment}"


def field(text: str, longest: int = 256) -> bytes:
    """A field of a line that is no URI: escaped and cut, `-` if there is nothing."""
    return escape(text.strip())[:longest].encode() or b"-"
