"""Runs with CDX and CDXJ files beside archives. warcio makes the indexes, from the archives."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.crawls import MORE_WEB, WEB, crawlrank, ok, write_warc
from support.inputs.archive_samples import page, warc
from support.paths import LOOPBACK
from support.runs import finished, shared_warc
from support.work_folders import manifest_of
from warcio.archiveiterator import ArchiveIterator

from crawlrank.jobs.kernel.formats.datasets import DATASETS

REAL = LOOPBACK
LINK = ("source", "target")
BOTH = pytest.mark.parametrize("runner", ["embedded", "inline"])
#: where the engines read what the same step before them has left
EMBEDDED = pytest.mark.parametrize(
    "runner", ["embedded", pytest.param("inline", marks=pytest.mark.slow)]
)


def captured(archive: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """URI, time, media type, status and digest of each capture, as warcio sees them."""
    with archive.open("rb") as stream:
        for record in ArchiveIterator(stream):
            header = record.rec_headers.get_header
            uri = header("WARC-Target-URI") or ""
            if record.rec_type not in ("response", "resource", "revisit") or "://" not in uri:
                continue
            time = "".join(c for c in header("WARC-Date")[:19] if c.isdigit())
            http = record.http_headers
            status = http.get_statuscode() if http else "-"
            media_type = (http.get_header("Content-Type") if http else "") or "-"
            digest = (header("WARC-Payload-Digest") or "-").removeprefix("sha1:")
            yield uri, time, media_type.partition(";")[0].strip(), status, digest


def cdx(path: Path, archive: Path) -> Path:
    """A CDX of 11 columns, in an order that is not the usual one."""
    lines = [" CDX s N a m b k r M S V g"]
    for uri, time, media_type, status, digest in captured(archive):
        lines.append(f"{status} key {uri} {media_type} {time} {digest} - - 1 2 {archive.name}")
    path.write_text("\n".join(lines) + "\n")
    return path


def cdxj(path: Path, archive: Path) -> Path:
    lines = [
        f"key {time} " + json.dumps({"url": uri, "mime": mime, "status": status, "digest": digest})
        for uri, time, mime, status, digest in captured(archive)
    ]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def rows(dataset: Path, columns: Sequence[str], separator: str) -> Iterator[tuple[str, ...]]:
    """Some columns of a dataset of lines or of Parquet."""
    for part in sorted(dataset.iterdir()):
        if part.suffix == ".parquet":
            table = pq.read_table(part)
            named = [map(str, table[name].to_pylist()) for name in columns]
            yield from zip(*named, strict=True)
        else:
            names = list(DATASETS[dataset.name].columns)
            for line in part.read_text().splitlines():
                fields = line.split(separator)
                yield tuple(fields[names.index(name)] for name in columns)


def spellings(work: Path) -> dict[str, tuple[str, str]]:
    """URI -> captures and time of the last, of those that were captured."""
    spelled = rows(work / "uris", ("uri", "captures", "last"), "\t")
    return {uri: (captures, last) for uri, captures, last in spelled if captures != "0"}


def run(work: Path, *args: object, runner: str = "embedded") -> dict[str, Any]:
    ok("run", *args, "--work", work, *words_of(runner))
    return manifest_of(work)


def words_of(runner: str) -> tuple[object, ...]:
    return ("--runner", runner, "--no-validate", "--iterations", 2, "--jobs", 1, "--quiet")


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("make", "runner"),
    [
        *((cdx, "embedded"), (cdxj, "inline")),
        pytest.param(cdx, "inline", marks=pytest.mark.slow),
        pytest.param(cdxj, "embedded", marks=pytest.mark.slow),
    ],
)
def test_an_index_of_what_is_given_changes_nothing(tmp_path: Path, runner: str, make: Any) -> None:
    index = make(tmp_path / "x.cdx", REAL)
    there = finished(REAL, *words_of(runner))
    alone, both = manifest_of(there), run(tmp_path / "both", index, REAL, runner=runner)
    for name in ("precedence.txt", "precedence.summary.json"):
        assert (tmp_path / "both" / name).read_bytes() == (there / name).read_bytes()
    (entry,) = (e for e in both["archives"].values() if e["path"] == str(index))
    captures = alone["steps"]["extract-links"]["rows"]["captures"]
    assert entry["counters"]["dropped.capture.known"] == captures == len(list(captured(REAL)))
    assert entry["counters"].get("captures", 0) == 0
    assert not [name for name in entry["counters"] if name.startswith("captures")]
    assert both["steps"]["extract-links"]["rows"] == alone["steps"]["extract-links"]["rows"]


@pytest.mark.slow
@pytest.mark.few(1)
@BOTH
def test_an_index_stands_for_an_archive_that_is_not_there(tmp_path: Path, runner: str) -> None:
    """Captures are as if the archive was there; links are those of the other archive alone."""
    other = shared_warc("web.warc.gz", WEB)
    index = cdx(tmp_path / "x.cdx", REAL)
    run(tmp_path / "with", other, index, runner=runner)
    works = {
        "with": tmp_path / "with",
        "both": finished([other, REAL], *words_of(runner)),
        "without": finished(other, *words_of(runner)),
    }
    seen = {name: spellings(work) for name, work in works.items()}
    assert seen["with"] == seen["both"] != seen["without"]
    rows = {name: manifest_of(works[name])["steps"] for name in ("with", "without")}
    links = [steps["extract-links"]["rows"]["links"] for steps in rows.values()]
    assert links[0] == links[1]


@pytest.mark.slow
@EMBEDDED
def test_indexes_that_overlap_and_archives_that_come_later(tmp_path: Path, runner: str) -> None:
    web = write_warc(tmp_path / "web.warc.gz", WEB)
    more = write_warc(tmp_path / "more.warc.gz", MORE_WEB)
    first, second = cdx(tmp_path / "a.cdx", REAL), cdxj(tmp_path / "b.cdxj.gz", REAL)
    third = cdx(tmp_path / "c.cdx", more)
    work = tmp_path / "work"
    manifest = run(work, web, first, second, third, runner=runner)
    counts = len(list(captured(REAL))) + len(list(captured(more))) + len(WEB)
    assert manifest["steps"]["extract-links"]["rows"]["captures"] == counts
    manifest = run(work, web, first, second, third, more, runner=runner)
    assert manifest["steps"]["extract-links"]["rows"]["captures"] == counts
    run(tmp_path / "all", web, more, first, runner=runner)
    assert (work / "precedence.txt").read_bytes() == (tmp_path / "all/precedence.txt").read_bytes()
    before = (work / "manifest.json").stat().st_mtime_ns
    run(work, web, first, second, third, more, runner=runner)
    parts = [path for path in (work / "captures").iterdir() if path.stat().st_mtime_ns > before]
    assert not parts


def test_an_archive_that_could_not_be_read_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index then leaves out what that archive has, as if it had been read at once."""

    def failing() -> None:
        raise ValueError("a record that nobody thought of")

    packed = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br\r\n\r\nbr"
    odd = tmp_path / "odd.warc"
    odd.write_bytes(
        warc(packed, "http://a.example/") + page("<a href=/>x</a>", "http://b.example/")
    )
    given = shared_warc("web.warc.gz", WEB), odd, cdx(tmp_path / "x.cdx", odd)
    with monkeypatch.context() as context:
        context.setattr("brotli.Decompressor", failing)
        words = ("run", *given, "--work", tmp_path / "work", *words_of("embedded"))
        assert crawlrank(*words).code == 3
    counters = [
        entry["counters"]
        for name in ("work", "fresh")
        for entry in run(tmp_path / name, *given)["archives"].values()
        if entry["path"] == str(given[2])
    ]
    assert counters[0] == counters[1]
    assert counters[0]["dropped.capture.known"] == 2
    assert spellings(tmp_path / "work") == spellings(tmp_path / "fresh")


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("rule", "runner"),
    [
        *(("latest", "embedded"), ("latest", "inline"), ("union", "embedded")),
        pytest.param("union", "inline", marks=pytest.mark.slow),
    ],
)
def test_the_links_of_a_page_are_those_that_are_known(
    tmp_path: Path, runner: str, rule: str
) -> None:
    """A later capture that only an index tells of has no links, and hides none; one that says the
    page is gone does."""
    web = shared_warc("web.warc.gz", WEB)
    index = tmp_path / "x.cdx"
    index.write_text(
        " CDX a b s\nhttp://a.example/ 20300101000000 200\n"
        "http://a.example/news 20300101000000 404\n"
    )
    alone = finished(web, *words_of(runner), "--captures", rule)
    run(tmp_path / "with", web, index, "--captures", rule, runner=runner)
    dataset = "selected" if rule == "latest" else "links"
    links = [set(rows(work / dataset, LINK, " ")) for work in (alone, tmp_path / "with")]
    news = {link for link in links[0] if link[0] == "http://a.example/news"}
    assert len(news) == 4
    assert links[0] - links[1] == (news if rule == "latest" else set())


@EMBEDDED
def test_bad_lines_are_listed(tmp_path: Path, runner: str) -> None:
    index = cdx(tmp_path / "x.cdx", REAL)
    index.write_bytes(index.read_bytes() + b"one two\n" * 3)
    manifest = run(tmp_path / "work", REAL, index, runner=runner)
    (entry,) = (e for e in manifest["archives"].values() if e["path"] == str(index))
    assert entry["counters"]["damage.bad-line"] == len(entry["damage"]) == 3
    assert entry["damage"][0][1:] == ["bad-line", "2 columns, and 11 in the first line"]
    said = crawlrank("run", REAL, index, "--work", tmp_path / "strict", "--strict", "--jobs", 1)
    assert (said.code, "bad-line" in said.err) == (3, True)


@pytest.mark.slow
@pytest.mark.few(1)
@BOTH
def test_an_index_alone_has_no_links(tmp_path: Path, runner: str) -> None:
    index = cdx(tmp_path / "x.cdx", REAL)
    said = crawlrank("run", index, "--work", tmp_path / "work", "--runner", runner, "-q")
    assert said.code == 3
    assert f"{index}: an index of captures, which has no links" in said.err
    assert "Give the archives too" in said.err and "--nodes all" in said.err
    assert "export-text" not in said.err
    ok("run", index, "--work", tmp_path / "all", "--nodes", "all")


def test_archives_without_links_are_not_advised_to_be_text(tmp_path: Path) -> None:
    write_warc(tmp_path / "a.warc.gz", {"http://a.example/": []})
    said = crawlrank("run", tmp_path / "a.warc.gz", "--work", tmp_path / "work", "-q")
    assert (said.code, "no links at all" in said.err) == (3, True)
    assert "--nodes all" in said.err and "export-text" not in said.err


def test_inspect_shows_an_index(tmp_path: Path) -> None:
    index = cdx(tmp_path / "x.cdx", REAL)
    told = json.loads(ok("inspect", index, "--json", "-").out)
    assert told["archives"][0]["format"]["records"] == "CDX"
    assert "CDX" in ok("inspect", index).out
