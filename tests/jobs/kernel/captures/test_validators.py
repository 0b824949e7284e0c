"""Last-Modified and ETag of captures, where extraction is asked for them."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from datetime import datetime, timezone
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.archive_samples import response, warc, zipped
from support.paths import SAMPLES

from crawlrank.jobs.kernel.captures.capture_rows import LONGEST_TAG, etag_of, modified_of
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.lines import format_capture, parse_capture
from crawlrank.jobs.kernel.formats.rows import Capture

DATE, DIGITS = "Sun, 06 Nov 1994 08:49:37 GMT", b"19941106084937"
TAG = '"33a64df5"'


def items_of(data: bytes, **options: Any) -> tuple[list[Any], Counter[str]]:
    counters: Counter[str] = Counter()
    return list(extract(io.BytesIO(data), "a", ExtractionOptions(**options), counters)), counters


def validators_of(data: bytes) -> tuple[bytes, bytes]:
    (row,) = [item for item in items_of(data, validators=True)[0] if isinstance(item, Capture)]
    return row.modified, row.etag


HEADERS = {
    "both": (f"Last-Modified: {DATE}\r\nETag: {TAG}\r\n", DIGITS, TAG.encode()),
    "none": ("", b"-", b"-"),
    "names in capitals": (f"LAST-MODIFIED:{DATE}\r\netag:{TAG}\r\n", DIGITS, TAG.encode()),
    "weak": (f"ETag: W/{TAG}\r\n", b"-", b'W/"33a64df5"'),
    "no quotes": ("ETag: 33a64df5\r\n", b"-", b"33a64df5"),
    "blanks in it": ('ETag: "a b\tc"\r\n', b"-", b'"a%20b%09c"'),
    "quotes in it": ('ETag: "a"b"\r\n', b"-", b'"a"b"'),
    "empty": ("ETag:\r\nLast-Modified: \r\n", b"-", b"-"),
    "folded": (f"Last-Modified: {DATE[:11]}\r\n {DATE[12:]}\r\nETag:\r\n\t{TAG}\r\n", DIGITS,
               TAG.encode()),
    "twice the same": (f"ETag: {TAG}\r\nETag: {TAG}\r\n", b"-", TAG.encode()),
    "two": (f"ETag: {TAG}\r\nETag: \"b\"\r\nLast-Modified: {DATE}\r\n"
            "Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT\r\n", b"-", b"-"),
    "10 kB": (f'ETag: "{"a" * 10_000}"\r\nLast-Modified: {"1" * 10_000}\r\n', b"-", b"-"),
    "as long as may be": (f'ETag: "{"a" * (LONGEST_TAG - 2)}"\r\n', b"-",
                          b'"%s"' % (b"a" * (LONGEST_TAG - 2))),
    "beyond ASCII": (f'ETag: "\u00e9"\r\nLast-Modified: {DATE}\r\n', DIGITS, '"\u00e9"'.encode()),
    "RFC 850": ("Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT\r\n", DIGITS, b"-"),
    "asctime": ("Last-Modified: Sun Nov  6 08:49:37 1994\r\n", DIGITS, b"-"),
    "another zone": ("Last-Modified: Sun, 06 Nov 1994 09:49:37 +0100\r\n", DIGITS, b"-"),
    "before 1970": ("Last-Modified: Mon, 06 Nov 1911 08:49:37 GMT\r\n", b"19111106084937", b"-"),
    "in the future": ("Last-Modified: Fri, 31 Dec 9999 23:59:59 GMT\r\n", b"99991231235959", b"-"),
    "after the last year": ("Last-Modified: Fri, 31 Dec 9999 23:59:59 -0100\r\n", b"-", b"-"),
    "no day of a month": ("Last-Modified: Sun, 31 Nov 1994 08:49:37 GMT\r\n", b"-", b"-"),
    "no date": ("Last-Modified: yesterday\r\n", b"-", b"-"),
    "a number": ("Last-Modified: 0\r\n", b"-", b"-"),
    "a zone that is none": ("Last-Modified: Sun, 06 Nov 1994 08:49:37 +9999999999\r\n", b"-", b"-"),
}  # fmt: skip


@pytest.mark.parametrize("name", HEADERS)
def test_headers(name: str) -> None:
    header, modified, etag = HEADERS[name]
    data = response(200, b"x", header)
    assert validators_of(data) == (modified, etag)
    assert validators_of(gzip.compress(data)) == (modified, etag)


@given(st.text(max_size=70) | st.from_regex(r"\A[A-Z][a-z]{2}, [0-9]{1,5} Nov [0-9]+ [0-9:+ -]*"))
def test_no_text_is_too_odd(text: str) -> None:
    fields = [("last-modified", text), ("etag", text)]
    modified, etag = modified_of(fields), etag_of(fields)
    assert modified == b"-" or (modified.isdigit() and len(modified) == 14)
    assert not {b"\t", b"\n", b" "} & {bytes([byte]) for byte in etag}
    assert 1 <= len(etag) <= LONGEST_TAG


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))
def test_all_dates_come_back(date: datetime) -> None:
    text = format_datetime(date.replace(tzinfo=timezone.utc), usegmt=True)
    if date.year >= 1000:  # email.utils takes a year of fewer digits for one of 1900 and later
        expected = f"{date.year:04}{date:%m%d%H%M%S}".encode()
        assert modified_of([("last-modified", text)]) == expected
    else:
        assert len(modified_of([("last-modified", text)])) in (1, 14)


def test_revisits_have_them_and_other_records_have_none() -> None:
    http = f"HTTP/1.1 304 Not Modified\r\nETag: {TAG}\r\nLast-Modified: {DATE}\r\n\r\n".encode()
    assert validators_of(warc(http, kind="revisit")) == (DIGITS, TAG.encode())
    assert validators_of(warc(b"x", kind="resource", media_type="text/html")) == (b"-", b"-")


def test_archives_in_a_wacz_have_them() -> None:
    data = response(200, b"x", f"ETag: {TAG}\r\nLast-Modified: {DATE}\r\n")
    assert validators_of(zipped({"archive/a.warc": data})) == (DIGITS, TAG.encode())


def test_a_wat_tells_them() -> None:
    headers = {"Content-Type": "text/html", "ETag": TAG, "Last-Modified": DATE}
    http = {"Headers": headers, "Response-Message": {"Status": "200"}}
    described = {"WARC-Type": "response", "WARC-Target-URI": "http://h/"}
    wat = {
        "Envelope": {
            "WARC-Header-Metadata": described,
            "Payload-Metadata": {"HTTP-Response-Metadata": http},
        }
    }
    data = warc(json.dumps(wat).encode(), kind="metadata", media_type="application/json")
    assert validators_of(data) == (DIGITS, TAG.encode())


@pytest.mark.slow
@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("*arc.gz")))
def test_nothing_else_of_real_archives_changes(sample: str) -> None:
    data = (SAMPLES / sample).read_bytes()
    (usual, counters), (more, counted) = items_of(data), items_of(data, validators=True)
    assert counted == counters
    changed = 0
    for before, row in zip(usual, more, strict=True):
        if isinstance(row, Capture):
            changed += row != before
            assert before[-2:] == (b"-", b"-")
            assert parse_capture(format_capture(row, validators=True)) == row
            row = row._replace(modified=b"-", etag=b"-")
            assert format_capture(row) == format_capture(before)
        assert row == before
    assert (changed > 0) == sample.startswith("aut")  # the other was made by a server without any
