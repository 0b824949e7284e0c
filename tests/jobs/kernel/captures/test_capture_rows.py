"""via and hops of captures: from made archives, and against warcio's reading of real crawls."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.inputs.archive_samples import extracted, page, plain, warc
from support.inputs.samples import needs_reference
from support.paths import DATA, REFERENCE
from warcio.archiveiterator import ArchiveIterator

from crawlrank.jobs.kernel.captures.capture_rows import WAITING
from crawlrank.jobs.kernel.formats.lines import format_capture, parse_capture

ID = "WARC-Record-ID: <urn:uuid:{}>\r\n"
OF = "WARC-Concurrent-To: <urn:uuid:{}>\r\n"
TOLD = (b"http://h/from", b"LLR")
LINES = b"via: http://h/from\r\nhopsFromSeed: LLR\r\noutlink: http://h/x L a/@href\r\n"


def capture(number: int) -> bytes:
    return page("", f"http://h/{number}", extra=ID.format(number))


def metadata(number: int, lines: bytes = LINES, uri: str = "http://elsewhere/") -> bytes:
    fields = {"media_type": "application/warc-fields", "extra": OF.format(number)}
    return warc(lines, uri, "metadata", **fields)  # type: ignore[arg-type]


def told(*records: bytes, **options: object) -> list[tuple[bytes, bytes]]:
    return [(row.via, row.hops) for row in extracted(plain(records), **options)[1]]


@pytest.mark.parametrize("outlinks", ["auto", "html", "metadata", "both"])
def test_in_either_order_whatever_links_are_read(outlinks: str) -> None:
    assert told(capture(1), metadata(1), outlinks=outlinks) == [TOLD]
    assert told(metadata(1), capture(1), outlinks=outlinks) == [TOLD]


def test_rows_stay_in_the_order_of_the_archive() -> None:
    records = [capture(1), capture(2), capture(3), metadata(3), metadata(1), capture(4)]
    _, rows, _, counters = extracted(plain(records))
    assert [row.uri[-1:] for row in rows] == [b"1", b"2", b"3", b"4"]
    assert [row.via for row in rows] == [TOLD[0], b"-", TOLD[0], b"-"]
    assert counters["metadata.unmatched"] == 0


def test_uri_and_time_stand_in_for_an_id_that_is_nowhere() -> None:
    stray = metadata(99, uri="http://h/1")
    assert told(capture(1), stray) == told(stray, capture(1)) == [TOLD]
    assert told(capture(2), stray) == [(b"-", b"-")]
    assert extracted(capture(2) + stray)[3]["metadata.unmatched"] == 1


def test_the_id_goes_before_uri_and_time() -> None:
    """Two captures of a page in one second, each with its record."""
    twice = [page("", "http://h/", extra=ID.format(number)) for number in (1, 2)]
    other = LINES.replace(b"LLR", b"E")
    described = [metadata(1, uri="http://h/"), metadata(2, other, "http://h/")]
    hops = [b"LLR", b"E"]
    assert [row[1] for row in told(*twice, *described)] == hops
    assert [row[1] for row in told(*described, *twice)] == hops
    assert [row[1] for row in told(*twice, *described[::-1])] == hops


def test_waiting_is_bounded() -> None:
    others = [capture(number) for number in range(2, WAITING + 2)]
    assert told(capture(1), *others[:-1], metadata(1))[0] == TOLD
    assert told(capture(1), *others, metadata(1))[0] == (b"-", b"-")
    strays = [metadata(number, uri=f"http://h/{number}") for number in range(1, WAITING + 2)]
    _, rows, _, counters = extracted(plain([*strays, capture(1), capture(WAITING + 1)]))
    assert [row.via for row in rows] == [b"-", TOLD[0]]
    assert counters["metadata.unmatched"] == WAITING


def test_what_is_not_told_or_hostile() -> None:
    assert told(capture(1), metadata(1, b"seed: \r\nfetchTimeMs: 1\r\n")) == [(b"-", b"-")]
    lines = b"via: http://h/a b\x1b\tc\r\nhopsFromSeed: L\x00L\r\n"
    assert told(capture(1), metadata(1, lines)) == [(b"http://h/a%20b%1B%09c", b"L%00L")]
    late = b"outlink: http://h/x L a/@href\r\n" * 5000 + LINES
    assert told(capture(1), metadata(1, late)) == [(b"-", b"-")]


def test_lines_come_back_and_older_ones_are_read() -> None:
    (row,) = extracted(capture(1) + metadata(1))[1]
    line = format_capture(row)
    assert parse_capture(line) == row
    older = parse_capture(line.rpartition(b"\t")[0].rpartition(b"\t")[0])
    assert older == row._replace(via=b"-", hops=b"-")


def read_by_warcio(path: Path) -> dict[str, tuple[str, str]]:
    """For each capture's id, the fields of the metadata record that names it."""
    fields: dict[str, dict[str, str]] = {}
    captures = []
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream):
            header, uri = record.rec_headers, record.rec_headers.get("WARC-Target-URI") or ""
            if record.rec_type == "metadata":
                text = record.content_stream().read().decode("latin-1")
                pairs = [line.split(": ", 1) for line in text.splitlines() if ": " in line]
                fields[header.get("WARC-Concurrent-To")] = dict(reversed(pairs))  # type: ignore[arg-type]
            elif record.rec_type in ("response", "revisit") and uri.startswith("http"):
                captures.append((uri, header.get("WARC-Record-ID")))
    return {
        uri: (fields[name].get("via", "-"), fields[name].get("hopsFromSeed", "-"))
        for uri, name in captures
        if name in fields
    }


REAL = {
    DATA / "heritrix" / "first.warc.gz": 64,
    REFERENCE / "archives/archivesunleashed-aut/warc__example.warc.gz": 261,
    REFERENCE / "archives/oduwsdl-ipwb/samples__warcs__mkelly2.warc": 1,
}


@needs_reference
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
@pytest.mark.parametrize("outlinks", ["auto", "html"])
def test_real_crawls_as_warcio_reads_them(path: Path, outlinks: str) -> None:
    expected = read_by_warcio(path)
    assert len(expected) >= REAL[path] - 1  # a dns record is no capture
    _, rows, _, counters = extracted(path, outlinks=outlinks)
    found = {row.uri.decode(): (row.via.decode(), row.hops.decode()) for row in rows}
    assert {uri: found[uri] for uri in expected} == expected
    assert counters["metadata.unmatched"] == 0


@needs_reference
def test_hops_are_those_of_heritrix_own_log() -> None:
    """Its crawl.log has them too: the fourth column is the URI, then the hops, then via."""
    lines = (REFERENCE / "heritrix" / "first.crawl.log").read_text().splitlines()
    logged = {words[3]: (words[5], words[4]) for words in map(str.split, lines)}
    _, rows, _, _ = extracted(DATA / "heritrix" / "first.warc.gz")
    assert len(rows) == 64
    for row in rows:
        assert (row.via.decode(), row.hops.decode()) == logged[row.uri.decode()]
