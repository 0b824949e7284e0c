"""Records: the same from every wrapping, nothing lost after damage, bounded, silent."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import examples
from support.inputs.archive_samples import (
    FRAME_A_RECORD,
    HTML,
    WRAPPINGS,
    arc,
    arc_head,
    each,
    each_lz4,
    each_zstd,
    page,
    plain,
    read,
    warc,
    whole,
    whole_lz4,
    whole_zstd,
    with_dictionary,
    zstd,
)
from support.inputs.samples import needs_reference
from support.paths import REFERENCE, ROOT, SMALL_ARCHIVES
from warcio.archiveiterator import ArchiveIterator

from crawlrank.jobs.kernel.archive.damage import REASONS, Damage
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import opened

# Bodies that look like records or members are believed where the lengths around them are right.
BODIES = st.lists(
    st.one_of(
        st.binary(max_size=300).filter(lambda body: body[:2] != b"\x1f\x8b"),  # gets inflated
        st.sampled_from(
            [b"", b"\r\n\r\n", b"WARC/1.0\r\nA: b\r\n\r\n", b"-" + gzip.compress(page("x"))]
        ),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@given(
    BODIES,
    st.sampled_from([name for name in WRAPPINGS if not name.endswith("blocks")]),
    st.sampled_from(["0.17", "0.18", "1.0", "1.1"]),
)
def test_every_wrapping_gives_the_same(bodies: list[bytes], wrapping: str, version: str) -> None:
    archive = [warc(HTML + body, f"http://h/{n}", version=version) for n, body in enumerate(bodies)]
    records, damage = read(WRAPPINGS[wrapping](archive))
    assert damage == []
    assert [record.body for record in records] == bodies
    assert [record.uri for record in records] == [f"http://h/{n}" for n in range(len(bodies))]
    assert {(r.kind, r.status, r.timestamp, r.media_type) for r in records} == {
        ("response", 200, "20240506070809", "text/html")
    }


@given(BODIES, st.sampled_from([1, 2]), st.sampled_from(["plain", "each", "whole"]))
def test_both_versions_of_arc(bodies: list[bytes], version: int, wrapping: str) -> None:
    archive = [
        arc(HTML + body, f"http://h/a b{n}", version=version) for n, body in enumerate(bodies)
    ]
    records, damage = read(WRAPPINGS[wrapping]([arc_head(version), *archive]))
    assert damage == []
    assert [record.kind for record in records] == ["warcinfo"] + ["response"] * len(bodies)
    assert [record.body for record in records[1:]] == bodies
    assert records[1].uri == "http://h/a b0"
    assert (records[1].status, records[1].timestamp) == (200, "20240506070809")


@given(st.lists(st.text("<a>", max_size=200), min_size=1, max_size=6))
def test_members_that_end_inside_records(bodies: list[str]) -> None:
    for archive in ([page(b) for b in bodies], [arc_head(), *(arc(b.encode()) for b in bodies)]):
        for wrapping in ("blocks", "zstd-blocks"):
            records, damage = read(WRAPPINGS[wrapping](archive))
            assert damage == []
            assert [record.body.decode() for record in records][-len(bodies) :] == bodies


def test_an_arc_body_without_http_header() -> None:
    records, damage = read(arc_head() + arc(b"<html>x</html>"))
    assert (records[1].body, records[1].status, damage) == (b"<html>x</html>", None, [])
    assert records[1].media_type == "text/html"


def test_offsets_find_the_record_again() -> None:
    archive = [page(f"<p>{n}") for n in range(5)]
    for data in (plain(archive), each(archive), each_zstd(archive), each_lz4(archive)):
        assert len({record.offset for record in read(data)[0]}) == 5
        for record in read(data)[0]:
            assert read(data[record.offset :])[0][0].body == record.body
    sizes = [len(record) for record in archive]
    for data in (whole(archive), whole_zstd(archive), whole_lz4(archive)):
        assert [r.offset for r in read(data)[0]] == [sum(sizes[:n]) for n in range(5)]


def _as_warcio_reads(path: Path) -> list[tuple[str, str, int, int]] | None:
    """(kind, URI, offset, size of the HTTP body); None where warcio raises or complains."""
    found = []
    said = io.StringIO()
    with path.open("rb") as stream, contextlib.redirect_stderr(said):
        try:
            iterator = ArchiveIterator(stream, arc2warc=False)
            for record in iterator:
                kind = "warcinfo" if record.rec_type == "arc_header" else record.rec_type
                headers = record.rec_headers
                uri = headers.get_header("WARC-Target-URI") or headers.get_header("uri") or ""
                size = len(record.raw_stream.read())
                found.append((kind, uri, iterator.get_record_offset(), size))
        except Exception:  # noqa: BLE001 (whatever it raises, it is no oracle for this file)
            return None
    return None if said.getvalue() else found


def _same_as_warcio(path: Path) -> bool:
    oracle = _as_warcio_reads(path)
    items: list[Record | Damage] = []
    if oracle is None:
        return False
    with path.open("rb") as stream, contextlib.suppress(BadInput):
        items = list(read_records(stream, path.name))
    records = [item for item in items if isinstance(item, Record)]
    if not items or len(records) < len(items):
        return False
    seen = [(record.kind, record.uri, record.offset) for record in records]
    uris = [(kind.strip().lower(), uri.replace("%20", " ").strip()) for kind, uri, _, _ in oracle]
    assert [(kind, uri.replace("%20", " ").strip()) for kind, uri, _ in seen] == uris
    assert [offset for _, _, offset in seen] == [offset for _, _, offset, _ in oracle]
    for record, (kind, _, _, size) in zip(records, oracle, strict=True):
        coded = {"transfer-encoding", "content-encoding"} & {
            k.lower() for k, _ in record.http_headers
        }
        if kind in ("response", "resource") and not coded and record.status is not None:
            assert len(record.body) == size
    return True


def test_like_warcio_where_warcio_reads_on() -> None:
    same = [path.name for path in sorted(SMALL_ARCHIVES.glob("*arc*")) if _same_as_warcio(path)]
    assert len(same) >= 10


@needs_reference
@pytest.mark.slow
def test_like_warcio_on_the_reference_archives() -> None:
    paths = [path for path in sorted((REFERENCE / "archives").glob("*/*")) if path.is_file()]
    assert sum(map(_same_as_warcio, paths)) >= 70


ARCHIVE = [page(f'<a href="/{n}">' + "x" * 50, f"http://h/{n}") for n in range(4)]
BROKEN = {
    "too short": (page("y" * 40, "http://h/b", length=60), "bad-length"),
    "too long": (page("y" * 40, "http://h/b", length=200), "bad-length"),
    "beyond the end": (page("y" * 40, "http://h/b", length=10**9), "bad-length"),
    "into a header": (page("y" * 40, "http://h/b", length=96), "bad-length"),
    "missing": (page("y" * 40, "http://h/b", length=""), "bad-length"),
    "negative": (page("y" * 40, "http://h/b", length="-1"), "bad-length"),
    "no number": (page("y" * 40, "http://h/b", length="٣"), "bad-length"),
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("name", BROKEN)
def test_a_false_length_costs_nothing(name: str, wrapping: str) -> None:
    broken, reason = BROKEN[name]
    records, damage = read(WRAPPINGS[wrapping]([*ARCHIVE[:2], broken, *ARCHIVE[2:]]))
    assert [record.uri for record in records] == [f"http://h/{n}" for n in (0, 1, "b", 2, 3)]
    assert records[2].body == b"y" * 40
    if wrapping not in FRAME_A_RECORD or name not in (
        "too long",
        "beyond the end",
        "into a header",
    ):
        assert [item.reason for item in damage] == [reason]
    else:  # a member of its own ends where it ends
        assert [item.reason for item in damage] in (["truncated"], ["bad-length"])


@pytest.mark.parametrize(
    "garbage", [b"garbage\n" * 9, b"\x1f\x8b\x08" * 9, b"WARC/1.0\r\n\r\n", b"\0"]
)
@pytest.mark.parametrize("wrap", [plain, each, each_zstd, each_lz4])
def test_garbage_between_records(garbage: bytes, wrap: object) -> None:
    assert callable(wrap)
    records, damage = read(wrap(ARCHIVE[:2]) + garbage + wrap(ARCHIVE[2:]))
    assert [record.uri for record in records] == [f"http://h/{n}" for n in range(4)]
    assert len(damage) == 1


def test_a_broken_member_costs_itself_only() -> None:
    members = [gzip.compress(record, mtime=0) for record in ARCHIVE]
    for place in range(len(members[1])):
        broken = bytearray(members[1])
        broken[place] ^= 0x55
        records, damage = read(members[0] + bytes(broken) + members[2] + members[3])
        uris = [record.uri for record in records]
        assert uris[0] == "http://h/0"
        assert uris[-2:] == ["http://h/2", "http://h/3"]
        assert damage or len(uris) == 4  # time and system bytes of a gzip header are free


def test_a_wrong_checksum_keeps_the_record() -> None:
    member = bytearray(gzip.compress(ARCHIVE[0]))
    member[-8] ^= 1
    records, damage = read(bytes(member))
    assert [record.body for record in records] == [b'<a href="/0">' + b"x" * 50]
    assert [item.reason for item in damage] == ["bad-gzip"]


@pytest.mark.few(4)
@pytest.mark.parametrize("wrapping", sorted(WRAPPINGS))
def test_a_cut_keeps_what_is_before(wrapping: str) -> None:
    data = WRAPPINGS[wrapping](ARCHIVE)
    framed = wrapping in ("plain", *FRAME_A_RECORD)
    offsets = [record.offset for record in read(data)[0]] if framed else []
    # a block of zstd and lz4 inflates as a whole or not at all
    nothing = {"whole-zstd": len(data), "whole-lz4": len(data), "zstd-blocks": 600}
    for cut in range(1, len(data), 7):
        try:
            records, _ = read(data[:cut])
        except BadInput:
            assert cut < nothing.get(wrapping, max(260, *offsets[1:2]) if framed else 260)
            continue
        assert [r.uri for r in records] == [f"http://h/{n}" for n in range(len(records))]
        whole_ones = sum(end <= cut for end in offsets[1:])
        assert len(records) >= whole_ones
        assert all(r.body.endswith(b"x" * 50) for r in records[:whole_ones])


def test_too_large_records_are_captures_without_body() -> None:
    large = page("z" * 5000, "http://h/large")
    for wrapping in WRAPPINGS.values():
        records, damage = read(wrapping([ARCHIVE[0], large, ARCHIVE[1]]), max_record=1000)
        assert [record.uri for record in records] == ["http://h/0", "http://h/large", "http://h/1"]
        assert (records[1].status, records[1].body) == (200, b"")
        assert [item.reason for item in damage] == ["record-too-large"]


def test_bombs_stop_at_the_bound() -> None:
    bomb = gzip.compress(ARCHIVE[0] + b"\0" * 30_000_000)
    records, damage = read(bomb + gzip.compress(ARCHIVE[1]), max_record=2**20)
    assert [record.uri for record in records] == ["http://h/0", "http://h/1"]
    assert [item.reason for item in damage] == ["bad-header", "bomb"]


def test_the_format_is_told_by_content_and_may_change() -> None:
    records, damage = read(
        plain(ARCHIVE[:1])
        + each(ARCHIVE[1:2])
        + arc(HTML + b"<p>", "http://h/arc")
        + each_lz4(ARCHIVE[2:3])
        + with_dictionary(ARCHIVE[3:])
    )
    paths = [record.uri.rpartition("/")[2] for record in records]
    assert paths == ["0", "1", "arc", "2", "3"]
    assert damage == []


def test_fields_of_a_record() -> None:
    extra = (
        "WARC-Record-ID: <urn:uuid:1>\r\nWARC-Concurrent-To: <urn:uuid:2>\r\n"
        "warc-concurrent-to: <urn:uuid:3>\r\nWARC-Refers-To: <urn:uuid:4>\r\n"
        "WARC-Payload-Digest: sha1:\r\n\tABC\r\n"
    )
    records, _ = read(warc(b"", "<http://h/>", "Revisit", extra=extra))
    record = records[0]
    assert (record.kind, record.uri, record.record_id) == ("revisit", "http://h/", "<urn:uuid:1>")
    assert record.concurrent_to == ("<urn:uuid:2>", "<urn:uuid:3>")
    assert (record.refers_to, record.digest.replace("\t", "")) == ("<urn:uuid:4>", "sha1:ABC")


NO_ARCHIVES = {
    "empty": (b"", "an empty file"),
    "text": (b"hello\n" * 100, "'hello"),
    "zip": (b"PK\x03\x04" + b"\0" * 50, "Unzip it"),
    "bzip2": (bz2.compress(page("x")), "a bzip2 file"),
    "xz": (lzma.compress(page("x")), "an xz file"),
    "cdx": (b" CDX N b a m s k r M S V g\n", "a CDX index"),
    "lz4": (b"\x04\x22\x4d\x18xxxx", "an lz4 file"),
    "zstd of text": (zstd(b"hello"), "a zstd file"),
    "gzip of text": (gzip.compress(b"hello"), "a gzip file"),
    "cut gzip": (gzip.compress(page("x"))[:9], "a gzip file"),
    "escape": (b"\x1b[31m", "bytes that are no text"),
}


@pytest.mark.parametrize("name", NO_ARCHIVES)
def test_no_archive(name: str) -> None:
    data, said = NO_ARCHIVES[name]
    with pytest.raises(BadInput) as raised:
        read(data)
    assert said in str(raised.value)
    assert "\x1b" not in str(raised.value)
    assert raised.value.where == "test.warc"


def test_missing_files(tmp_path: Path) -> None:
    for path in (tmp_path / "no.warc", tmp_path):
        with pytest.raises(BadInput, match="cannot be read"):
            opened(path)


class _Pipe(io.BytesIO):
    def seekable(self) -> bool:
        return False

    def seek(self, place: int, whence: int = 0) -> int:
        raise OSError("a pipe")


def test_a_pipe_is_read_too() -> None:
    items = list(read_records(_Pipe(each(ARCHIVE)), "-"))
    assert len(items) == len(ARCHIVE)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    for path in sorted(SMALL_ARCHIVES.glob("*arc*")):
        with opened(path) as stream:
            assert list(read_records(stream, path.name))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("seed", range(8))
def test_mutated_archives(seed: int) -> None:
    """Flips, cuts and splices: no exception but BadInput, no other reason than those listed."""
    rng = random.Random(seed)
    files = [path.read_bytes() for path in sorted(SMALL_ARCHIVES.glob("*arc*"))]
    files += [WRAPPINGS[name](ARCHIVE) for name in WRAPPINGS for _ in range(3)]
    for _ in range(examples(60)):
        data = bytearray(rng.choice(files))
        for _ in range(rng.choice([1, 1, 2, 5])):
            place, other = rng.randrange(len(data)), rng.choice(files)
            start = rng.randrange(len(other))
            change = rng.randrange(4)
            if change == 0:
                data[place] ^= 1 << rng.randrange(8)
            elif change == 1:
                del data[place : place + rng.choice([1, 10, 1000])]
            elif change == 2:
                data[place:place] = other[start : start + rng.choice([3, 100, 20000])]
            else:
                del data[place + 1 :]
        with contextlib.suppress(BadInput):
            damage = read(bytes(data) or b"x", max_record=rng.choice([500, 2**26]))[1]
            assert {item.reason for item in damage} <= set(REASONS)
            assert all(item.detail.isprintable() for item in damage)


def test_the_docs_name_every_reason() -> None:
    text = (ROOT / "docs" / "bad-input.md").read_text()
    for reason, meaning in REASONS.items():
        assert f"| `{reason}` | {meaning} |" in text
