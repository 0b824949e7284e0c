"""Crawl logs and precedence files as columns: against line by line readers and real files."""

from __future__ import annotations

import base64
import gzip
import json
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.crawl_logs import Fetch, log, written
from support.inputs.heritrix_cases import LINT_TXT, Case
from support.inputs.heritrix_cases import written as case_file
from support.paths import HERITRIX

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.keys.heritrix_form import HeritrixRejects, heritrix_form, lookup_key
from crawlrank.pipeline.analysis.audit import crawl_log, entries
from crawlrank.pipeline.precedence.heritrix_loader import load
from crawlrank.pipeline.precedence.lint import LintSummary, lint

PREC = HERITRIX / "prec.txt"
FIRST = HERITRIX / "first.crawl.log"


def rows_of(*paths: Path) -> tuple[list[dict[str, Any]], crawl_log.LogReport]:
    read = crawl_log.LogReport()
    batches = list(crawl_log.read_logs(list(paths), read))
    return [row for batch in batches for row in batch.to_pylist()], read


def milliseconds(text: str, form: str) -> int:
    moment = datetime.strptime(text, form).replace(tzinfo=timezone.utc)
    return round(moment.timestamp() * 1000)


@given(st.lists(st.binary(max_size=9), max_size=9), st.integers(1, 7))
def test_lines_are_cut_at_line_feeds_alone(texts: list[bytes], size: int) -> None:
    data = b"\n".join(texts)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    found = [
        line.as_py() for block in crawl_log.whole_lines(chunks) for line in crawl_log.columns(block)
    ]
    assert b"".join(found) == data
    assert [line.removesuffix(b"\n") for line in found] == data.split(b"\n")[: len(found)]
    assert all(line.endswith(b"\n") for line in found[:-1])


def test_no_line_fills_the_memory() -> None:
    blocks = list(crawl_log.whole_lines([b"x" * 8] * 1000 + [b"\ny\n"], longest=10))
    assert blocks == [b"x" * 10 + b"\ny\n"]


def test_a_real_log_is_read_as_its_fields_are() -> None:
    found, read = rows_of(FIRST)
    split = [line.split() for line in FIRST.read_text().splitlines()]
    assert (read.lines, read.used, read.kinds) == (64, 64, {})
    assert [row["uri"] for row in found] == [fields[3] for fields in split]
    assert [row["status"] for row in found] == [int(fields[1]) for fields in split]
    assert [chr(row["hop"]) for row in found] == [fields[4][-1] for fields in split]
    assert [row["depth"] for row in found] == [len(fields[4].strip("-")) for fields in split]
    begins = [milliseconds(fields[8].split("+")[0] + "000", "%Y%m%d%H%M%S%f") for fields in split]
    assert [row["begin"] for row in found] == begins
    assert [row["line"] for row in found] == list(range(64))


@pytest.mark.parametrize(
    "moment",
    ["1970-01-01T00:00:00.000Z", "2000-02-29T23:59:59.999Z", "2026-12-31T12:00:00.5Z",
     "2024-03-01T00:00:00Z", "20081231235959123"],
)  # fmt: skip
def test_times(moment: str, tmp_path: Path) -> None:
    text = f"{moment}  -2  - http://h/ - - unknown #001 - - - -\n"
    (row,), _ = rows_of(written(tmp_path / "log", text))
    if moment.endswith("Z"):
        form = "%Y-%m-%dT%H:%M:%S.%fZ" if "." in moment else "%Y-%m-%dT%H:%M:%SZ"
        assert row["begin"] == milliseconds(moment, form)
    else:
        assert row["begin"] == milliseconds(moment + "000", "%Y%m%d%H%M%S%f")


def test_long_paths_begin_with_a_number(tmp_path: Path) -> None:
    fetches = [Fetch("http://h/", "37+LLLX"), Fetch("http://h/2", "LLR"), Fetch("http://h/3", "-")]
    found, _ = rows_of(written(tmp_path / "log", log(fetches)))
    assert [(row["depth"], chr(row["hop"])) for row in found] == [(41, "X"), (3, "R"), (0, "-")]


def test_lines_cut_anywhere_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    whole = log(["http://h/1"]).rstrip("\n")
    needed = whole.index(" sha1:")
    for end in range(1, needed):
        text = log(["http://h/0"]) + whole[:end]
        found, read = rows_of(written(tmp_path / "log", text))
        if len(found) == 2:  # cut inside the duration, of which nothing is read
            assert end >= whole.index("+")
            continue
        kind = "cut short" if end >= len("2026-11-21T09:00:00.005Z") else "of another format"
        assert (len(found), read.lines, dict(read.kinds)) == (1, 2, {kind: 1})
        assert read.bad_lines[kind][0][1] == 2


def test_lines_of_other_formats_are_counted_with_places(tmp_path: Path) -> None:
    other = '127.0.0.1 - - [21/Nov/2026:09:00:00 +0000] "GET / HTTP/1.1" 200 5\n'
    text = log(["http://h/0"]) + other * 8 + "\n \n\xff\x00\n" + log(["http://h/1"])
    path = tmp_path / "log"
    path.write_bytes(text.encode("latin-1"))
    found, read = rows_of(path)
    assert [row["uri"] for row in found] == ["http://h/0", "http://h/1"]
    assert [row["line"] for row in found] == [0, 12]
    assert dict(read.kinds) == {"of another format": 9, "empty": 2}
    assert [line for _, line, _ in read.bad_lines["of another format"]] == [2, 3, 4, 5, 6]


def test_a_file_without_one_line_of_a_log_is_refused(tmp_path: Path) -> None:
    cases = {"text": b"hello\n", "cut": b"2026-11-21T09:11:36.025Z   200\n",
             "precedence": PREC.read_bytes(), "gz": b"\x1f\x8b\x08\x00"}  # fmt: skip
    for name, data in cases.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(BadInput, match=r"no line.*expected lines of Heritrix's crawl\.log"):
            rows_of(FIRST, path)
    with pytest.raises(BadInput, match="cannot be read"):
        rows_of(tmp_path / "none")


def test_empty_logs_among_others_are_listed(tmp_path: Path) -> None:
    """Heritrix leaves them where a crawl was rotated and ended."""
    empty, other = tmp_path / "crawl.log", tmp_path / "crawl.log.gz"
    empty.write_bytes(b"")
    other.write_bytes(gzip.compress(b""))
    for logs in ([empty, FIRST], [FIRST, empty], [other, FIRST, empty]):
        rows, read = rows_of(*logs)
        assert len(rows) == read.used > 10
        assert read.empty == [str(path) for path in logs if path != FIRST]
        assert read.logs == 1
    with pytest.raises(BadInput, match="no line"):
        rows_of(empty, other)


def test_gzip_whole_and_broken(tmp_path: Path) -> None:
    text = log(f"http://h/{number * number}" for number in range(2000)).encode()
    path = tmp_path / "crawl.log.gz"
    path.write_bytes(gzip.compress(text[:1000]) + gzip.compress(text[1000:]))
    assert len(rows_of(path)[0]) == 2000
    path.write_bytes(gzip.compress(text)[:-2000])
    found, read = rows_of(path)
    assert 0 < len(found) < 2000
    assert read.kinds["damaged"] == 1


def test_a_log_that_is_open_and_a_clock_that_goes_back(tmp_path: Path) -> None:
    late = log(["http://h/1", "http://h/2"])
    early = log(["http://h/0"]).replace("T09:", "T08:")
    path = written(tmp_path / "crawl.log", late + early)
    (tmp_path / "crawl.log.lck").touch()
    _, read = rows_of(path)
    assert (read.clock_back, read.clock_lines) == (1, [(str(path), 3)])
    assert read.unfinished == [str(path)]


# ---- precedence files ------------------------------------------------------------------------


def entries_of(path: Path) -> tuple[list[dict[str, Any]], entries.EntriesReport]:
    read = entries.EntriesReport()
    return [row for batch in entries.read_entries(path, read) for row in batch.to_pylist()], read


def stored(path: Path) -> dict[str, int]:
    """The pages that the audit takes for listed, by Heritrix's key."""
    found, read = entries_of(path)
    read.require_loaded(path)
    met = sorted((row for row in found if not row["cause"]), key=lambda row: row["line"])
    listed = {lookup_key(row["uri"]): row["precedence"] for row in met}
    return {key: value for key, value in listed.items() if key.startswith("http")}


def uri_of(key: str) -> str:
    """The URI of a key, undone by hand: `http://(org,example,:8080@user)/path`."""
    match = re.fullmatch(r"(\w+://)\(([^:@)]*)(:\d+)?(@[^)]*)?\)(.*)", key)
    if not match:
        return key
    scheme, host, port, user, path = match.groups("")
    if not re.fullmatch(r"[\d.]+", host):
        host = ".".join(reversed(host.rstrip(",").split(",")))
    return f"{scheme}{user[1:]}{user[:1]}{host}{port}{path}"


def is_asked_for(key: str) -> bool:
    """Whether a crawl looks such a key up for a page: its URI is in Heritrix's form."""
    uri = uri_of(key)
    try:
        return heritrix_form(uri) == uri
    except HeritrixRejects:
        return False


def asked_for(stored: dict[str, int]) -> dict[str, int]:
    return {key: value for key, value in stored.items() if is_asked_for(key)}


@pytest.mark.parametrize("case", LINT_TXT, ids=lambda case: case.name)
def test_the_files_of_the_loader_table(case: Case, tmp_path: Path) -> None:
    path = case_file(case.name, case.file, tmp_path)
    if case.file is None:
        with pytest.raises(BadInput, match="No such file"):
            entries_of(path)
    elif case.exception:
        _, read = entries_of(path)
        with pytest.raises(BadInput, match=r"So no crawl can have followed it.*crawlrank audit"):
            read.require_loaded(path)
    else:
        assert stored(path) == asked_for(load(path))


@pytest.mark.parametrize("case", [c for c in LINT_TXT if c.file is not None], ids=lambda c: c.name)
def test_what_is_told_is_what_lint_finds(case: Case, tmp_path: Path) -> None:
    path = case_file(case.name, case.file, tmp_path)
    summary = LintSummary()
    list(lint(path, summary))
    _, read = entries_of(path)
    del summary.problems["duplicate"]  # found by the join
    assert read.problems == summary.problems
    assert (read.lines, read.entries) == (summary.lines, summary.entries)


@pytest.mark.slow
def test_files_that_heritrix_loaded_are_listed_as_it_stored_them(tmp_path: Path) -> None:
    wrong, agreed = [], 0
    for text in (HERITRIX / "loader.jsonl").read_text("ascii").splitlines():
        case = json.loads(text)
        is_gzip = case["name"].lower().endswith(".gz")
        file = base64.b64decode(case["file"]) if is_gzip else case["file"].encode("latin-1")
        path = case_file(case["name"], file, tmp_path)
        try:
            found: object = stored(path)
        except BadInput:
            found = None
        expected = asked_for(case["stored"]) if "stored" in case else None
        if found != expected:
            wrong.append((case, found, expected))
        agreed += bool(expected)
    assert not wrong
    assert agreed > 100


def test_blocks_and_lines_give_the_same(tmp_path: Path) -> None:
    """A file with a wrong checksum loses nothing, and is read line by line."""
    text = "".join(
        f"http://h{n % 7}.example/{'%7E' * (n % 3)}a{n} {n % 125 + 1}\n"
        + (f"http://H{n}.example/x 7\n" if n % 5 == 0 else "")
        for n in range(500)
    )
    plain = written(tmp_path / "plain.txt", text)
    by_blocks, read = entries_of(plain)
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(gzip.compress(text.encode())[:-8] + bytes(8))
    one_by_one, other = entries_of(damaged)
    key = lambda row: row["line"]  # noqa: E731
    assert sorted(by_blocks, key=key) == one_by_one
    assert (read.lines, read.entries) == (other.lines, other.entries)
    assert read.problems == {"upper case": 100}
    assert other.problems == {"upper case": 100, "damaged": 1}
