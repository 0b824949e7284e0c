"""canonicalize: the same rows as plain Python, however lines and tasks are spread."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import plain
from support.inputs.samples import made_captures, made_links, write
from support.systems.cluster import MANY_REDUCERS, cluster, dataset, inline

from crawlrank.jobs.canonicalize import Canonicalize, added
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome


def run(tmp: Path, launcher: Launcher, *inputs: Path) -> Outcome:
    """Canonical links to `tmp`/links, uris to `tmp`/uris."""
    side = {"uris": tmp / "uris"}
    return launch(Canonicalize, list(inputs), tmp / "links", launcher, side=side)


def test_rows_worked_out_by_hand(tmp_path: Path) -> None:
    write(
        tmp_path / "links.txt",
        [
            b"http://www.a.example/ http://b.example/x L",
            b"http://A.example/ http://b.example/x R",
            b"http://a.example/ http://b.example/x",
            b"http://b.example/x http://b.example/x L",
            b"http://a.example/favicon.ico http://a.example/ I",
            b"http://a.example/login http://a.example/ P",
            b"http://a:b/ http://b.example/x L",
        ],
    )
    write(
        tmp_path / "captures.txt",
        [
            b"http://www.a.example/\t20240102000000\t200\t-\t-\tresponse\ta.warc\t0",
            b"http://www.a.example/\t20230102000000\t200\t-\t-\tresponse\ta.warc\t9",
            b"http://c.example/\t-\t404\t-\t-\tresponse\ta.warc\t99",
        ],
    )
    outcome = run(tmp_path, inline(tmp_path), tmp_path / "links.txt", tmp_path / "captures.txt")
    assert sorted(dataset(tmp_path / "links")) == [
        b"example,a)/ example,b)/x",
        b"example,b)/x example,b)/x",
    ]
    assert sorted(dataset(tmp_path / "uris")) == [
        b"example,a)/\thttp://A.example/\t0\t1\t-",
        b"example,a)/\thttp://a.example/\t0\t1\t-",
        b"example,a)/\thttp://www.a.example/\t2\t1\t20240102000000",
        b"example,b)/x\thttp://b.example/x\t0\t1\t-",
        b"example,c)/\thttp://c.example/\t1\t0\t-",
    ]
    assert outcome.counters == {
        "links": 4,
        "canonical_links": 2,
        "uris": 5,
        "keys": 3,
        "dropped.hop.I": 1,
        "dropped.hop.P": 1,
        "dropped.no-key": 1,
    }
    assert outcome.rows == {"main": 2, "uris": 5}
    assert [note.value for note in outcome.notes["dropped"]] == [b"no-key\thttp://a:b/"]


def test_counts_of_two_tasks_add_up() -> None:
    assert added((1, 2, b"-"), (3, 4, b"20240102000000")) == (4, 6, b"20240102000000")
    assert added((0, 0, b"20240102000000"), (0, 0, b"20230102000000"))[2] == b"20240102000000"


def check(tmp: Path, launcher: Launcher) -> None:
    links, captures = made_links(), made_captures()
    first, second = write(tmp / "links-1", links[:300]), write(tmp / "links-2", links[300:])
    outcome = run(tmp, launcher, first, second, write(tmp / "captures", captures))
    rows, spellings = dataset(tmp / "links"), dataset(tmp / "uris")
    assert sorted(rows) == plain.canonical_links(links)
    assert sorted(spellings) == plain.uris(links, captures)
    assert outcome.counters["canonical_links"] == len(rows)
    assert outcome.counters["uris"] == len(spellings)
    for part in (tmp / "links").iterdir():
        lines = part.read_bytes().splitlines()
        assert lines == sorted(lines)


def test_made_links_inline(tmp_path: Path) -> None:
    check(tmp_path, inline(tmp_path))


@pytest.mark.parametrize(("reducers", "seed"), [(1, 0), (4, 2), MANY_REDUCERS])
def test_made_links_on_a_cluster(reducers: int, seed: int, tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, reducers, seed))


@pytest.mark.parametrize("combined", [1, 7])
def test_a_full_memory_changes_no_row(combined: int, tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, 3, 5, combined=combined))


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (b"http://a/", "'http://a/'"),
        (b"http://a/  http://b/", "'http://a/  http://b/'"),
        (b"http://a/ http://b/ Q", "hop 'Q'"),
        (b"http://a/\tnow\t200\t-\t-\tresponse\ta.warc\t0", "timestamp 'now'"),
        (b"", "an empty line"),
    ],
)
def test_a_bad_line_is_named_with_its_place(bad: bytes, found: str, tmp_path: Path) -> None:
    write(tmp_path / "first", [b"http://a/ http://b/"])
    second = write(tmp_path / "second", [b"http://a/ http://b/", bad, b"http://c/ http://b/"])
    with pytest.raises(BadInput) as refused:
        run(tmp_path, inline(tmp_path), tmp_path / "first", second)
    assert refused.value.where == f"{second}, line 2"
    assert refused.value.found.startswith(found)
    assert not (tmp_path / "links").exists()
    assert not (tmp_path / "uris").exists()


def test_a_line_of_neither_shape_is_told_both(tmp_path: Path) -> None:
    captures = write(tmp_path / "captures", [b"http://a/\t20240101000000\t200"])
    with pytest.raises(BadInput, match=r"line 1: hop '200'; expected .*; or 10 columns with tabs"):
        run(tmp_path, inline(tmp_path), captures)
