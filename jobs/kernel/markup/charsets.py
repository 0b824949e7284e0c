"""The charset of a document: by byte order mark, HTTP header, its own declaration, or a guess.

A document declares it in a meta element, an XML declaration or, at its first byte, `@charset`.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from jobs.kernel.markup.html_tokens import attributes_of, start_tags, value_of

UTF_16_MARKS = (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)
_BYTE_ORDER_MARKS = dict(
    zip((codecs.BOM_UTF8, *UTF_16_MARKS), ("utf-8", "utf-16-be", "utf-16-le"), strict=True)
)
_MARKS = tuple(_BYTE_ORDER_MARKS)
_PRESCAN = 4096  # the standard says 1,024; pages with long scripts before it are many
_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9._:\-]{2,40})", re.IGNORECASE)
_CHARSET = re.compile(rb"charset", re.IGNORECASE).search
_DECLARED = re.compile(
    rb"\s{0,9}<\?xml[^>]{0,200}?\sencoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._:\-]{2,40})"
    rb"|@charset \"([A-Za-z0-9._:\-]{2,40})\";"
)

_ALIASES = {  # labels of the WHATWG standard that Python does not know
    label: codec
    for codec, labels in {
        "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
        "utf-16-le": "utf-16 utf16 ucs-2 unicode csunicode iso-10646-ucs-2 unicodefeff",
        "utf-16-be": "unicodefffe",
        "iso8859-2": "iso88592",
        "iso8859-3": "iso88593",
        "iso8859-4": "iso88594",
        "iso8859-5": "iso88595",
        "iso8859-6": "iso88596 csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i",
        "iso8859-7": "iso88597 sun_eu_greek",
        "iso8859-8": "iso88598 iso-8859-8-e iso-8859-8-i csiso88598e csiso88598i visual logical",
        "iso8859-10": "iso885910",
        "iso8859-13": "iso885913",
        "iso8859-14": "iso885914",
        "iso8859-15": "iso885915 csisolatin9",
        "koi8-r": "koi koi8",
        "koi8-u": "koi8-ru",
        "mac-roman": "mac csmacintosh x-mac-roman",
        "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
        "cp874": "windows-874 dos-874 iso885911",
        "cp1250": "x-cp1250",
        "cp1251": "x-cp1251",
        "cp1252": "x-cp1252 iso88591",
        "cp1253": "x-cp1253",
        "cp1254": "x-cp1254 iso88599",
        "cp1255": "x-cp1255",
        "cp1256": "x-cp1256",
        "cp1257": "x-cp1257",
        "cp1258": "x-cp1258",
        "gb18030": "x-gbk csgb2312 gb_2312 gb_2312-80",
        "big5hkscs": "cn-big5 x-x-big5",
        "euc_jp": "x-euc-jp cseucpkdfmtjapanese",
        "cp932": "x-sjis windows-31j",
        "cp949": "cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601 windows-949",
    }.items()
    for label in labels.split()
}

# Only codecs of the WHATWG standard, by Python's names: a page must not choose `punycode` or
# `unicode_escape`. Where browsers use a superset, its name follows.
_CODECS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
} | {
    name: name
    for name in (
        *("utf-8", "gb18030", "big5hkscs", "euc_jp", "iso2022_jp"),
        *("cp932", "cp949", "cp874", "cp866", "koi8-r", "koi8-u"),
        *("mac-roman", "mac-cyrillic", "utf-16-le", "utf-16-be"),
        *(f"cp{number}" for number in range(1250, 1259)),
        *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    )
}


_ESCAPE = b"\x1b"  # without it, ISO-2022-JP is ASCII
_OTHER_THAN_ASCII = frozenset({"utf-16-le", "utf-16-be", "iso2022_jp"})  # of bytes below 0x80


# whose characters may have a byte below 0x80 as their last
_OF_SEVERAL_BYTES = frozenset({"gb18030", "big5hkscs", "cp932", "cp949", "euc_jp", "iso2022_jp"})


def charset_of(body: bytes, content_type: str) -> str:
    """A Python codec that decodes the page; content_type: the value of the HTTP header."""
    if body.startswith(_MARKS):
        return next(codec for mark, codec in _BYTE_ORDER_MARKS.items() if body.startswith(mark))
    return _labelled(content_type) or _declared(body[:_PRESCAN]) or _guess(body)


@lru_cache(1000)  # a crawl has few different values
def _labelled(content_type: str) -> str:
    label = _LABEL.search(content_type)
    return _codec(label[1]) if label else ""


def _declared(head: bytes) -> str:
    codec = _meta_codec(head) if _CHARSET(head) else ""
    if not codec and (declared := _DECLARED.match(head)):
        codec = _codec(declared[declared.lastindex or 0].decode())
    # In UTF-16 the declaration itself could not have been read.
    return "utf-8" if codec.startswith("utf-16") else codec


def _meta_codec(head: bytes) -> str:
    """The codec of the first meta element that names one, found as the HTML standard finds it; ''
    if there is none."""
    labels = map(_meta_label, start_tags(head, b"meta"))
    return next(filter(None, map(_codec, labels)), "")


def _meta_label(rest: bytes) -> str:
    """The label in the attributes of a meta element, '' if there is none."""
    values: dict[bytes, str] = {}
    for name, attribute in attributes_of(rest):
        values.setdefault(name, value_of(attribute).decode("latin-1"))
    if b"charset" in values:
        return values[b"charset"]
    if values.get(b"http-equiv", "").lower() != "content-type":
        return ""
    label = _LABEL.search(values.get(b"content", ""))
    return label[1] if label else ""


@lru_cache(1000)
def _codec(label: str) -> str:
    """The codec of a label; '' if it is none that a page may have."""
    name = label.lower()
    try:
        return _CODECS.get(codecs.lookup(_ALIASES.get(name, name)).name, "")
    except LookupError:
        return ""


def _guess(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        cut = error.start >= len(body) - 3 and not body[: error.start].isascii()
        return "utf-8" if cut else "cp1252"  # a body may end inside a character
    return "utf-8"


def reads_ascii_as_it_is(body: bytes, content_type: str) -> bool:
    """Whether each byte of the page below 0x80 is that character of ASCII, whatever its charset."""
    if body.startswith(UTF_16_MARKS) or _labelled(content_type) in _OTHER_THAN_ASCII:
        return False
    return _ESCAPE not in body or charset_of(body, content_type) not in _OTHER_THAN_ASCII


def decodes_by_parts(body: bytes, charset: str) -> bool:
    """Whether the parts between marks of ASCII decode alone as they do in the page: where bytes are
    no text, the next one may seem to belong to them."""
    if charset not in _OF_SEVERAL_BYTES or body.isascii():
        return True
    try:
        body.decode(charset)
    except UnicodeDecodeError:
        return False
    return True


def as_utf8(body: bytes, charset: str) -> bytes:
    """The page in UTF-8, without byte order mark; bytes that are no text become U+FFFD."""
    if charset not in _OTHER_THAN_ASCII and body.isascii():
        return body
    text = body.decode(charset, "replace").removeprefix("\ufeff")
    return text.encode("utf-8", "replace")
