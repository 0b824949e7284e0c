"""Charsets: which declaration wins, and that a page cannot choose a codec that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.samples import needs_reference
from support.paths import REFERENCE

from jobs.kernel.archive.records import Record
from jobs.kernel.archive.sources import read_records
from jobs.kernel.links.documents import document
from jobs.kernel.markup.charsets import as_utf8, charset_of
from jobs.kernel.storage.opening import opened

META = b'<html><meta charset="koi8-r">'
EQUIV = b"<meta http-equiv=Content-Type content='text/html; charset = Shift_JIS'>"
CASES = [
    (b"\xef\xbb\xbf" + META, "text/html; charset=gbk", "utf-8"),
    (b"\xff\xfe<\0", "", "utf-16-le"),
    (META, "text/html; Charset='GB2312'", "gb18030"),
    (META, "text/html", "koi8-r"),
    (META, "text/html; charset=nonsense", "koi8-r"),
    (EQUIV, "", "cp932"),
    (b"<meta charset=utf-16>", "", "utf-8"),
    (b"<!-- <meta charset=big5> --><meta charset=koi8-r>", "", "koi8-r"),
    (b"<!-- <meta charset=big5> -->", "", "utf-8"),
    (b"<!--><meta charset=koi8-r>-->", "", "koi8-r"),
    (b"<p title='<meta charset=big5>'><meta charset=koi8-r>", "", "koi8-r"),
    (b"<script>'<meta charset=big5>'</script><meta charset=koi8-r>", "", "koi8-r"),
    (b"<title>a < b <meta charset=big5></title><META\nCharSet = 'koi8-r' />", "", "koi8-r"),
    (b"<meta content='x>y' title='charset=big5'><meta charset=koi8-r>", "", "koi8-r"),
    (b"<meta name=x content='text/html; charset=big5'><meta charset=koi8-r>", "", "koi8-r"),
    (b"<meta charset=nonsense><meta charset=koi8-r>", "", "koi8-r"),
    (b"<meta charset=koi8-r charset=big5 http-equiv=x>", "", "koi8-r"),
    (b"<meta charset=koi8-r", "", "utf-8"),
    (b"<?xml version='1.0'?><!doctype html>" + META, "", "koi8-r"),
    (b"caf\xe9", "", "cp1252"),
    ("café".encode(), "", "utf-8"),
    ("é café".encode()[:-1], "", "utf-8"),
    (b"caf\xe9", "text/html; charset=iso-8859-1", "cp1252"),
    (b"x", "text/html; charset=punycode", "utf-8"),
    (b"x", "text/html; charset=unicode_escape", "utf-8"),
    (b"x", "text/html; charset=zip", "utf-8"),
    (b"x", "text/html; charset=x-sjis", "cp932"),
    (b"<?xml version='1.0' encoding='koi8-r'?>", "text/xml", "koi8-r"),
    (b"<?xml version='1.0' encoding='UTF-16'?>", "text/xml", "utf-8"),
    (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=gbk>", "", "gb18030"),
    (b'@charset "windows-1251";a{}', "text/css", "cp1251"),
    (b'a{}@charset "windows-1251";', "text/css", "utf-8"),
]


@pytest.mark.parametrize(("body", "content_type", "codec"), CASES)
def test_charsets(body: bytes, content_type: str, codec: str) -> None:
    assert charset_of(body, content_type) == codec


LABELS = {  # of the WHATWG standard, each with what browsers read it as
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 utf-8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": (
        "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"
    ),
    "iso8859-3": (
        "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"
    ),
    "iso8859-4": (
        "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"
    ),
    "iso8859-5": (
        "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 "
        "iso_8859-5 iso_8859-5:1988"
    ),
    "iso8859-6": (
        "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 "
        "iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 "
        "iso_8859-6 iso_8859-6:1987"
    ),
    "iso8859-7": (
        "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 "
        "iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek"
    ),
    "iso8859-8": (
        "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 "
        "iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual csiso88598i "
        "iso-8859-8-i logical"
    ),
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": (
        "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 "
        "iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 "
        "us-ascii windows-1252 x-cp1252"
    ),
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": (
        "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
        "iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254"
    ),
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": (
        "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030"
    ),
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": (
        "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 "
        "ks_c_5601-1989 ksc5601 ksc_5601 windows-949"
    ),
}


@pytest.mark.parametrize("codec", LABELS)
def test_every_label_of_the_standard(codec: str) -> None:
    for label in LABELS[codec].split():
        assert charset_of(b"x", f"text/html; charset={label.upper()}") == codec
        assert charset_of(f"<meta charset={label}>".encode(), "") == codec


REAL = {
    "chatnoir-eu-chatnoir-resiliparse/tests__data__warcfile.warc.gz": {"cp1251", "gb18030"},
    "chatnoir-eu-chatnoir-resiliparse/tests__data__clueweb-quirk.warc.gz": {"euc_jp"},
    "netarchivesuite-jwat/jwat-warc__invalid-warcfile-encoding-headers.warc.gz": {"big5hkscs"},
}


@needs_reference
@pytest.mark.parametrize("name", REAL)
def test_real_pages_that_are_not_utf8_decode_whole(name: str) -> None:
    codecs = set()
    with opened(REFERENCE / "archives" / name) as stream:
        for record in read_records(stream, name):
            if isinstance(record, Record) and document(record.media_type, record.body) == "html":
                codec = charset_of(record.body, record.media_type)
                assert "\ufffd" not in record.body.decode(codec, "replace")
                codecs.add(codec)
    assert REAL[name] <= codecs


@given(st.binary(), st.text())
def test_anything_has_a_charset_and_becomes_utf8(body: bytes, content_type: str) -> None:
    codec = charset_of(body, content_type)
    as_utf8(body, codec).decode()


def test_utf8_without_its_mark() -> None:
    assert as_utf8(b"\xef\xbb\xbfx", "utf-8") == as_utf8(b"\xff\xfex\0", "utf-16-le") == b"x"
