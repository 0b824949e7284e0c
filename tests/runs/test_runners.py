"""Every runner, any number of reducers, any order and any split of the archives: the same bytes."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from functools import cache
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from support.crawls import INLINE, MORE_WEB, WEB, chain, datasets, ok, write_warc
from support.paths import LOOPBACK, SMALL_ARCHIVES
from support.systems.cluster import cluster, inline

from crawlrank.jobs.mapreduce.launcher import Launcher

OF_ARCHIVES = ("links", "captures")  # in the order of the archives, and naming them
UNSORTED_ON_A_CLUSTER = ("input_links", "map")  # their last stage has no reducer to sort them
NODES = ("linked", "all")
ROUNDS = 3
SUMMARY = "precedence.summary.json"
OF_LINKS = ("unranked-sources", "no-links")  # kinds of caveats
SMALL_ONES = ("test__data__example.warc.gz", "samples__warcs__salam-home.warc")


def comparable(found: dict[str, bytes]) -> dict[str, bytes]:
    """All datasets, those of archives as sorted lines without archive and offset; the summary
    without the caveats of links, which a run knows and the command export-precedence does not."""
    links, captures = (found[name].splitlines() for name in OF_ARCHIVES)
    rows = [b"\t".join(line.split(b"\t")[:6]) for line in captures]
    summary = json.loads(found[SUMMARY])
    known = [row for row in summary["caveats"] if row["kind"] not in OF_LINKS]
    return {
        **found,
        "links": b"\n".join(sorted(links)),
        "captures": b"\n".join(sorted(rows)),
        SUMMARY: json.dumps({**summary, "caveats": known}).encode(),
    }


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A real crawl by Heritrix, small real archives and two made ones."""
    folder = tmp_path_factory.mktemp("archives")
    made = [write_warc(folder / "web.warc.gz", WEB), write_warc(folder / "more.warc", MORE_WEB)]
    return [LOOPBACK, *(SMALL_ARCHIVES / name for name in SMALL_ONES), *made]


def cases(*values: Any) -> Any:
    """The cases of a test: each value with one kind of nodes by turns; with the other one, slow."""
    turns = zip(values, cycle(NODES), strict=False)
    usual = [(value, nodes) for value, nodes in turns]
    more = [case for case in product(values, NODES) if case not in usual]
    marked = [pytest.param(*case, marks=pytest.mark.slow) for case in more]
    return pytest.mark.parametrize(("value", "nodes"), [*usual, *marked])


@pytest.fixture(scope="module")
def expected_of(
    archives: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, bytes]]:
    @cache
    def of(nodes: str) -> dict[str, bytes]:
        tmp = tmp_path_factory.mktemp("inline")
        found = comparable(chain(archives, tmp / "out", inline(tmp), rounds=ROUNDS, nodes=nodes))
        assert found["map"].count(b"\n") > (50 if nodes == "linked" else 55)
        assert found["precedence.txt"].count(b"\n") > 60
        return found

    return of


@pytest.fixture
def expected(expected_of: Callable[[str], dict[str, bytes]], nodes: str) -> dict[str, bytes]:
    return expected_of(nodes)


@pytest.mark.slow
@pytest.mark.few(1)
@cases(3, 16, 1)
def test_on_a_cluster(
    value: int, archives: list[Path], nodes: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    launcher = cluster(tmp_path, value, seed=value)
    found = comparable(chain(archives, tmp_path / "out", launcher, rounds=ROUNDS, nodes=nodes))
    for name in UNSORTED_ON_A_CLUSTER:
        assert sorted(found.pop(name).splitlines()) == sorted(expected[name].splitlines())
    assert found == {n: rows for n, rows in expected.items() if n not in UNSORTED_ON_A_CLUSTER}


@pytest.mark.slow
@pytest.mark.few(1)
@cases(16, 1, 3)
def test_any_number_of_ranges(
    value: int, archives: list[Path], nodes: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    found = chain(archives, tmp_path / "out", inline(tmp_path, value), rounds=ROUNDS, nodes=nodes)
    assert comparable(found) == expected


@pytest.mark.slow
@pytest.mark.parametrize("nodes", NODES)
def test_by_local_processes(
    archives: list[Path], expected: dict[str, bytes], nodes: str, tmp_path: Path
) -> None:
    launcher = Launcher("local", tmp_path, processes=3)
    found = chain(archives, tmp_path / "out", launcher, rounds=ROUNDS, nodes=nodes)
    assert comparable(found) == expected


def members(archive: Path) -> list[bytes]:
    """The gzip members, which are its records: each begins where inflating the one before ends."""
    data, found = archive.read_bytes(), []
    while data:
        inflater = zlib.decompressobj(wbits=31)
        inflater.decompress(data)
        size = len(data) - len(inflater.unused_data)
        found.append(data[:size])
        data = inflater.unused_data
    return found


@pytest.mark.slow
@pytest.mark.parametrize("nodes", ["all", pytest.param("linked", marks=pytest.mark.slow)])
def test_records_in_other_archives(
    archives: list[Path], nodes: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    """One archive's records dealt out to two, one of them inflated, and the archives in another
    order. Pairs of records that belong together (a response and its metadata) stay together."""
    records = members(LOOPBACK)
    assert len(records) > 100
    starts = [n for n, r in enumerate(records) if b"WARC-Type: response" in gzip.decompress(r)]
    middle = starts[len(starts) // 2]
    one, two = tmp_path / "one.warc.gz", tmp_path / "two.warc"
    one.write_bytes(b"".join(records[:middle]))
    two.write_bytes(b"".join(map(gzip.decompress, records[middle:])))
    others = [two, *archives[:0:-1], one]
    found = chain(others, tmp_path / "out", inline(tmp_path), rounds=ROUNDS, nodes=nodes)
    assert comparable(found) == expected


@pytest.mark.parametrize("nodes", ["linked", pytest.param("all", marks=pytest.mark.slow)])
def test_the_command_run(
    archives: list[Path], nodes: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    options = ("--iterations", ROUNDS, "--nodes", nodes, "--no-validate", *INLINE)
    ok("run", *archives, "--work", tmp_path / "work", *options)
    assert comparable(datasets(tmp_path / "work")) == expected


@pytest.mark.slow
def test_a_tolerance_gives_the_same_on_both(archives: list[Path], tmp_path: Path) -> None:
    options = ("--tolerance", 0.01, "--no-validate")
    ok("run", *archives[1:], "--work", tmp_path / "inline", *options, "--runner", "inline")
    ok("run", *archives[1:], "--work", tmp_path / "local", *options, "--runner", "local")
    assert datasets(tmp_path / "local") == datasets(tmp_path / "inline")
