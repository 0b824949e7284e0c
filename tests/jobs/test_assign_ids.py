"""assign_ids: ids are ranks in byte order over the whole data, on any number of reducers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support import plain
from support.inputs.samples import made_captures, made_links, oracle, write
from support.systems.cluster import MANY_REDUCERS, cluster, dataset, inline

from crawlrank.jobs import assign_ids
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome


def run(tmp: Path, launcher: Launcher, *inputs: Path, nodes: str = "linked") -> Outcome:
    """Input links to `tmp`/input_links, map to `tmp`/map."""
    return assign_ids.run(
        [str(path) for path in inputs], tmp / "input_links", tmp / "map", launcher, nodes=nodes
    )


def test_ids_worked_out_by_hand(tmp_path: Path) -> None:
    """By bytes `)` < `,` < `:`, so a host sorts before its subdomains and its ports."""
    links = [
        b"org,b)/ org,a)/",
        b"org,a:8080)/ org,z)/",
        b"org,a,sub)/ org,b)/",
        b"org,a)/z org,b)/",
        b"org,a)/Z org,b)/",
        b"org,self)/ org,self)/",
    ]
    outcome = run(tmp_path, inline(tmp_path), write(tmp_path / "links", links))
    assert sorted(dataset(tmp_path / "map")) == [
        b"0 org,a)/Z",
        b"1 org,a)/z",
        b"2 org,a,sub)/",
        b"3 org,a:8080)/",
        b"4 org,b)/",
        b"5 org,self)/",
    ]
    assert sorted(dataset(tmp_path / "input_links")) == [
        b"0 org,a)/Z org,b)/",
        b"1 org,a)/z org,b)/",
        b"2 org,a,sub)/ org,b)/",
        b"3 org,a:8080)/ org,z)/",
        b"4 org,b)/ org,a)/",
        b"5 org,self)/ org,self)/",
    ]
    assert outcome.counters == {"nodes": 6, "input_links": 6}


def test_what_is_gone_gets_no_id(tmp_path: Path) -> None:
    """The source of a link is `-` where nothing is left of its page."""
    links = write(tmp_path / "links", [b"org,a)/ -", b"org,b)/ org,a)/", b"org,b)/ org,c)/"])
    run(tmp_path, inline(tmp_path), links, nodes="all")
    assert sorted(dataset(tmp_path / "map")) == [b"0 org,a)/", b"1 org,b)/", b"2 org,c)/"]


@pytest.mark.slow
@pytest.mark.parametrize("runner", [pytest.param("local", marks=pytest.mark.slow), "cluster"])
def test_rows_are_those_of_the_notes_own_script(runner: str, tmp_path: Path) -> None:
    """assignUrlIndex.pl on sorted links, which writes tabs; here the links come unsorted."""
    launcher = cluster(tmp_path, 3, 1) if runner == "cluster" else Launcher(runner, tmp_path, 2)
    run(tmp_path, launcher, write(tmp_path / "links", oracle("links.txt.gz")))
    wanted = [line.replace(b"\t", b" ") for line in oracle("input_links.txt.gz")]
    assert len(wanted) == 20_795
    assert sorted(dataset(tmp_path / "input_links")) == sorted(wanted)
    assert set(dataset(tmp_path / "map")) == {line.rpartition(b" ")[0] for line in wanted}
    assert len(dataset(tmp_path / "map")) == 18_037


def check(tmp: Path, launcher: Launcher, nodes: str = "linked") -> None:
    """Canonical links in any order, some of them twice, and uris, in several files."""
    links = plain.canonical_links(made_links())
    spellings = plain.uris(made_links(), made_captures())
    numbers = plain.ids(links, spellings, nodes)
    rng = random.Random(3)
    given = rng.sample(links, len(links)) + rng.sample(links, 50)
    inputs = [write(tmp / "links-1", given[:99]), write(tmp / "links-2", given[99:])]
    inputs.append(write(tmp / "uris", spellings))
    outcome = run(tmp, launcher, *inputs, nodes=nodes)
    rows = dataset(tmp / "map")
    assert sorted(rows) == sorted(b"%d %s" % (number, key) for key, number in numbers.items())
    assert sorted(dataset(tmp / "input_links")) == plain.input_links(links, numbers)
    assert outcome.counters == {"nodes": len(numbers), "input_links": len(links)}
    assert outcome.rows == {"map": len(numbers), "main": len(links)}


@pytest.mark.parametrize("nodes", ["linked", "all"])
def test_made_links_inline(nodes: str, tmp_path: Path) -> None:
    check(tmp_path, inline(tmp_path), nodes)


@pytest.mark.few(1)
@pytest.mark.parametrize("nodes", ["linked", "all"])
@pytest.mark.parametrize(("reducers", "seed"), [(1, 0), (4, 2), MANY_REDUCERS])
def test_made_links_on_a_cluster(nodes: str, reducers: int, seed: int, tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, reducers, seed), nodes)


def test_more_keys_than_a_task_remembers(tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, 3, 4, combined=3), "all")


def test_more_ranges_than_keys(tmp_path: Path) -> None:
    links = write(tmp_path / "links", [b"b)/ a)/", b"a)/ b)/"])
    run(tmp_path, cluster(tmp_path, 9), links)
    assert sorted(dataset(tmp_path / "map")) == [b"0 a)/", b"1 b)/"]


def test_no_link_gives_no_id(tmp_path: Path) -> None:
    outcome = run(tmp_path, cluster(tmp_path, 3), write(tmp_path / "links", []))
    assert outcome.rows["map"] == outcome.counters["nodes"] == 0
    assert dataset(tmp_path / "map") == []


def test_one_temporary_folder_serves_any_number_of_runs(tmp_path: Path) -> None:
    links = write(tmp_path / "links", [b"b)/ a)/"])
    (tmp_path / "tmp").mkdir()
    launcher = inline(tmp_path / "tmp")
    for name in ("first", "second"):
        run(tmp_path / name, launcher, links)
        assert dataset(tmp_path / name / "map") == [b"0 b)/"]
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (b"a)/", "'a)/'"),
        (b"a)/ b)/ c)/", "'a)/ b)/ c)/'"),
        (b"", "an empty line"),
        (b"a\xffb c\xffd", "key 'a\\ufffdb'"),
        (b"# comment", "'# comment'"),
    ],
)
def test_a_bad_line_is_named_with_its_place(bad: bytes, found: str, tmp_path: Path) -> None:
    links = write(tmp_path / "links", [b"b)/ a)/", b"c)/ a)/", bad])
    with pytest.raises(BadInput) as refused:
        run(tmp_path, inline(tmp_path), links)
    assert refused.value.where == f"{links}, line 3"
    assert refused.value.found == found
    assert {path.name for path in tmp_path.iterdir()} == {"links"}
