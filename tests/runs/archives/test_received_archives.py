"""Archives from standard input, and records that an index names: the results are those of files."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.crawls import MORE_WEB, WEB, Said, checked, crawlrank, ok, process, write_warc
from support.inputs.archive_samples import DICTIONARY, PAGES, with_dictionary, zstd
from support.paths import LOOPBACK, SMALL_ARCHIVES
from support.systems.web_server import WebServer, certificate
from support.work_folders import manifest_of

from crawlrank.jobs.kernel.archive.range_lists import HEAD, SUFFIX, IndexOfRanges, WrongLine
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_archives, read_records
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.web.connections import BUNDLE
from crawlrank.pipeline.cli import main
from crawlrank.pipeline.workfolder import index_ranges
from crawlrank.pipeline.workfolder.index_ranges import write_range_lists

EXAMPLE = SMALL_ARCHIVES / "test__data__example.warc.gz"
QUICK = ("--no-validate", "--quiet", "--iterations", 2, "--jobs", 1)
FOLDER = "crawl-data/CC-MAIN-2024-33/warc/"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """A server with two archives in FOLDER."""
    pem, key = certificate(tmp_path_factory.mktemp("certificate"))
    with WebServer((pem, key)).running() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv(BUNDLE, str(pem))
        for path in (LOOPBACK, EXAMPLE):
            server.put(f"/{FOLDER}{path.name}", path.read_bytes())
        yield server


def ranges_of(path: Path, kind: str = "response") -> list[tuple[Record, int]]:
    """The records of a kind with their sizes in the file, where each is a member of gzip."""
    with path.open("rb") as file:
        items = [item for item in read_records(file, path.name) if isinstance(item, Record)]
    ends = [item.offset for item in items[1:]] + [path.stat().st_size]
    pairs = zip(items, ends, strict=True)
    return [(item, end - item.offset) for item, end in pairs if item.kind == kind]


def line(path: Path, record: Record, size: int) -> str:
    """A line as the index server of Common Crawl writes it."""
    place = {"filename": FOLDER + path.name, "offset": str(record.offset), "length": str(size)}
    facts = {"urlkey": "com,example)/", "timestamp": record.timestamp, "url": record.uri}
    return json.dumps({**facts, "status": str(record.status), "mime": "text/html", **place})


def as_cdxj(text: str) -> str:
    values = json.loads(text)
    return f"{values.pop('urlkey')} {values.pop('timestamp')} {json.dumps(values)}"


def as_table(text: str) -> str:
    """The names and types of the columns of Common Crawl's index."""
    values = json.loads(text)
    return json.dumps({
        "url": values["url"], "warc_filename": values["filename"],
        "warc_record_offset": int(values["offset"]), "warc_record_length": int(values["length"]),
    })  # fmt: skip


def archives_of(work: Path) -> list[dict[str, Any]]:
    return list(manifest_of(work)["archives"].values())


def captures(*args: object, output: Path) -> list[list[str]]:
    """The rows of captures that extract-links writes."""
    extra = ("--output", output / "links.txt", "--captures", output / "captures.txt", "--jobs", 1)
    ok("step", "extract-links", *args, *extra)
    return [row.split("\t") for row in (output / "captures.txt").read_text().splitlines()]


def piped(data: bytes, *args: object) -> Said:
    """A command that gets the data at standard input."""
    words = [str(arg) for arg in args]
    result = CliRunner().invoke(main, words, input=data, catch_exceptions=False)
    return checked(Said(result.exit_code, result.stdout, result.stderr))


@pytest.mark.parametrize("form", [str, as_cdxj, as_table])
def test_only_the_records_that_an_index_names_are_read(
    web: WebServer, tmp_path: Path, form: Any
) -> None:
    """Compared with the same records in an extraction of the whole archives."""
    wanted = [(path, *each) for path in (LOOPBACK, EXAMPLE) for each in ranges_of(path)[::2]]
    lines = [form(line(*each)) for each in reversed(wanted)]
    (tmp_path / "index").write_text("\n".join([*lines, lines[0]]) + "\n")
    base = web.url("")
    web.asked.clear()
    read = captures(
        "--archives-from", tmp_path / "index", "--prefix", base, "--allow-private", output=tmp_path
    )  # fmt: skip
    places = {(path.name, str(record.offset)) for path, record, _ in wanted}
    whole = captures(LOOPBACK, EXAMPLE, output=tmp_path)
    facts = [row[:8] for row in read]  # the others are of records that the index does not name
    assert sorted(facts) == sorted(row[:8] for row in whole if tuple(row[6:8]) in places)
    asked = {(path, ranges) for path, ranges, _ in web.asked}
    assert asked == {
        (f"/{FOLDER}{path.name}", f"bytes={record.offset}-{record.offset + size - 1}")
        for path, record, size in wanted
    }
    assert len(web.asked) == len(wanted) > 10


def test_records_side_by_side_are_one_request(web: WebServer, tmp_path: Path) -> None:
    both = sorted(
        (record.offset, record, size)
        for kind in ("response", "request")
        for record, size in ranges_of(LOOPBACK, kind)
    )
    lines = [line(LOOPBACK, record, size) for _, record, size in both]
    runs = 1 + sum(before + size != begin for (before, _, size), (begin, *_) in pairwise(both))
    (tmp_path / "index").write_text("\n".join(lines))
    web.asked.clear()
    ok("inspect", "--archives-from", tmp_path / "index", "--prefix", web.url(""), "--allow-private")
    assert len(web.asked) == runs < len(both)


@pytest.mark.slow
def test_a_run_on_an_index_is_a_run_on_its_records(tmp_path: Path) -> None:
    """From standard input, with archives in a folder; also when the run is given again."""
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / LOOPBACK.name).write_bytes(LOOPBACK.read_bytes())
    index = "\n".join(line(LOOPBACK, *each) for each in ranges_of(LOOPBACK)).encode()
    (tmp_path / "files.warc.gz").write_bytes(b"".join(
        LOOPBACK.read_bytes()[record.offset : record.offset + size]
        for record, size in ranges_of(LOOPBACK)
    ))  # fmt: skip
    ok("run", tmp_path / "files.warc.gz", "--work", tmp_path / "files", *QUICK)
    for data in (index, gzip.compress(index)):
        how = ("--archives-from", "-", "--prefix", tmp_path, "--work", tmp_path / "ranges")
        assert piped(data, "run", *how, *QUICK).code == 0
    listed = [tmp_path / name / "precedence.txt" for name in ("ranges", "files")]
    assert listed[0].read_bytes() == listed[1].read_bytes()
    (entry,) = archives_of(tmp_path / "ranges")
    assert Path(entry["path"]).parent == tmp_path / "ranges/archives"


@pytest.mark.slow
def test_one_command_from_a_query_to_a_ranking(web: WebServer, tmp_path: Path) -> None:
    """The server of the index gives no ranges and no size, as Common Crawl's."""
    index = "\n".join(line(LOOPBACK, *each) for each in ranges_of(LOOPBACK)).encode()
    url = web.put("/CC-MAIN-2024-33-index", index, ranges=False, unsized=True)
    query = f"{url}?url=*.example.com&output=json"
    given = ("--archives-from", query, "--prefix", web.url(""), "--allow-private")
    ok("run", *given, "--work", tmp_path / "w", *QUICK)
    (entry,) = archives_of(tmp_path / "w")
    assert entry["counters"]["captures"] == len(ranges_of(LOOPBACK))
    assert Path(entry["path"]).name.startswith("CC-MAIN-2024-33-index-")
    assert "example.com" not in ok("status", tmp_path / "w").out


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["inline", "local"])
def test_the_jobs_read_both(tmp_path: Path, runner: str) -> None:
    """The embedded engine gives the same."""
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / LOOPBACK.name).write_bytes(LOOPBACK.read_bytes())
    index = tmp_path / "index"
    index.write_text("\n".join(line(LOOPBACK, *each) for each in ranges_of(LOOPBACK)))
    given = ("-", "--archives-from", index, "--prefix", tmp_path)
    for name in (runner, "embedded"):
        how = ("--work", tmp_path / name, "--runner", name, *QUICK)
        assert piped(EXAMPLE.read_bytes(), "run", *given, *how).code == 0
    listed = [tmp_path / name / "precedence.txt" for name in (runner, "embedded")]
    assert listed[0].read_bytes() == listed[1].read_bytes()


WRONG = [
    '{"url": "http://a/", "filename": "a.warc.gz", "offset": "x", "length": "9"}',
    '{"url": "http://a/", "filename": "../a.warc.gz", "offset": "1", "length": "9"}',
    '{"url": "http://a/", "filename": "a.warc.gz", "offs',
]
WHY = [
    "the offset 'x'",
    "the filename '../a.warc.gz', which is no name below a folder",
    "JSON that cannot be read",
]


def test_wrong_lines_are_named_and_counted(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / LOOPBACK.name).write_bytes(LOOPBACK.read_bytes())
    lines = [line(LOOPBACK, *each) for each in ranges_of(LOOPBACK)]
    for number, text in zip((0, 5, 9), WRONG, strict=True):
        lines.insert(number, text)
    (tmp_path / "index.json").write_text("\n".join(lines))
    how = ("--archives-from", tmp_path / "index.json", "--prefix", tmp_path, "--work")
    said = crawlrank("run", *how, tmp_path / "work", "--no-validate", "--iterations", 2)
    assert said.code == 0
    for number, why in zip((1, 6, 10), WHY, strict=True):
        assert f"line {number}: {why}" in said.err
    (entry,) = archives_of(tmp_path / "work")
    assert entry["counters"]["damage.bad-line"] == entry["counters"]["damage"] == 3
    assert [place[1:] for place in entry["damage"]] == [
        ["bad-line", f"line {number}: {why}"]
        for number, why in zip((1, 6, 10), WHY, strict=True)
    ]  # fmt: skip
    offsets = [len("\n".join([*lines[:number], ""])) for number in (0, 5, 9)]
    assert [place[0] for place in entry["damage"]] == offsets
    assert entry["counters"]["captures"] == len(ranges_of(LOOPBACK))
    said = crawlrank("run", *how, tmp_path / "strict", *QUICK, "--strict")
    assert (said.code, "bad-line (line 1: the offset 'x')" in said.err) == (3, True)


def test_a_file_that_an_index_names_has_changed(tmp_path: Path) -> None:
    uri = "http://new.example/"
    copies = [write_warc(tmp_path / f"{n}.warc", {**WEB, uri: [f"{uri}{n}"]}) for n in (1, 2)]
    file = tmp_path / FOLDER / "a.warc"
    file.parent.mkdir(parents=True)
    shutil.copy(copies[0], file)
    lines = [line(file, *each) for each in ranges_of(file)]
    (tmp_path / "index.json").write_text("\n".join(lines))
    how = ("--archives-from", tmp_path / "index.json", "--prefix", tmp_path, "--work")
    ok("run", *how, tmp_path / "work", *QUICK)
    os.utime(file, (1, 1))
    ok("run", *how, tmp_path / "work", *QUICK)
    shutil.copy(copies[1], file)
    said = crawlrank("run", *how, tmp_path / "work", *QUICK)
    assert (said.code, "archives of the earlier run" in said.err) == (3, True)
    ok("run", *how, tmp_path / "work", *QUICK, "--force")
    assert f"{uri}2" in (tmp_path / "work" / "precedence.txt").read_text()


def test_an_index_without_a_record_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("\n".join(WRONG))
    said = crawlrank("inspect", "--archives-from", tmp_path / "index", "--prefix", tmp_path)
    assert said.code == 3
    assert f"3 wrong lines: line 1: {WHY[0]}; line 2: {WHY[1]}" in said.err


def test_ranges_that_are_no_records(tmp_path: Path) -> None:
    """One after the end of its archive, one inside a record, one of a good record, and an archive
    that is missing."""
    (tmp_path / LOOPBACK.name).write_bytes(LOOPBACK.read_bytes())
    record, size = ranges_of(LOOPBACK)[3]
    ranges = [[record.offset, size], [record.offset + 7, 20], [10**9, 50]]
    (tmp_path / "index").write_text("\n".join(
        json.dumps({"filename": LOOPBACK.name, "offset": begin, "length": count})
        for begin, count in ranges[::2] + ranges[1:2]
    ))  # fmt: skip
    # the second lies in the first, so that both are one range
    how = ("inspect", "--archives-from", tmp_path / "index", "--prefix", tmp_path, "--json", "-")
    found = json.loads(ok(*how).out)["archives"][0]
    assert found["captures"]["count"] == 1
    assert found["damage"]["by_reason"] == {"bad-range": 1}
    assert found["damage"]["places"][0]["detail"] == f"{LOOPBACK.name}: an empty file"
    with (tmp_path / "index").open("a") as index:
        index.write('\n{"filename": "no.warc.gz", "offset": 1, "length": 2}')
    said = crawlrank("inspect", "--archives-from", tmp_path / "index", "--prefix", tmp_path)
    assert said.code == 3
    assert "no.warc.gz cannot be read (No such file" in said.err


def test_records_that_need_the_dictionary_of_their_archive(tmp_path: Path) -> None:
    """It is read from the beginning of the archive, whatever ranges are asked for."""
    frames = [zstd(record, DICTIONARY) for record in PAGES]
    archive = with_dictionary(PAGES)
    (tmp_path / "a.warc.zst").write_bytes(archive)
    begin = len(archive) - len(frames[-1])
    line = {"filename": "a.warc.zst", "offset": begin, "length": len(frames[-1])}
    (tmp_path / "index").write_text(json.dumps(line))
    how = ("inspect", "--archives-from", tmp_path / "index", "--prefix", tmp_path, "--json", "-")
    found = json.loads(ok(*how).out)["archives"][0]
    assert (found["captures"]["count"], found["damage"]["by_reason"]) == (1, {})


def test_a_long_index_makes_several_lists(tmp_path: Path) -> None:
    """Each with at most some records, all of them together those of the index."""
    source = IndexOfRanges(tmp_path / "my index.cdxj", "https://host/")
    text = b"".join(
        b'{"filename": "%d.warc.gz", "offset": %d, "length": 5}\n' % (number % 7, number * 10)
        for number in range(2500)
    )
    paths, wrong, count = write_range_lists(source, io.BytesIO(text), tmp_path, tmp_path)
    assert (len(paths), wrong, count) == (3, [], 0)
    assert all(path.name.startswith("my-index-") for path in paths)
    read = list[tuple[str, int, int]]()
    for path in paths:
        head, *lines = path.read_bytes().splitlines()
        assert head == HEAD
        documents = [json.loads(each) for each in lines]
        read += [(each["archive"], *pair) for each in documents for pair in each["ranges"]]
        assert sum(len(each["ranges"]) for each in documents) <= index_ranges.MOST
    assert read == sorted(
        (f"https://host/{number % 7}.warc.gz", number * 10, 5) for number in range(2500)
    )


def test_a_list_of_ranges_counts_only_by_its_name() -> None:
    """A file from elsewhere must not name files of this machine."""
    text = HEAD + b"\n" + WrongLine(1, 0, "no filename").written()
    with pytest.raises(BadInput, match="not one readable record"):
        list(_items("a.warc", text))
    with pytest.raises(BadInput, match="ranges of an index without a readable record"):
        list(_items("a" + SUFFIX, text))
    with pytest.raises(BadInput, match="has changed"):
        list(_items("a" + SUFFIX, HEAD + b"\n[1]\n"))


def _items(name: str, data: bytes) -> Iterable[object]:
    for archive in read_archives(io.BytesIO(data), name, max_record=1 << 20):
        yield from archive.items


def test_clusters_take_no_index_and_no_input(tmp_path: Path) -> None:
    (tmp_path / "index").write_text(line(LOOPBACK, *ranges_of(LOOPBACK)[0]))
    for given in (("-",), ("--archives-from", tmp_path / "index")):
        how = ("--work", tmp_path / "w", "--runner", "hadoop", "--data", "hdfs:///x")
        said = piped(b"WARC/1.0", "run", *given, *how)
        assert (said.code, "for a cluster" in said.err) == (3, True)


@pytest.mark.slow
def test_a_run_on_standard_input_is_that_on_its_files(tmp_path: Path) -> None:
    first, second = (
        write_warc(tmp_path / "a.warc.gz", WEB),
        write_warc(tmp_path / "b.warc.gz", MORE_WEB),
    )
    data = first.read_bytes() + second.read_bytes()
    ok("run", first, second, "--work", tmp_path / "files", *QUICK)
    work = tmp_path / "piped"
    for _ in range(2):  # the second time nothing is done anew
        assert piped(data, "run", "-", "--work", work, *QUICK).code == 0
    assert (work / "precedence.txt").read_bytes() == (
        tmp_path / "files/precedence.txt"
    ).read_bytes()
    (copy,) = (work / "archives").rglob("*standard input")
    assert copy.read_bytes() == data
    assert "standard input" in ok("status", work).out

    said = piped(b"", "run", "-", "--work", work, *QUICK)
    assert (said.code, str(copy) in said.err) == (3, True)
    ok("run", copy, "--work", work, *QUICK)

    said = piped(first.read_bytes(), "run", "-", "--work", work, *QUICK)
    assert (said.code, "--force" in said.err) == (3, True)
    assert list((work / "archives").rglob("*standard input")) == [copy]
    said = piped(first.read_bytes(), "run", "-", "--work", work, *QUICK, "--force")
    assert said.code == 0
    (copy,) = (work / "archives").rglob("*standard input")
    assert copy.read_bytes() == first.read_bytes()


def test_damage_of_standard_input_has_its_name(tmp_path: Path) -> None:
    data = write_warc(tmp_path / "a.warc.gz", WEB).read_bytes()
    said = piped(data + data[:-9], "run", "-", "--work", tmp_path / "work", *QUICK, "--strict")
    assert (said.code, "standard input, offset" in said.err) == (3, True)
    found = json.loads(piped(data, "inspect", "-", "--json", "-").out)
    assert found["archives"][0]["path"] == "standard input"


def test_standard_input_that_cannot_be_read(tmp_path: Path) -> None:
    said = piped(b"", "inspect", "-")
    assert (said.code, "standard input: no byte" in said.err) == (3, True)
    said = piped(b"x", "run", "-", "--archives-from", "-", "--work", tmp_path / "w")
    assert (said.code, "can be read once" in said.err) == (2, True)
    controller, terminal = os.openpty()
    said = process("run", "-", "--work", tmp_path / "w", stdin=terminal)
    os.close(controller)
    os.close(terminal)
    assert (said.code, "is a terminal" in said.err) == (2, True)
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "no line"),
        (b"missing.warc.gz\n", "1 wrong line: line 1"),
        (b"WARC/1.0\r\n\r\n", "a WARC file, not a list"),
        (bytes(range(32)), "bytes that are no text"),
        (b"\x1f\x8b\x08\0cut", "a damaged gzip file"),
        (b'{"filename": "a.warc.gz"}\n', "1 wrong line: line 1"),
    ],
)
def test_a_list_from_standard_input_has_its_name(data: bytes, found: str, tmp_path: Path) -> None:
    said = piped(data, "inspect", "--archives-from", "-", "--prefix", tmp_path)
    assert said.code == 3
    assert said.err.startswith(f"crawlrank: standard input: {found}"), said.err


def test_no_estimate_is_made_of_an_index(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / LOOPBACK.name).write_bytes(LOOPBACK.read_bytes())
    (tmp_path / "index").write_text(line(LOOPBACK, *ranges_of(LOOPBACK)[0]))
    given = ("--archives-from", tmp_path / "index", "--prefix", tmp_path)
    said = crawlrank("run", *given, "--work", tmp_path / "w", "--dry-run")
    assert (said.code, "not records of an index" in said.err) == (2, True)
    said = crawlrank("inspect", *given, "--estimate")
    assert (said.code, "no sample is taken" in said.err) == (3, True)
    assert str(tmp_path) not in said.out.partition("archives (1)")[2].partition("in all")[0]


@pytest.mark.slow
def test_a_server_that_is_busy_is_asked_again_and_a_missing_archive_is_no_damage(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run has read of other lists is kept."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    record, size = ranges_of(LOOPBACK)[0]
    (tmp_path / "index").write_text(line(LOOPBACK, record, size))
    given = ["--archives-from", tmp_path / "index", "--prefix", web.url(""), "--allow-private"]
    web.files[f"/{FOLDER}{LOOPBACK.name}"].before = [(503, {}), (429, {"Retry-After": "0"})]
    found = json.loads(ok("inspect", *given, "--json", "-").out)
    assert (found["total"]["captures"]["count"], found["total"]["damage"]["count"]) == (1, 0)
    missing = {"filename": "no.warc.gz", "offset": 0, "length": 9}
    (tmp_path / "missing").write_text(json.dumps(missing))
    given += ["--archives-from", tmp_path / "missing"]
    said = crawlrank("run", *given, "--work", tmp_path / "w", *QUICK, "--nodes", "all")
    assert (said.code, "HTTP status 404" in said.err) == (3, True)
    said = crawlrank(
        "run", *given, "--work", tmp_path / "w", *QUICK, "--nodes", "all", "--skip-bad-files"
    )
    assert said.code == 0
    read = [entry["counters"].get("captures", 0) for entry in archives_of(tmp_path / "w")]
    assert sorted(read) == [0, 1]
