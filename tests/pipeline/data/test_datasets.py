"""Datasets on their way out: whole or not at all, and the same file from any parts."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.systems.cluster import cluster

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.data.datasets import (
    ORDER,
    SORTED_AT_ONCE,
    by_score,
    deliver,
    merged,
    move,
    refuse_existing,
    replacing,
    write_file,
)
from crawlrank.pipeline.data.scores_file import write_parquet
from crawlrank.pipeline.engines.text.steps import gen_graph

ROWS = {
    "canonical_links": [b"a,b)/ a,b)/", b"a,b)/ a,b)/x", b"a,b)/! a,b)/", b"b,a)/ a,b)/"],
    "uris": [b"a)/\thttp://a/\t1\t0\t-", b"a)/\thttp://a/2\t1\t0\t-", b"b)/\thttp://b/\t0\t1\t-"],
    "input_links": [b"0 a)/ b)/", b"2 b)/ a)/", b"10 c)/ a)/"],
    "map": [b"0 a)/", b"2 b)/", b"10 c)/"],
    "graph": [b"0\t1.0\tO:2", b"2\t1.0\tO:dummy", b"10\t1.0\tO:0,2", b"dummy\t1.0\tO:dummy"],
    "scores": [b"12.5\thttp://b/\tb)/", b"2.5\thttp://a/\ta)/", b"2.5\thttp://c/\tc)/"],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("seed", range(5))
def test_any_parts_give_the_same_file(tmp_path: Path, name: str, seed: int) -> None:
    rng = random.Random(seed)
    parts: dict[int, list[bytes]] = {0: [], 1: [], 2: []}
    for row in ROWS[name]:  # in order, hence each part is
        parts[rng.randrange(3)].append(row)
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, rows in parts.items():
        (folder / f"part-{number}").write_bytes(b"".join(row + b"\n" for row in rows))
    deliver(folder, tmp_path / "new" / "folder" / "rows.txt", ORDER[name])
    found = (tmp_path / "new" / "folder" / "rows.txt").read_bytes()
    assert found == b"".join(row + b"\n" for row in ROWS[name])


def test_scores_are_ordered_by_the_digits_that_count() -> None:
    one, other = b"1.0000000004\thttp://b/\tb)/\n", b"1.0000000001\thttp://a/\ta)/\n"
    assert by_score(9)(other) < by_score(9)(one)  # equal scores: by key
    assert by_score(11)(one) < by_score(11)(other)


@given(st.lists(st.binary().filter(lambda line: b"\n" not in line)))
def test_a_gzip_file_has_the_lines_and_no_time(
    tmp_path_factory: object, lines: list[bytes]
) -> None:
    tmp = tmp_path_factory.mktemp("gz")  # type: ignore[attr-defined]
    rows = [line + b"\n" for line in lines]
    for name in ("a.txt", "a.txt.gz", "b.txt.gz"):
        write_file(rows, tmp / name)
    assert (tmp / "a.txt").read_bytes() == b"".join(rows)
    assert gzip.decompress((tmp / "a.txt.gz").read_bytes()) == b"".join(rows)
    assert (tmp / "a.txt.gz").read_bytes() == (tmp / "b.txt.gz").read_bytes()


def test_what_fails_leaves_the_old_file_alone(tmp_path: Path) -> None:
    output = tmp_path / "rows.txt"
    output.write_text("old")
    with pytest.raises(RuntimeError, match="mine"), replacing(output) as place:
        place.write_text("half")
        raise RuntimeError("mine")
    assert output.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["rows.txt"]


def folder_of(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "part-0").write_text(text)
    return path


def test_a_folder_takes_the_place_of_another(tmp_path: Path) -> None:
    output = folder_of(tmp_path / "graph", "old")
    folder_of(tmp_path / ".graph.old", "from a killed run")
    move(folder_of(tmp_path / "new", "new"), output)
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]
    assert (output / "part-0").read_text() == "new"


def test_a_folder_for_another_file_system(tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    others = [path for path in map(Path, ("/dev/shm", "/var/tmp")) if os.access(path, os.W_OK)]
    other = next((path for path in others if path.stat().st_dev != device), None)
    if not other:
        pytest.skip("no second file system here")
    place = other / f"crawlrank-test-{os.getpid()}"
    place.mkdir()
    try:
        deliver(folder_of(tmp_path / "new", "new"), place / "graph", None)
        assert (place / "graph" / "part-0").read_text() == "new"
        assert [path.name for path in place.iterdir()] == ["graph"]
    finally:
        for path in (place / "graph" / "part-0", place / "graph", place):
            path.unlink() if path.is_file() else path.rmdir()


def test_outputs_that_are_there(tmp_path: Path) -> None:
    folder_of(tmp_path / "full", "x")
    folder_of(tmp_path / "full.txt", "x")
    (tmp_path / "file").write_text("x")
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    for name, found in (("full", "not empty"), ("full.txt", "a folder"), ("file", "a file")):
        with pytest.raises(BadInput, match=found) as caught:
            refuse_existing(tmp_path / name)
        assert caught.value.where == str(tmp_path / name)
        assert caught.value.cure
    for name in ("file.txt", "empty", "new", "new.txt"):
        refuse_existing(tmp_path / name)  # files are replaced, as tools do


def test_parquet_has_every_column_and_probabilities(tmp_path: Path) -> None:
    folder = tmp_path / "scores"
    folder.mkdir()
    (folder / "part-0").write_text("1.5\thttp://a/\ta)/\t1\t7\t0\t2\t20240101000000\n")
    (folder / "part-1").write_text("2.5\thttp://b/é\tb)/\t0\t3\t9\t0\t-\n")
    write_parquet(folder, tmp_path / "scores.parquet", 9, 4.0)
    rows = pq.read_table(tmp_path / "scores.parquet").to_pylist()
    assert [row["key"] for row in rows] == ["b)/", "a)/"]
    assert rows[0] == {
        "score": 2.5, "uri": "http://b/é", "key": "b)/", "id": 0, "inlinks": 3, "outlinks": 9,
        "captures": 0, "last": "-", "probability": 0.625,
    }  # fmt: skip
    assert rows[1]["probability"] == 0.375


def test_parts_of_archives_follow_one_another(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"z\na\n")
    (tmp_path / "a").write_bytes(b"y\n")
    assert list(merged(tmp_path, ORDER["links"])) == [b"y\n", b"z\n", b"a\n"]


@pytest.mark.parametrize("runner", ["inline", "local", "cluster"])
def test_ids_in_no_order_of_keys_give_the_same_graph(runner: str, tmp_path: Path) -> None:
    """However few lines of a part that is in no order are sorted at once."""
    ids = random.Random(1).sample(range(300), 60)
    links = [
        b"%d k%02d)/ k%02d)/" % (ids[target], target, source)
        for source in range(60)
        for target in {(source * 7 + 1) % 60, (source * 11 + 3) % 60}
    ]
    (tmp_path / "links").write_bytes(b"".join(line + b"\n" for line in links))
    made = cluster(tmp_path, 3, 1) if runner == "cluster" else Launcher(runner, tmp_path, 3)
    gen_graph([tmp_path / "links"], [], tmp_path / "graph", made)
    for at_once in (7, SORTED_AT_ONCE):
        lines = merged(tmp_path / "graph", ORDER["graph"], sorted_at_once=at_once)
        nodes = [line.split(b"\t")[0] for line in lines]
        assert nodes == [b"%d" % number for number in sorted(ids)] + [b"dummy"]


def test_more_parts_than_a_process_may_open(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(40):
        (folder / f"part-{number:02}").write_bytes(b"%d a)/\n%d a)/\n" % (number, number + 100))
    numbers = [int(line.split()[0]) for line in merged(folder, ORDER["map"], open_at_once=3)]
    assert numbers == [*range(40), *range(100, 140)]
