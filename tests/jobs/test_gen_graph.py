"""gen_graph: one line for every node and one for dummy, as Heritrix's own job writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import plain
from support.inputs.samples import made_captures, made_links, oracle, write
from support.systems.cluster import MANY_REDUCERS, cluster, dataset, inline

from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome


def run(tmp: Path, launcher: Launcher, *inputs: Path) -> Outcome:
    return launch(GenGraph, list(inputs), tmp / "graph", launcher)


def test_lines_worked_out_by_hand(tmp_path: Path) -> None:
    """c)/ has a self-link only, d)/ comes from map alone, z)/ has no id; b)/ links twice to a)/."""
    links = [b"10 a)/ b)/", b"9 b)/ a)/", b"10 a)/ b)/", b"2 c)/ c)/", b"10 a)/ z)/", b"2 c)/ b)/"]
    first = write(tmp_path / "input_links", links)
    second = write(tmp_path / "map", [b"2 c)/", b"9 b)/", b"10 a)/", b"11 d)/"])
    outcome = run(tmp_path, inline(tmp_path), first, second)
    assert sorted(dataset(tmp_path / "graph")) == [
        b"10\t1.0\tO:9",
        b"11\t1.0\tO:dummy",
        b"2\t1.0\tO:dummy",
        b"9\t1.0\tO:2,10",
        b"dummy\t1.0\tO:dummy",
    ]
    assert outcome.counters == {
        "nodes": 4,
        "edges": 3,
        "dangling": 2,
        "dropped.self-links": 1,
        "dropped.links-from-source-without-id": 1,
        "sources-without-id": 1,
    }


@pytest.mark.slow
@pytest.mark.parametrize("runner", [pytest.param("local", marks=pytest.mark.slow), "cluster"])
def test_the_graph_is_that_of_heritrix_own_job(runner: str, tmp_path: Path) -> None:
    """GenGraph.java keeps no order of targets; here they ascend."""
    launcher = cluster(tmp_path, 3, 1) if runner == "cluster" else Launcher(runner, tmp_path, 2)
    run(tmp_path, launcher, write(tmp_path / "input_links", oracle("input_links.txt.gz")))
    found = [line.split(b"\t") for line in dataset(tmp_path / "graph")]
    wanted = {tuple(line.split(b"\t")) for line in oracle("pr0.txt.gz")}
    assert len(found) == len(wanted) == 18_038
    assert {(n, s, by_number(targets)) for n, s, targets in found} == {
        (n, s, by_number(targets)) for n, s, targets in wanted
    }
    assert all(by_number(targets) == targets for _, _, targets in found)


def by_number(targets: bytes) -> bytes:
    named = targets.removeprefix(b"O:").split(b",")
    return targets if named == [b"dummy"] else b"O:" + b",".join(sorted(named, key=int))


def check(tmp: Path, launcher: Launcher, nodes: str = "all") -> None:
    links = plain.canonical_links(made_links())
    numbers = plain.ids(links, plain.uris(made_links(), made_captures()), nodes)
    rows = plain.input_links(links, numbers)
    inputs = [write(tmp / "links-1", rows[:99]), write(tmp / "links-2", rows[99:])]
    if nodes == "all":
        named = [b"%d %s" % (number, key) for key, number in numbers.items()]
        inputs.append(write(tmp / "map", named))
    outcome = run(tmp, launcher, *inputs)
    targets = plain.graph(links, numbers)
    assert sorted(dataset(tmp / "graph")) == sorted(plain.graph_lines(targets))
    assert outcome.counters["nodes"] == len(targets)
    assert outcome.counters["edges"] == sum(map(len, targets.values()))
    assert outcome.counters["dangling"] == sum(not found for found in targets.values())
    [ending] = [part for part in (tmp / "graph").iterdir() if b"dummy\t1" in part.read_bytes()]
    assert ending.read_bytes().splitlines()[-1] == b"dummy\t1.0\tO:dummy"


@pytest.mark.parametrize("nodes", ["linked", "all"])
def test_made_links_inline(nodes: str, tmp_path: Path) -> None:
    check(tmp_path, inline(tmp_path), nodes)


@pytest.mark.parametrize("nodes", ["linked", "all"])
@pytest.mark.parametrize(("reducers", "seed"), [(1, 0), (4, 2), MANY_REDUCERS])
def test_made_links_on_a_cluster(nodes: str, reducers: int, seed: int, tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, reducers, seed), nodes)


def test_a_full_memory_changes_no_line(tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, 3, 4, combined=2))


def test_no_link_gives_dummy_alone(tmp_path: Path) -> None:
    run(tmp_path, cluster(tmp_path, 4), write(tmp_path / "input_links", []))
    assert dataset(tmp_path / "graph") == [b"dummy\t1.0\tO:dummy"]


@pytest.mark.parametrize("reducers", [1, 3])
def test_two_ids_of_a_key_are_refused(reducers: int, tmp_path: Path) -> None:
    links = write(tmp_path / "input_links", [b"0 a)/ b)/", b"1 b)/ a)/"])
    other = write(tmp_path / "map", [b"0 a)/", b"2 b)/"])
    with pytest.raises(
        BadInput, match=r"key b\)/: has the ids 1 and 2; expected one id for a key"
    ) as refused:
        run(tmp_path, cluster(tmp_path, reducers), links, other)
    assert refused.value.where == f"{other}, line 2"
    assert "assign-ids" in refused.value.cure
    assert not (tmp_path / "graph").exists()


@pytest.mark.parametrize("reducers", [1, 3])
def test_two_keys_of_an_id_are_refused(reducers: int, tmp_path: Path) -> None:
    links = write(
        tmp_path / "input_links", [b"1 a)/ b)/", b"0 k)/ s)/", b"0 k)/ a)/", b"0 j)/ s)/"]
    )
    with pytest.raises(BadInput, match=r"id 0: has the keys j\)/ and k\)/; exp") as refused:
        run(tmp_path, cluster(tmp_path, reducers), links)
    assert refused.value.where == f"{links}, line 4"
    assert "assign-ids" in refused.value.cure


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (b"a)/ b)/", "id 'a)/' in 'a)/ b)/'"),
        (b"1 a)/ b)/ c)/", "'1 a)/ b)/ c)/'"),
        (b"007 a)/ b)/", "id '007' in '007 a)/ b)/'"),
        (b"", "an empty line"),
    ],
)
def test_a_bad_line_is_named_with_its_place(bad: bytes, found: str, tmp_path: Path) -> None:
    links = write(tmp_path / "input_links", [b"0 a)/ b)/", bad])
    with pytest.raises(BadInput) as refused:
        run(tmp_path, inline(tmp_path), links)
    assert refused.value.where == f"{links}, line 2"
    assert refused.value.found == found
