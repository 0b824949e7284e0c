"""CDX and CDXJ files: lines of several writers, columns in any order, and lines that are bad."""

from __future__ import annotations

import gzip
import io
import json
import random
import string
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.archive_samples import each, page

from crawlrank.jobs.kernel.archive.cdx import LONGEST_LINE, kind_of
from crawlrank.jobs.kernel.archive.damage import MAX_RECORD, Damage
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import container, read_archives
from crawlrank.jobs.kernel.captures.archive_ranges import ranges_of
from crawlrank.jobs.kernel.captures.counters import INDEXES
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.rows import Capture

SHA = "ZMSA5TNJUKKRYAIM5PRUJLL24DV7QYOO"
VALUES = {
    "N": "au,gov,financeminister)/", "b": "20150914222034", "a": "http://www.financeminister.gov.au/",
    "m": "text/html", "s": "200", "k": SHA, "r": "-", "M": "-", "S": "83848", "V": "117273",
    "g": "WEB-20150914222031256-00000-43190~heritrix.nla.gov.au~8443.warc.gz",
}  # fmt: skip
READ = ("http://www.financeminister.gov.au/", "20150914222034", 200, "text/html", f"sha1:{SHA}")
JSON = {
    "url": VALUES["a"], "mime": "text/html", "status": "200", "digest": SHA, "length": "1",
    "offset": "0", "filename": "x.warc.gz",
}  # fmt: skip
CDXJ = f"au,gov,financeminister)/ 20150914222034 {json.dumps(JSON)}\n".encode()

KINDS_OF_LINES = {
    **dict.fromkeys((b"revisit", b"response", b"resource"), "index"),
    **{b"request": "request", b"metadata": "metadata", b"warcinfo": "warcinfo"},
}
#: as servers of indexes answer
ALONE = json.dumps({"urlkey": VALUES["N"], "timestamp": VALUES["b"], **JSON}).encode() + b"\n"


def read(data: bytes, name: str = "x.cdx") -> list[Record | Damage]:
    with io.BytesIO(data) as stream:
        archives = read_archives(stream, name, max_record=MAX_RECORD)
        return [item for archive in archives for item in archive.items if archive.is_index]


def fields(item: Record | Damage) -> tuple[Any, ...]:
    assert isinstance(item, Record), item
    return item.uri, item.timestamp, item.status, item.media_type, item.digest


def cdx(letters: str, separator: str = " ") -> bytes:
    head = separator + separator.join(["CDX", *letters])
    line = separator.join(VALUES.get(letter, "-") for letter in letters)
    return f"{head}\n{line}\n".encode()


@pytest.mark.parametrize(
    "letters", ["NbamskrMSVg", "abamskrMVgu", "NbamskrMVg", "NbamskrVg", "AbeamsckrVvDdgMn"]
)
@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_columns_of_several_writers(letters: str, separator: str, pack: Any) -> None:
    (item,) = read(pack(cdx(letters, separator)))
    assert fields(item) == READ


@given(st.permutations(string.ascii_letters), st.integers(0, 40))
def test_columns_in_any_order(letters: list[str], left_out: int) -> None:
    some = [letter for n, letter in enumerate(letters) if n >= left_out or letter in "abmsk"]
    (item,) = read(cdx("".join(some)))
    assert fields(item) == READ


@pytest.mark.parametrize(
    "line",
    [
        CDXJ,
        CDXJ.replace(b"{", b"  {"),
        b"!OpenWayback-CDXJ 1.0\n!meta {}\n" + CDXJ,
        CDXJ.replace(b'"200"', b"200"),
        CDXJ.replace(SHA.encode(), b"sha1:" + SHA.encode()),
        CDXJ.rstrip(b"\n"),
        ALONE,
        ALONE.replace(b": ", b":").replace(b", ", b","),
        ALONE.replace(b'"20150914222034"', b"20150914222034").rstrip(b"\n"),
        b"!OpenWayback-CDXJ 1.0\n" + ALONE,
        gzip.compress(CDXJ),
    ],
)
def test_cdxj_of_several_writers(line: bytes) -> None:
    (item,) = read(line)
    assert fields(item) == READ


def test_lines_of_other_records_are_no_captures() -> None:
    lines = [CDXJ.replace(b"text/html", b"warc/" + kind) for kind in KINDS_OF_LINES]
    kinds = [item.kind for item in read(b"".join(lines)) if isinstance(item, Record)]
    assert dict(zip(KINDS_OF_LINES, kinds, strict=True)) == KINDS_OF_LINES


def test_other_records_by_their_fields() -> None:
    """cdxj-indexer writes the records of a WARC like this, all of them or with `warc-type`."""
    info = b'- 20240101000000 {"mime": "application/warc-fields"}\n'
    lines = [CDXJ, info, CDXJ.replace(b"text/html", b"application/warc-fields")]
    for kind in KINDS_OF_LINES:
        lines.append(CDXJ.replace(b"{", b'{"warc-type": "%b", ' % kind))
    kinds = [item.kind for item in read(b"".join(lines)) if isinstance(item, Record)]
    assert kinds == ["index", "warcinfo", "metadata", *KINDS_OF_LINES.values()]


KEY = VALUES["N"].encode()


@pytest.mark.parametrize(
    ("line", "method"),
    [
        (CDXJ.replace(b"{", b'{"method": "POST", "requestBody": "a=1", '), "POST"),
        (CDXJ.replace(b"{", b'{"method": "options", '), "OPTIONS"),
        (ALONE.replace(b"{", b'{"method": "HEAD", '), "HEAD"),
        (CDXJ.replace(b"{", b'{"method": "X-Y", '), "other"),
        (CDXJ.replace(KEY, KEY + b"?__wb_method=put&a=1"), "PUT"),
        (CDXJ.replace(KEY, KEY + b"?a=1&__wb_post_data=Yg=="), "POST"),
        (ALONE.replace(KEY, KEY + b"?__wb_method=post"), "POST"),
        (cdx("NbamskrMSVg").replace(KEY, KEY + b"?__wb_method=post"), "POST"),
        *((CDXJ.replace(b"{", b'{"method": %b, ' % m), "") for m in (b'"GET"', b'"get"', b"null")),
        (CDXJ.replace(b"{", b'{"method": {"a": 1}, '), ""),
        (CDXJ.replace(KEY, KEY + b"?__wb_method=get"), ""),
        (CDXJ.replace(KEY, KEY + b"?__wb_methodical=post"), ""),
    ],
)
def test_answers_to_other_methods_are_no_captures(line: bytes, method: str) -> None:
    (item,) = read(line)
    assert isinstance(item, Record)
    assert (*fields(item), item.method) == (*READ, method)
    counters: Counter[str] = Counter()
    rows = list(extract(io.BytesIO(line + b"\n"), "x", ExtractionOptions(), counters))
    assert (len(rows), counters[f"dropped.capture.method.{method}"]) == (
        (0, 1) if method else (1, 0)
    )


@pytest.mark.parametrize("key", ["h)/?{q}", "h)/?a={", "h)/?{b}={c}", "h)/?{20240101000000"])
def test_braces_in_keys(key: str) -> None:
    line = CDXJ.replace(VALUES["N"].encode(), key.encode())
    for lines in (line, CDXJ + line):
        assert fields(read(lines)[-1]) == READ


@given(st.lists(st.permutations("abmskN"), min_size=2))
def test_indexes_put_together_have_columns_each(orders: list[list[str]]) -> None:
    for first in (b"", CDXJ):
        items = read(first + b"".join(cdx("".join(letters)) for letters in orders))
        assert [fields(item) for item in items] == [READ] * (len(orders) + bool(first))


def test_what_is_not_known() -> None:
    line = b" CDX a b m s k\nhttp://h/ 20240101000000 warc/revisit - -\n"
    assert fields(read(line)[0]) == ("http://h/", "20240101000000", None, "", "")
    line = b'h)/ 20240101000000 {"url": "http://h/", "digest": "sha256:00"}\n'
    assert fields(read(line)[0]) == ("http://h/", "20240101000000", None, "", "sha256:00")


def test_times_may_have_more_digits_than_14() -> None:
    """Also in the first line, by which an index is known."""
    (capture,) = read(CDXJ.replace(CDXJ.split()[1], CDXJ.split()[1] + b"123"))
    assert fields(capture) == fields(read(CDXJ)[0])


def test_parts_of_zipnum_are_members_one_after_the_other() -> None:
    members = [CDXJ.replace(b"/ 2015", b"/%d 2015" % n) * 100 for n in range(20)]
    assert len(read(b"".join(map(gzip.compress, members)))) == 2000


BAD = {
    "few columns": (b"h)/ 20240101000000 http://h/", "3 columns, and 5 in the first line"),
    "many columns": (b"h)/ 20240101000000 http://h/ a b c", "6 columns"),
    "no time": (b"h)/ 2024 http://h/ a 200", "no time of 14 digits ('2024')"),
    "no URI": (b"h)/ 20240101000000 - a 200", "no URI"),
    "no status": (b"h)/ 20240101000000 http://h/ a OK\x1b", "no status ('OK\\x1b')"),
    "long": (b"x" * (LONGEST_LINE + 1), "longer than"),
    "very long": (b"x" * (5 * LONGEST_LINE), "longer than"),
    "bytes": (b"\xff\xfe\0", "1 columns"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_lines_are_counted_with_their_offsets(name: str) -> None:
    bad, detail = BAD[name]
    good = b"h)/ 20240101000000 http://h/ text/html 200\n"
    head = b" CDX N b a m s\n"
    data = head + good + bad + b"\n\n" + good
    first, damage, last = read(data)
    assert isinstance(damage, Damage) and isinstance(last, Record) and isinstance(first, Record)
    assert (first.offset, damage.reason) == (len(head), "bad-line")
    assert damage.offset == data.index(bad + b"\n")
    assert last.offset == len(data) - len(good)
    assert detail in damage.detail
    assert damage.detail.isprintable()


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b"h)/ 20240101000000 {", "JSON"), (b"h)/ 20240101000000 {}", "no URI"),
        (b"h)/", "no `key timestamp"), (b'h)/ 20240101000000 {"url": 1.5}', "no URI"),
        (b'h)/ 20240101000000 {"url": "http://h/", "status": "x"}', "no status"),
        (b'h)/ 2024010100000 {"url": "http://h/"}', "no time"),
        (b"h)/ 20240101000000 {" + b'"a":[' * 20_000, "JSON"),
    ],
)  # fmt: skip
def test_bad_lines_of_cdxj(line: bytes, detail: str) -> None:
    _, damage, _ = read(CDXJ + line + b"\n" + CDXJ)
    assert isinstance(damage, Damage)
    assert detail in damage.detail


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b" CDX N b a mm s k\nx", "the column 'mm', which is no letter"),
        (b" CDX N b m s k\nx", "no column a, the URI"),
        (b" CDX N a m s k\nx", "no column b, the time"),
        (b" CDX N b a m s k r M S V g\n", "not one readable record"),
        (cdx("Nbamsk") + b" CDX N b a mm s k\n", "the column 'mm', which is no letter"),
        (cdx("NbamskrMSVg").partition(b"\n")[2] * 2, "without the line that names its columns"),
        (b"com,a)/ 20240101000000\tcdx-00000.gz\t0\t188224\t1\n", "the parts that it names"),
        (b"com,a)/\tcdx-00000.gz\t0\t188224\n", "the parts that it names"),
        (b'!meta 0 {}\nh)/ 20240101000000 {"offset": 0, "length": 8}\n', "the parts that it names"),
        (b'h)/ 20240101000000 {"offset":0,"length":8,"digest":"x"}\n', "the parts that it names"),
    ],
)
def test_indexes_that_cannot_be_read(data: bytes, words: str) -> None:
    with pytest.raises(BadInput, match="CDX") as caught:
        read(data)
    assert words in str(caught.value)
    assert caught.value.cure


def test_a_gzip_that_is_cut_is_damage() -> None:
    lines = b"".join(
        CDXJ.replace(SHA.encode(), random.Random(n).randbytes(16).hex().encode())
        for n in range(5000)
    )
    items = read(gzip.compress(lines)[:-5000])
    assert len(items) > 3000
    assert [item.reason for item in items if isinstance(item, Damage)][-1] == "truncated"


@given(st.binary(max_size=300), st.sampled_from([b"", b" CDX a b m s k\n", CDXJ]))
def test_any_bytes(data: bytes, before: bytes) -> None:
    try:
        items = read(before + data)
    except BadInput as error:
        assert str(error).isprintable()
    else:
        assert all(item.detail.isprintable() for item in items if isinstance(item, Damage))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_archives_are_no_indexes(pack: Any) -> None:
    for data in (each([page("x")]), b"filedesc://x 0.0.0.0 20240101000000 text/plain 76\n", b""):
        assert kind_of(io.BytesIO(pack(data))) == ""
    assert container(io.BytesIO(pack(CDXJ))).records == "CDXJ"
    assert len(ranges_of(io.BytesIO(CDXJ * 50_000), MAX_RECORD, 1 << 20)) == 1


def test_rows_of_captures() -> None:
    lines = cdx("NbamskrMSVg") + cdx("NbamskrMSVg").replace(b"http://www", b"dns:www")
    counters: Counter[str] = Counter()
    rows = list(extract(io.BytesIO(lines), "x.cdx", ExtractionOptions(), counters))
    offset = str(lines.index(b"\nau") + 1).encode()
    assert rows == [
        Capture(
            VALUES["a"].encode(), b"20150914222034", b"200", b"text/html", f"sha1:{SHA}".encode(),
            b"index", b"x.cdx", offset,
        )
    ]  # fmt: skip
    assert counters["records.index"] == 2
    assert counters["captures"] == counters["captures.index"] == 1
    assert counters["dropped.capture.scheme.dns"] == 1
    assert not [name for name in counters if name.startswith(("pages", "links"))]


def test_a_record_that_calls_itself_an_index_is_none() -> None:
    record = page("x").replace(b"WARC-Type: response", b"WARC-Type: index")
    assert b"index" in record
    counters: Counter[str] = Counter()
    assert not list(extract(io.BytesIO(record), "x.warc", ExtractionOptions(), counters))
    assert not counters[INDEXES]
