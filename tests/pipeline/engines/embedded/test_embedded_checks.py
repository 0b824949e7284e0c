"""What arrays and columns are refused before anything goes by them, each with file and index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.graphs import web_like, write_graph

from crawlrank.jobs.kernel.errors import BadInput, BadLine, NotConverged
from crawlrank.jobs.kernel.rank.packed_graph import Plan, Sections, plan_from
from crawlrank.jobs.kernel.rank.packing import (
    Where,
    check_incoming,
    check_inside,
    check_lines,
    check_outgoing,
    check_state,
    from_text,
    read_section,
    to_text,
)
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.data.arrays import numbered, open_ids, open_numbers, save
from crawlrank.pipeline.data.csr import OFFSETS, OUTDEGREES, SOURCES, open_csr
from crawlrank.pipeline.data.parquet import CHECKED, parquet_batches
from crawlrank.pipeline.data.scores_file import open_scores
from crawlrank.pipeline.engines.embedded.ranks import read_checkpoint, write_checkpoint
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.solution import State

# ---- the graph

GRAPH = {
    OFFSETS: np.array([0, 2, 3, 3], np.int64),
    SOURCES: np.array([1, 2, 0], np.uint32),
    OUTDEGREES: np.array([1, 1, 1], np.uint32),
}


def graph_with(folder: Path, **changed: np.ndarray[Any, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, array in GRAPH.items():
        save(folder / name, changed.get(name.partition(".")[0], array))
    return folder


@pytest.mark.parametrize(
    ("name", "array", "found"),
    [
        (OFFSETS, np.array([1, 2, 3, 3]), "index 0: 1; expected 0"),
        (OFFSETS, np.array([0, 2, 1, 3]), "index 2: 1; expected at least 2"),
        (OFFSETS, np.array([0, -2, 3, 3]), "index 1: -2; expected at least 0"),
        (OFFSETS, np.array([0, 2, 3, 4]), "index 3: 4; expected 3, as many as there are sources"),
        (OFFSETS, np.array([0, 2, 3], np.uint64), "an array of uint64"),
        (OFFSETS, np.array([0.0, 2, 3, 3]), "an array of float64"),
        (SOURCES, np.array([1, 3, 0], np.uint32), "index 1: 3, a source of node 0; expected"),
        (SOURCES, np.array([2, 1, 0], np.uint32), "index 1: 1, a source of node 0; expected"),
        (SOURCES, np.array([1, 1, 0], np.uint32), "index 1: 1, a source of node 0; expected"),
        (SOURCES, np.array([0, 2, 0], np.uint32), "index 0: 0, a source of node 0; expected"),
        (SOURCES, np.array([1, 2, 2**31], np.uint32), "index 2: 2147483648, a source of node 1"),
        (SOURCES, np.array([[1, 2, 0]], np.uint32), "shape"),
        (SOURCES, np.array([1, 2, 2], np.uint32), r"outdegrees.npy, index 0: 1; expected 0, as"),
        (OUTDEGREES, np.array([1, 0, 2], np.uint32), "index 1: 0; expected 1, as often as it is"),
        (OUTDEGREES, np.array([1, 1, 2], np.uint32), "4 in sum; expected 3"),
        (OUTDEGREES, np.array([0, 0, 3], np.uint32), "index 2: 3; expected less than 3"),
    ],
)  # fmt: skip
def test_a_graph_that_is_none(
    name: str, array: np.ndarray[Any, Any], found: str, tmp_path: Path
) -> None:
    folder = graph_with(tmp_path)
    assert open_csr(folder).edges == 3
    np.save(folder / name, array)
    with pytest.raises(BadInput, match=found) as refused:
        open_csr(folder)
    assert refused.value.where.startswith(str(folder))
    assert refused.value.cure == "Run gen-graph to make the graph anew."
    assert refused.value.exit_code == 3


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_wide_ids_are_checked_too(kind: type, tmp_path: Path) -> None:
    wide = {n.partition(".")[0]: GRAPH[n].astype(kind) for n in (SOURCES, OUTDEGREES)}
    assert open_csr(graph_with(tmp_path, **wide)).edges == 3
    wide["sources"][2] = np.iinfo(kind).max  # -1, if it were signed
    with pytest.raises(BadInput, match="index 2"):
        open_csr(graph_with(tmp_path, **wide))


@pytest.mark.parametrize("name", GRAPH)
@pytest.mark.parametrize("size", [0, 5, 100, -1, 1])
def test_a_graph_of_another_size(name: str, size: int, tmp_path: Path) -> None:
    """Truncated, or longer than its head says."""
    path = graph_with(tmp_path) / name
    data = path.read_bytes() + b"\0"
    path.write_bytes(data[: size if size > 1 or not size else len(data) - 1 + size])
    with pytest.raises(BadInput) as refused:
        open_csr(tmp_path)
    assert refused.value.where == str(path)


def test_edges_are_checked_once_and_where_they_are_gone_by(tmp_path: Path) -> None:
    sources = np.array([1, 3, 0], np.uint32)
    folder = graph_with(tmp_path, sources=sources)
    assert open_csr(folder, edges=False).nodes == 3
    for _ in range(2):
        with pytest.raises(BadInput, match="index 1: 3"):
            open_csr(folder)


# ---- ranks, ids and key numbers


@pytest.mark.parametrize(
    ("array", "found"),
    [
        (np.ones(2), "2 scores; expected one for each of 3 nodes"),
        (np.ones(3, np.float32), "an array of float32"),
        (np.array([1, np.nan, 1]), "index 1: nan; expected a number of at least 0"),
        (np.array([1, 1, np.inf]), "index 2: inf"),
        (np.array([-0.5, 1, 1]), "index 0: -0.5"),
    ],
)
def test_scores_that_are_none(array: np.ndarray[Any, Any], found: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.npy"
    save(path, array)
    with pytest.raises(BadInput, match=found):
        open_scores(path, 3)


NONE = np.iinfo(np.uint32).max


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        ([0, NONE, 2], "index 2: 2; expected id 1"),
        ([0, 0, 1], "index 1: 0; expected id 1"),
        ([0, 1, 2], "ids of 3 nodes; expected of 2 at most"),
    ],
)
def test_ids_that_are_none(ids: list[int], found: str, tmp_path: Path) -> None:
    path = tmp_path / "ids.npy"
    save(path, np.array([NONE, 0, 1], np.uint32))
    assert open_ids(path, 2).tolist() == [NONE, 0, 1]
    save(path, np.array(ids, np.uint32))
    with pytest.raises(BadInput, match=found):
        open_ids(path, 2)


def test_key_numbers_of_no_key(tmp_path: Path) -> None:
    path = tmp_path / "numbers.npy"
    save(path, np.array([1, NONE, 4], np.uint32))
    assert open_numbers(path, 5).tolist() == [1, NONE, 4]
    with pytest.raises(BadInput, match="index 2: 4; expected a key number below 4"):
        open_numbers(path, 4)


@pytest.mark.parametrize("numbers", [[[1]], [[0, 2]], [[0, 1], [0]], [[0, -1]], [[0, 1], [2, 3]]])
def test_numbers_of_spellings(numbers: list[list[int]], tmp_path: Path) -> None:
    batches = [pa.record_batch([pa.array(some)], ["number"]) for some in numbers]
    with pytest.raises(BadInput, match="key number"):
        list(numbered(tmp_path / "uris.parquet", batches, 3))


def test_numbers_of_spellings_in_order(tmp_path: Path) -> None:
    some = ([0, 0], [], [1])
    batches = [pa.record_batch([pa.array(few, pa.int64())], ["number"]) for few in some]
    assert list(numbered(tmp_path, batches, 2)) == batches


@pytest.mark.slow
def test_flips_in_a_checkpoint(tmp_path: Path) -> None:
    """Either the very same state, or none: zip's checksum is looked at after the last byte."""
    path, of = tmp_path / "checkpoint.npz", {"nodes": 3}
    vector, rounds = np.linspace(0.25, 3.0, 1500), [{"round": 1}]
    write_checkpoint(path, of, State(vector, 1.5, rounds))
    data, lost = path.read_bytes(), 0
    begin = data.index(vector.tobytes())
    # every bit where another digit or type makes an array shorter; one of each other byte
    head = [(at, bit) for at in range(begin) if data[at] in b"<f8(1500,)" for bit in range(8)]
    rest = [(at, at % 8) for at in (*range(begin), *range(begin, len(data), 97))]
    for at, bit in head + rest:
        path.write_bytes(data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :])
        state = read_checkpoint(path, of)
        lost += state is None
        if state is not None:
            assert np.array_equal(state.vector, vector), (at, bit)
            assert (state.dummy, state.rounds) == (1.5, rounds), (at, bit)
    assert lost > (len(head) + len(rest)) / 2


# ---- Parquet and packed lines


def test_a_page_of_parquet_has_a_checksum(tmp_path: Path) -> None:
    """Every flip in the numbers themselves is told, which any reader without checksums takes."""
    path = tmp_path / "map.parquet"
    ids, keys = list(range(1000, 1064)), [f"a,b)/{n}" for n in range(64)]
    with pq.ParquetWriter(
        path, pa.schema([("id", pa.int64()), ("key", pa.string())]), compression="none",
        use_dictionary=False, **CHECKED,
    ) as file:  # fmt: skip
        file.write_table(pa.table({"id": ids, "key": keys}))
    data = path.read_bytes()
    begin = data.index(np.array(ids[:2]).tobytes())
    for at in range(begin, begin + 8 * len(ids), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(BadInput, match="no readable Parquet") as refused:
            list(parquet_batches(path, ("id", "key")))
        assert refused.value.where == str(path)


@pytest.mark.parametrize(
    ("column", "values"),
    [("id", pa.array([1, None])), ("id", pa.array(["1", "x"])), ("key", pa.array([b"a", b"\xff"]))],
)
def test_columns_of_other_kinds(column: str, values: pa.Array, tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pq.write_table(pa.table({column: values}), path)
    with pytest.raises(BadInput, match="no readable Parquet"):
        list(parquet_batches(path, [column]))


def test_every_bit_of_a_packed_word() -> None:
    word = to_text({"rows": np.arange(20, dtype=np.uint32)})
    for at in range(len(word)):
        for bit in range(8):
            flipped = word[:at] + bytes([word[at] ^ (1 << bit)]) + word[at + 1 :]
            try:
                assert from_text(flipped)["rows"].tolist() == list(range(20)), (at, bit)
            except BadLine as error:
                assert "damaged arrays" in str(error)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Sections], Plan]:
    """All sections of two partitions, and the plan of the round that left them."""
    folder = tmp_path_factory.mktemp("packed")
    path, stop = (
        write_graph(web_like(61, seed=5), folder / "graph"),
        Stop(tolerance=1e-14, max_rounds=1),
    )
    with pytest.raises(NotConverged):
        PackedRounds(path, folder / "rounds", Launcher("inline", folder), stop, partitions=2).run()
    plan = plan_from(json.loads((folder / "rounds/round-1/_plan.json").read_text())["plan"])
    parts = []
    for number in (0, 1):
        sections = {}
        for name, where in (("structure", plan.structure), ("round-1", plan.state)):
            part = where[number]._replace(part=str(folder / "rounds" / name / where[number].part))
            sections |= {section: read_section(part, section) for section in part.sections}
        parts.append(sections)
    return parts, plan


def check_all(sections: Sections, plan: Plan) -> None:
    """All that is checked before a round, and before lines are written."""
    where, ranges = Where("part", {}), plan.ranges
    linking, local, outgoing = (sections[name] for name in ("linking", "local", "outgoing"))
    check_outgoing(where, linking, outgoing, ranges.partitions)
    check_inside(where, linking, local, outgoing, ranges.groups)
    check_incoming(where, sections["incoming"], len(local["counts"]), ranges.partitions)
    check_state(where, sections["state"], len(linking["degrees"]))
    check_lines(where, sections["nodes"], local, outgoing, sections["targets"])


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("section", ["outgoing", "local", "linking", "state", "nodes", "targets"])
def test_sections_of_another_partition(section: str, packed: tuple[list[Sections], Plan]) -> None:
    """Whole, and in the wrong place: no loop goes by them."""
    (ours, theirs), plan = packed
    check_all(ours, plan)
    check_all(theirs, plan)
    with pytest.raises(BadInput, match=r"part: sections that do not fit"):
        check_all({**ours, section: theirs[section]}, plan)


@pytest.mark.parametrize(
    ("section", "name"),
    [("outgoing", "sources"), ("local", "sources"), ("incoming", "rows"), ("linking", "groups")],
)
def test_a_number_beyond_its_bound(
    section: str, name: str, packed: tuple[list[Sections], Plan]
) -> None:
    (ours, _), plan = packed
    array = ours[section][name].copy()
    array[0] = np.iinfo(np.uint32).max
    changed = {**ours, section: {**ours[section], name: array}}
    with pytest.raises(BadInput, match="sections that do not fit"):
        check_all(changed, plan)
    lacking = {key: kept for key, kept in ours[section].items() if key != name}
    with pytest.raises(BadInput, match=f"sections without '{name}'"):
        check_all({**ours, section: lacking}, plan)
