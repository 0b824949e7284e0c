"""URIs of pages and links: absolute, http or https, no fragment, in one line of printable text.

The functions here return the URI as bytes, or as a str the reason why there is none. These are all
reasons: `invalid`, `too-long` and `scheme.data`, `.javascript`, `.mailto`, `.other`.
"""

from __future__ import annotations

import re
from urllib.parse import quote_from_bytes, unquote

import ada_url

from crawlrank.jobs.kernel.encodings.encoding import encoded

HTTP_PREFIXES = ("http://", "https://")
LONGEST = 2**13  # bytes of a URI
LONGEST_HOST = 2**8 + 5  # characters: 255 in DNS, and a port
LONGEST_RAW = 2**16  # characters of a reference before it is resolved

# Every character of the categories Cc, Cf, Zs, Zl, Zp and Cs, and noncharacters that break tools.
# They do not come from unicodedata, as its tables differ between versions of Python, and every
# version must write the same bytes.
_BREAKING = re.compile(
    "[\\x00-\\x20\\x7f-\\xa0\\xad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u1680\\u180e"
    "\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ud800-\\udfff\\ufeff\\ufff0-\\uffff"
    "\\U000110bd\\U000110cd\\U00013430-\\U0001345f\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a"
    "\\U000e0000-\\U000e0fff]"
)
_SCHEME = re.compile(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.\-]*):")
_HOST = re.compile(r"https?://(?:[^/?#\\@]*@)?([^/?#\\]*)", re.IGNORECASE)
_HTTP_URI = re.compile(r"https?://[^/?#\\]", re.IGNORECASE)
_NAMED_SCHEMES = frozenset({"data", "javascript", "mailto"})
_IN_QUERY = "!$%&()*+,/:;=?@[\\]^`{|}"  # with letters, digits and `-._~`: what no query escapes
_MISSING = b"%%26%%23%d%%3B"  # `&#N;`, for a character that the charset of the page lacks
_BLANK = "".join(map(chr, range(0x21)))
_ABOVE_ASCII = re.compile(rb"[\x80-\xff]")


def as_text(raw: bytes) -> str:
    """The bytes of a URI as text. If they are not UTF-8, every byte above ASCII is escaped: the
    server knows the page by these bytes, and no text stands for them. Not in a URI that is too long
    without that."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return percent_encoded(raw).decode() if len(raw) <= LONGEST else raw.decode("latin-1")


def percent_encoded(raw: bytes) -> bytes:
    """The bytes, with `%XX` in place of each one above ASCII."""
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
    """The URI of a capture or an outlink: unchanged, but escaped and without fragment."""
    if _HTTP_URI.match(uri):
        if len(uri) > LONGEST_HOST and _is_host_long(uri):
            return "too-long"
        uri = uri.partition("#")[0]
        return _bounded(escape(uri)) if len(uri) <= LONGEST else "too-long"
    return _other_scheme(uri) or "invalid"


def _is_host_long(uri: str) -> bool:
    """Whether no name server knows the host: encoding it would take quadratic time."""
    match = _HOST.match(uri)
    return match is not None and len(unquote(match[1])) > LONGEST_HOST


def _other_scheme(reference: str) -> str:
    """The reason if the reference has a scheme other than http and https, else ''."""
    match = _SCHEME.match(reference)
    scheme = match[1].lower() if match else "http"
    if scheme in ("http", "https"):
        return ""
    return f"scheme.{scheme if scheme in _NAMED_SCHEMES else 'other'}"


def _bounded(uri: str) -> bytes | str:
    data = uri.encode()
    return data if len(data) <= LONGEST else "too-long"


def resolve(reference: str, base: str, charset: str = "utf-8") -> bytes | str:
    """The target of a reference on a page, resolved against base as the WHATWG standard says.

    charset: that of the page, in which queries are encoded. Absolute references resolve
    even if the base cannot be parsed.
    """
    if reason := _other_scheme(reference):
        return reason
    if len(reference) > LONGEST_RAW:
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


def base_uri(reference: str, page: str, charset: str = "utf-8") -> str:
    """The URI that references are resolved against on a page that states this base. It may have
    nearly any scheme. charset: that of the page, in which its query is encoded. As the HTML
    standard says, it is the page itself if the stated base is invalid or begins with `data:` or
    `javascript:`. If it is too long, the result is '', so only absolute references resolve."""
    if len(reference) > LONGEST_RAW:
        return ""
    if charset != "utf-8" and "?" in reference and not reference.isascii():
        reference = _query_encoded(reference, charset)
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
    if not uri.startswith(HTTP_PREFIXES):
        return _other_scheme(uri)
    return _bounded(escape(uri)) if len(uri) <= LONGEST else "too-long"


def _query_encoded(reference: str, charset: str) -> str:
    """The reference, with its query percent-encoded in that charset."""
    for left_out in "\t\n\r":
        reference = reference.replace(left_out, "")
    path, _, query = reference.strip(_BLANK).partition("?")
    query, mark, fragment = query.partition("#")
    query = quote_from_bytes(encoded(query, charset, _MISSING), _IN_QUERY)
    return f"{path}?{query}{mark}{fragment}"


def field(text: str, longest: int = 256) -> bytes:
    """A field of a line that is no URI: escaped and cut, `-` if it is empty."""
    return escape(text.strip())[:longest].encode() or b"-"
