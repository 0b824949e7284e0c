"""The charset of a document: byte order mark, HTTP header, what it says itself, then a guess.

It says so itself in a meta element, an XML declaration or, at its first byte, `@charset`.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from jobs.kernel.markup.html_tokens import (
    RAW,
    attributes_of,
    is_tag,
    markup_end,
    next_markup,
    raw_end,
    tag_at,
    tags_but,
)

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))
_MARKS = tuple(mark for mark, _ in _BOMS)
_PRESCAN = 4096  # the standard says 1,024; pages with long scripts before it are many
_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9._:\-]{2,40})", re.IGNORECASE)
_META = frozenset((b"meta",))
_others = tags_but(_META | RAW, _META)
_AROUND = "\t\n\f\r \"'"
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

# Only codecs of the WHATWG standard, under Python's names: a page must not choose `punycode` or
# `unicode_escape`. Where browsers read a superset, the superset.
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
        *(
            "utf-8",
            "gb18030",
            "big5hkscs",
            "euc_jp",
            "iso2022_jp",
            "cp932",
            "cp949",
            "cp874",
            "cp866",
        ),
        *("koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "utf-16-le", "utf-16-be"),
        *(f"cp{number}" for number in range(1250, 1259)),
        *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    )
}


_OTHER_THAN_ASCII = frozenset({"utf-16-le", "utf-16-be", "iso2022_jp"})  # in bytes like ASCII's


def charset_of(body: bytes, content_type: str) -> str:
    """A Python codec that decodes the page; content_type: the value of the HTTP header."""
    if body.startswith(_MARKS):
        return next(codec for mark, codec in _BOMS if body.startswith(mark))
    return _labelled(content_type) or _declared(body[:_PRESCAN]) or _guess(body)


@lru_cache(1000)  # nearly all pages of a crawl have one of few
def _labelled(content_type: str) -> str:
    label = _LABEL.search(content_type)
    return _codec(label[1]) if label else ""


def _declared(head: bytes) -> str:
    codec = _meta_codec(head) if _CHARSET(head) else ""
    if not codec and (declared := _DECLARED.match(head)):
        codec = _codec(declared[declared.lastindex or 0].decode())
    return "utf-8" if codec.startswith("utf-16") else codec  # else it could not have been read


def _meta_codec(head: bytes) -> str:
    """Of the first meta element that names a codec, as the HTML standard finds it; what stands in
    comments, in attributes, in scripts and the like is none."""
    place = next_markup(head, 0)
    while place >= 0:
        if others := _others(head, place):
            place = others.end()
        elif tag := tag_at(head, place):
            _, name, rest, place = tag
            if name in RAW:
                place = raw_end(head, place, name)
            elif codec := _codec(_meta_label(rest)):
                return codec
        elif is_tag(head, place):
            return ""
        else:
            place = markup_end(head, place, False)
        place = next_markup(head, place)
    return ""


def _meta_label(rest: bytes) -> str:
    """What the attributes of a meta element name, '' if nothing."""
    values: dict[bytes, str] = {}
    for name, text in attributes_of(rest):
        value = text.partition(b"=")[2].decode("latin-1").strip(_AROUND)
        values.setdefault(name, value)
    if b"charset" in values:
        return values[b"charset"]
    if values.get(b"http-equiv", "").lower() != "content-type":
        return ""
    label = _LABEL.search(values.get(b"content", ""))
    return label[1] if label else ""


@lru_cache(1000)  # labels are short, and those of a crawl are few
def _codec(label: str) -> str:
    """The codec of a label, '' if it names none that a page may have."""
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


def as_utf8(body: bytes, charset: str) -> bytes:
    """The page in UTF-8, without byte order mark; what cannot be decoded becomes U+FFFD."""
    if charset not in _OTHER_THAN_ASCII and body.isascii():
        return body
    text = body.decode(charset, "replace").removeprefix("\ufeff")
    return text.encode("utf-8", "replace")
