"""What people type into a shell out of habit: pipes, redirections, short options."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from support.crawls import WEB, ok, response, write_records
from support.runs import finished, shared_warc
from support.terminals import in_shell

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records


@pytest.fixture
def archive() -> Path:
    return shared_warc("web.warc.gz", WEB)


def typed(line: str, folder: Path, archive: Path) -> str:
    """What a line shows, which ends well and without an error. (Tables go to standard error.)"""
    done = in_shell(f"set -o pipefail; {line}", folder, archive)
    assert (done.returncode, "crawlrank: " in done.stderr) == (0, False), (line, done)
    return done.stdout


def index_line(archive: Path) -> str:
    """The second record of an archive, as an index server answers."""
    with archive.open("rb") as file:
        records = [each for each in read_records(file, archive.name) if isinstance(each, Record)]
    begin, end = (each.offset for each in records[1:3])
    return json.dumps({"filename": archive.name, "offset": begin, "length": end - begin})


def test_an_archive_comes_through_a_pipe(archive: Path, tmp_path: Path) -> None:
    typed("cat ARCHIVE | CRAWLRANK run - --work w --jobs 1 --quiet", tmp_path, archive)
    expected = (finished(archive) / "precedence.txt").read_bytes()
    assert (tmp_path / "w/precedence.txt").read_bytes() == expected


@pytest.mark.slow
def test_a_list_goes_into_a_pipe_and_into_files(archive: Path, tmp_path: Path) -> None:
    """The shape of a file is that of its ending."""
    (tmp_path / "w").symlink_to(finished(archive))
    lines = (tmp_path / "w/precedence.txt").read_text().splitlines()
    assert typed("CRAWLRANK export w | cat", tmp_path, archive).splitlines() == lines
    typed("CRAWLRANK export w > list.txt", tmp_path, archive)
    assert (tmp_path / "list.txt").read_text().splitlines() == lines
    typed("CRAWLRANK export w --output list.csv.gz", tmp_path, archive)
    table = typed("zcat list.csv.gz | tail -n +2 | wc -l", tmp_path, archive)
    assert int(table) == len(lines)
    rows = typed("CRAWLRANK export w --format jsonl | head -n 1", tmp_path, archive)
    assert json.loads(rows)["url"]


def test_help_and_version(archive: Path, tmp_path: Path) -> None:
    assert typed("CRAWLRANK -V", tmp_path, archive) == ok("--version").out
    shown = typed(
        "CRAWLRANK help export | head -n 1; CRAWLRANK export -h | head -n 1", tmp_path, archive
    )
    first, second = shown.splitlines()
    assert first == second


@pytest.mark.slow
def test_a_query_of_an_index_becomes_a_ranking(archive: Path, tmp_path: Path) -> None:
    line = index_line(archive)
    ranked = "CRAWLRANK run --archives-from - --prefix $(dirname ARCHIVE) --work w --jobs 1 --quiet"
    typed(f"echo '{line}' | {ranked}; CRAWLRANK export w --captured > list.txt", tmp_path, archive)
    (only,) = (tmp_path / "list.txt").read_text().splitlines()
    assert only.partition(" ")[0] == list(WEB)[1]


@pytest.mark.slow
def test_a_wacz_brings_its_titles(archive: Path, tmp_path: Path) -> None:
    home = "http://a.example/"
    write_records(tmp_path / "a.warc", [response(home, b"<a href=/b>x</a>")])
    page = {"url": home, "ts": "2024-01-01T00:00:00Z", "title": "Of its script"}
    with zipfile.ZipFile(tmp_path / "crawl.wacz", "w") as made:
        made.write(tmp_path / "a.warc", "archive/a.warc")
        made.writestr("datapackage.json", "{}")
        made.writestr("pages/pages.jsonl", json.dumps(page))
    typed("CRAWLRANK run crawl.wacz --titles --work w --jobs 1 --quiet", tmp_path, archive)
    shown = typed("CRAWLRANK export w --format jsonl --captured | cat", tmp_path, archive)
    assert json.loads(shown)["title"] == page["title"]
