"""Header lines of archives that are not as specified, and that warcio reads: it is the oracle."""

from __future__ import annotations

import io

import pytest
from support.inputs.archive_samples import arc_head, each, page, plain, read, warc
from support.inputs.samples import needs_reference
from support.paths import REFERENCE
from warcio.archiveiterator import ArchiveIterator

from crawlrank.jobs.kernel.archive.record_headers import blank_line
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.errors import BadInput

URI, IP, DATE = "http://h/a", "192.0.2.1", "20031219215023"
BLOCK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/b>"
# name: what stands between URI and length, and the timestamp that it tells
ODD = {
    "no media type": (f"{IP} {DATE} ", DATE),
    "date before IP": (f"{DATE} {IP} text/plain", DATE),
    "date before IP, and no media type": (f"{DATE} {IP} ", DATE),
    "text after the date": ("None 20160211000000jpg text/html", "20160211000000"),
    "text after the date, and an IP": (f"{IP} 20160211000000jpg text/html", "20160211000000"),
    "a checksum for the date": (f"{IP} a0d1fdddf3165d0447b1f7a285c61c1c9 text/html", ""),
    "a checksum of digits first": (f"{IP} 1997fdddf3165d0447b1f7a285c61c1c9 text/html", ""),
    "a short date": (f"{IP} 200312192150 text/html", "20031219215000"),
    "no date": (f"{IP} - text/html", ""),
    "no IP": (f"- {DATE} text/html", DATE),
}


def odd_line(middle: str, uri: str = URI) -> bytes:
    return f"{uri} {middle} {len(BLOCK)}\n".encode() + BLOCK + b"\n"


def of_warcio(data: bytes) -> list[tuple[str, int, bytes]]:
    """(URI, offset of the record or -1, body) of the responses, without HTTP header."""
    iterator = ArchiveIterator(io.BytesIO(data), arc2warc=False)
    seen = []
    for record in iterator:
        body = record.content_stream().read()
        if record.rec_type == "response":
            uri = record.rec_headers.get_header("WARC-Target-URI")
            uri = uri or record.rec_headers.get_header("uri")
            seen.append((uri, iterator.get_record_offset(), body))
    return seen


def of_ours(data: bytes) -> list[tuple[str, int, bytes]]:
    records, damage = read(data)
    assert not damage
    return [(item.uri, item.offset, item.body) for item in records if item.kind == "response"]


@pytest.mark.parametrize("wrap", [plain, each])
@pytest.mark.parametrize("name", ODD)
def test_arc_lines(name: str, wrap: object) -> None:
    middle, timestamp = ODD[name]
    usual = odd_line(f"{IP} {DATE} text/html", "http://h/last")
    data = wrap([arc_head(), odd_line(middle), usual])  # type: ignore[operator]
    assert of_ours(data) == of_warcio(data)
    assert [r.timestamp for r in read(data)[0]] == ["20240506070809", timestamp, DATE]


@pytest.mark.parametrize("name", ODD)
def test_uris_with_blanks(name: str) -> None:
    data = arc_head() + odd_line(ODD[name][0], "http://h/a b  c?d e")
    assert of_ours(data) == of_warcio(data)


@pytest.mark.parametrize("fields", [f"{IP} {DATE}", f"{DATE} {IP}"])
def test_media_types_with_blanks(fields: str) -> None:
    """warcio takes the last words of a line for its fields, and so a URI that is longer."""
    (_, record), damage = read(arc_head() + odd_line(f"{fields} text/html; charset=x"))
    assert (record.uri, record.timestamp, damage) == (URI, DATE, [])


@pytest.mark.parametrize("name", [name for name, (middle, _) in ODD.items() if IP in middle])
def test_such_a_record_is_met_behind_damage(name: str) -> None:
    """Where the place is not sure, a line must have a date and an IP."""
    data = (
        arc_head()
        + odd_line(f"{IP} {DATE} text/html").replace(b" 57", b" 49")
        + odd_line(ODD[name][0], "http://h/next")
    )
    uris = [item.uri for item in read(data)[0]]
    assert uris[-1] == "http://h/next" or not ODD[name][1] or "short" in name


def doubled(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\r\r\n")


@pytest.mark.parametrize("wrap", [plain, each])
def test_lines_that_were_converted_twice(wrap: object) -> None:
    """CR CR LF, as of a file that was taken for text; lengths count what is there."""
    block = doubled(BLOCK)
    head = f"WARC/1.0\r\r\nWARC-Type: response\r\r\nWARC-Target-URI: {URI}\r\r\n"
    head += f"Content-Type: application/http\r\r\nContent-Length: {len(block)}\r\r\n\r\r\n"
    record = head.encode() + block + b"\r\r\n\r\r\n"
    data = wrap([record, record, page("x", "http://h/last")])  # type: ignore[operator]
    assert of_ours(data) == of_warcio(data)
    assert [r.status for r in read(data)[0]] == [200] * 3


def test_where_a_header_ends() -> None:
    for blank in (b"\n\n", b"\n\r\n", b"\n\r\r\n"):
        for later in (b"\n\n", b"\n\r\n", b"\n\r\r\n"):
            data = b"A: b" + blank + b"c" + later
            assert blank_line(data, 0, len(data)) == 4 + len(blank)
            assert blank_line(data, 0, 4 + len(blank) - 1) == 0
    assert blank_line(b"a\n\r\r\r\n", 0, 6) == 0


def test_a_page_that_quotes_such_lines_is_no_archive_of_them() -> None:
    quoted = b"\n".join(f"{URI} {middle} 5".encode() for middle, _ in ODD.values())
    data = arc_head() + odd_line(f"{IP} {DATE} text/html") + page(quoted, "http://h/quoting")
    assert [item.uri for item in read(data)[0]] == ["filedesc://x.arc", URI, "http://h/quoting"]


@needs_reference
def test_real_files() -> None:
    paths = sorted((REFERENCE / "finds").glob("cdxwriter-*")) or pytest.skip("no such files here")
    paths += [REFERENCE / "finds" / "pywb-missing-status-text.warc"]
    for path in paths:
        data = path.read_bytes()
        records = [r for r in read_records(io.BytesIO(data), path.name) if isinstance(r, Record)]
        mine = [(r.offset, len(r.body)) for r in records if r.kind == "response" and r.status]
        theirs = [(at, len(body)) for uri, at, body in of_warcio(data) if not uri.endswith(".txt")]
        assert mine == theirs


# what a file ends with: a header without its empty line; and the reasons of damage
WITHOUT_EMPTY_LINE = {
    "folded lines": (b"WARC/1.0\nWARC-Type: metadata\nFold: a\n b\nContent-Length: 0\n", []),
    "fields twice": (
        b"WARC/1.0\r\nWARC-Type: metadata\r\nWARC-Type: metadata\r\n"
        b"Content-Length: 483\r\nContent-Length: 483\r\n",
        ["truncated"],
    ),
    "empty fields": (b"WARC/1.0\r\nWARC-Type:\r\nContent-Length:\r\nX:\r\n", ["bad-length"]),
    "a cut field": (b"WARC/1.0\r\nContent-Length: 0\r\nWARC-Type: me", None),
    "no length": (b"WARC/1.0\r\nWARC-Type: metadata\r\n", None),
}


@pytest.mark.parametrize("before", [b"", plain([page(URI)])])
@pytest.mark.parametrize("name", WITHOUT_EMPTY_LINE)
def test_a_header_without_its_empty_line(name: str, before: bytes) -> None:
    header, reasons = WITHOUT_EMPTY_LINE[name]
    if reasons is None and not before:
        with pytest.raises(BadInput, match="not one readable record"):
            read(header)
        return
    records, damage = read(before + header)
    assert len(records) == bool(before) + (reasons is not None)
    assert [each.reason for each in damage] == (["truncated"] if reasons is None else reasons)


#: of a revisit: the profile, the HTTP message, and the status that it has
PROFILES = [
    ("revisit/server-not-modified", b"", 304),
    ("revisit/Server-Not-Modified", b"", 304),
    ("revisit/server-not-modified", b"HTTP/1.1 200 OK\r\n\r\n", 200),
    ("revisit/identical-payload-digest", b"", None),
]


@pytest.mark.parametrize(("profile", "block", "status"), PROFILES)
def test_a_profile_tells_the_status_where_no_http_header_does(
    profile: str, block: bytes, status: int | None
) -> None:
    extra = f"WARC-Profile: http://netpreserve.org/warc/1.1/{profile}\r\n"
    (record,), damage = read(warc(block, kind="revisit", extra=extra))
    assert (record.status, damage) == (status, [])


def test_a_folded_line_of_blanks_alone_ends_no_header() -> None:
    extra = "X: a\r\n  \r\n\t\r\nWARC-Record-ID: <urn:x>\r\n"
    (record,), damage = read(warc(BLOCK, URI, extra=extra))
    assert (record.uri, record.record_id, record.body, damage) == (
        URI,
        "<urn:x>",
        b"<a href=/b>",
        [],
    )
