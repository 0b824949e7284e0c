"""Header lines as warcio reads them, and dates as `datetime` knows them."""

from __future__ import annotations

import io
from datetime import datetime

from hypothesis import example, given
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeadersParser

from crawlrank.jobs.kernel.archive.record_headers import (
    every,
    first,
    parse_lines,
    timestamp14,
)

WARCIO = StatusAndHeadersParser([], verify=False)
# All that splits, folds, ends or strips lines somewhere, and what is not UTF-8.
PIECES = [b"A", b"b-C", b":", b": ", b" ", b"\t", b"\r", b"\n", b"\r\n", b"\n ", b"\n\t", b"\x85"]
PIECES += [
    b"\x0b",
    b"\x0c",
    b"\x1c",
    b"\x00",
    "é\xa0\u2028".encode(),
    b"\xe9",
    b"HTTP/1.1 200 OK\r\n",
]
BLOCKS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map(b"".join)
NAMES = st.text("Aa-", min_size=1, max_size=3)


@given(st.one_of(BLOCKS, BLOCKS.map(lambda block: b"WARC/1.0\r\n" + block), st.binary(min_size=1)))
@example(b"WARC/1.0\r\nA: b\r\n c\r\n\td\r\nE\r\n f\r\nG:\r\n h\r\n\r\nI: j\r\n")
@example(b"WARC/1.0\r\n: a\r\n b\r\n")
@example(b"WARC/1.0\n a: b\n c\n")
@example(b"HTTP/1.1 200 OK\r\nA : b \r\n\x85\r\nC: d\r\n")
@example(b" x\nA: \xe9\nB: \xc3\xa9\n")
@example(b"\r\nA: b\r\n")
@example(b"A\nB: c\n \nD: e\n")
def test_lines_as_warcio_reads_them(block: bytes) -> None:
    oracle = WARCIO.parse(io.BytesIO(without_blank_continuations(block)))
    line, fields = parse_lines(block)
    # warcio strips what Unicode calls blank, parse_lines no more than HTTP does
    stripped = [(name, value.strip()) for name, value in fields]
    assert stripped == [(name.lower(), value.strip()) for name, value in oracle.headers]
    assert line == f"{oracle.protocol} {oracle.statusline}"


def without_blank_continuations(block: bytes) -> bytes:
    """Lines of blanks alone end a header for warcio, and continue a field by RFC 9112."""
    first_line, *lines = io.BytesIO(block).readlines()
    ends = (b"\n", b"\r\n")
    blank = [line[:1] in (b" ", b"\t") and line.lstrip(b" \t") in ends for line in lines]
    return first_line + b"".join(
        line for line, is_blank in zip(lines, blank, strict=True) if not is_blank
    )


@given(st.lists(st.tuples(NAMES, st.text("ab", max_size=3)), min_size=1))
def test_the_first_of_a_name_counts(given: list[tuple[str, str]]) -> None:
    _, fields = parse_lines(b"A\n" + b"".join(f"{k}: {v}\n".encode() for k, v in given))
    for name, _ in given:
        values = [value for other, value in given if other.lower() == name.lower()]
        assert first(fields, name.lower()) == values[0]
        assert every(fields, name.lower()) == tuple(values)


@given(st.datetimes(datetime(1000, 1, 1)), st.sampled_from(["Z", ".5Z", ".123456Z", "", "+01:00"]))
def test_dates(date: datetime, end: str) -> None:
    digits = date.strftime("%Y%m%d%H%M%S")
    assert timestamp14(date.isoformat(timespec="seconds") + end) == digits
    assert timestamp14(digits) == digits
    assert timestamp14(f"{digits[:4]}-{digits[4:6]}") == digits[:6] + "01000000"


def test_impossible_dates() -> None:
    for date in ("2020-13-01T00:00:00Z", "2020-01-32T00:00:00Z", "2020-01-01T24:00:00Z"):
        assert timestamp14(date) == ""
    for date in ("2020-01-01T00:60:00Z", "2020-01-01T00:00:61Z", "20-01-01T00:00:00Z", ""):
        assert timestamp14(date) == ""
    assert timestamp14("2016-12-31T23:59:60Z") == "20161231235960"
