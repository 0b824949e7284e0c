"""Charsets: which declaration wins, and that a page cannot choose a codec that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.encoding.indexes import LABELS
from support.inputs.samples import needs_reference
from support.paths import REFERENCE

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.encodings.decoding import decoded, encoding_of
from crawlrank.jobs.kernel.links.documents import document
from crawlrank.jobs.kernel.markup.charsets import as_utf8, charset_of
from crawlrank.jobs.kernel.storage.opening import opened

META = b'<html><meta charset="koi8-r">'
EQUIV = b"<meta http-equiv=Content-Type content='text/html; charset = Shift_JIS'>"
CASES = [
    (b"\xef\xbb\xbf" + META, "text/html; charset=gbk", "utf-8"),
    (b"\xff\xfe<\0", "", "utf-16le"),
    (META, "text/html; Charset='GB2312'", "gbk"),
    (META, "text/html", "koi8-r"),
    (META, "text/html; charset=nonsense", "koi8-r"),
    (EQUIV, "", "shift_jis"),
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
    (b"caf\xe9", "", "windows-1252"),
    ("café".encode(), "", "utf-8"),
    ("é café".encode()[:-1], "", "utf-8"),
    (b"caf\xe9", "text/html; charset=iso-8859-1", "windows-1252"),
    (b"x", "text/html; charset=punycode", "utf-8"),
    (b"x", "text/html; charset=unicode_escape", "utf-8"),
    (b"x", "text/html; charset=zip", "utf-8"),
    (b"x", "text/html; charset=x-sjis", "shift_jis"),
    (b"<?xml version='1.0' encoding='koi8-r'?>", "text/xml", "koi8-r"),
    (b"<?xml version='1.0' encoding='UTF-16'?>", "text/xml", "utf-8"),
    (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=gbk>", "", "gbk"),
    (b'@charset "windows-1251";a{}', "text/css", "windows-1251"),
    (b'a{}@charset "windows-1251";', "text/css", "utf-8"),
]


@pytest.mark.parametrize(("body", "content_type", "codec"), CASES)
def test_charsets(body: bytes, content_type: str, codec: str) -> None:
    assert charset_of(body, content_type) == codec


BLANKS = "\t\n\f\r "


def declared_as(encoding: str) -> str:
    """The encoding of a page with a meta element that names this one: a page whose meta element
    can be read is not in UTF-16."""
    if encoding == "x-user-defined":
        return "windows-1252"
    return "utf-8" if encoding.startswith("utf-16") else encoding


@pytest.mark.parametrize("label", LABELS)
def test_every_label_of_the_standard(label: str) -> None:
    encoding = LABELS[label]
    assert encoding_of(label) == encoding_of(f"{BLANKS}{label.upper()}{BLANKS}") == encoding
    assert charset_of(b"x", f"text/html; charset={label.upper()}") == encoding
    assert charset_of(f"<meta charset={label}>".encode(), "") == declared_as(encoding)
    assert charset_of(f"<meta charset='{BLANKS}{label} '>".encode(), "") == declared_as(encoding)


@pytest.mark.slow
@given(st.sampled_from(sorted(LABELS)), st.characters(exclude_characters=BLANKS))
def test_no_other_label_has_an_encoding(label: str, character: str) -> None:
    other = label + character
    assert encoding_of(other) == LABELS.get(other.lower() if other.isascii() else "", "")


@pytest.mark.parametrize("label", ["punycode", "zip", "cp437", "utf-7", "\u212aoi8-r", "\xa0gbk"])
def test_names_that_python_has_for_codecs_are_no_labels(label: str) -> None:
    """Nor is the Kelvin sign a k, as Python says, or a no-break space a blank."""
    assert encoding_of(label) == ""


REAL = {
    "chatnoir-eu-chatnoir-resiliparse/tests__data__warcfile.warc.gz": {"windows-1251", "gbk"},
    "chatnoir-eu-chatnoir-resiliparse/tests__data__clueweb-quirk.warc.gz": {"euc-jp"},
    "netarchivesuite-jwat/jwat-warc__invalid-warcfile-encoding-headers.warc.gz": {"big5"},
}


@needs_reference
@pytest.mark.parametrize("name", REAL)
def test_real_pages_that_are_not_utf8_decode_whole(name: str) -> None:
    codecs = set()
    with opened(REFERENCE / "archives" / name) as stream:
        for record in read_records(stream, name):
            if isinstance(record, Record) and document(record.media_type, record.body) == "html":
                codec = charset_of(record.body, record.media_type)
                assert "\ufffd" not in decoded(record.body, codec)
                codecs.add(codec)
    assert REAL[name] <= codecs


@pytest.mark.slow
@given(st.binary(), st.text())
def test_anything_has_a_charset_and_becomes_utf8(body: bytes, content_type: str) -> None:
    codec = charset_of(body, content_type)
    as_utf8(body, codec).decode()


def test_utf8_without_its_mark() -> None:
    assert as_utf8(b"\xef\xbb\xbfx", "utf-8") == as_utf8(b"\xff\xfex\0", "utf-16le") == b"x"
