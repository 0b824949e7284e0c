"""Every runner, any number of reducers, any order and any split of the archives: the same bytes."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import pytest
from support.crawls import INLINE, MORE_WEB, WEB, chain, datasets, ok, write_warc
from support.paths import LOOPBACK, SMALL_ARCHIVES
from support.systems.cluster import cluster, inline

from jobs.mapreduce.launcher import Launcher

OF_ARCHIVES = ("links", "captures")  # in the order of the archives, and naming them
UNSORTED_ON_A_CLUSTER = ("input_links", "map")  # their last stage has no reducer to sort them
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


@pytest.fixture(scope="module", params=["linked", "all"])
def nodes(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def expected(
    archives: list[Path], nodes: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    tmp = tmp_path_factory.mktemp("inline")
    return comparable(chain(archives, tmp / "out", inline(tmp), nodes=nodes))


def test_there_is_something_to_compare(expected: dict[str, bytes], nodes: str) -> None:
    assert expected["map"].count(b"\n") > (50 if nodes == "linked" else 55)
    assert expected["precedence.txt"].count(b"\n") > 60


@pytest.mark.parametrize("reducers", [1, 3, 16])
def test_on_a_cluster(
    reducers: int, archives: list[Path], nodes: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    launcher = cluster(tmp_path, reducers, seed=reducers)
    found = comparable(chain(archives, tmp_path / "out", launcher, nodes=nodes))
    for name in UNSORTED_ON_A_CLUSTER:
        assert sorted(found.pop(name).splitlines()) == sorted(expected[name].splitlines())
    assert found == {n: rows for n, rows in expected.items() if n not in UNSORTED_ON_A_CLUSTER}


@pytest.mark.parametrize("ranges", [1, 3, 16])
def test_any_number_of_ranges(
    ranges: int, archives: list[Path], nodes: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    found = chain(archives, tmp_path / "out", inline(tmp_path, ranges), nodes=nodes)
    assert comparable(found) == expected


@pytest.mark.large
def test_by_local_processes(
    archives: list[Path], expected: dict[str, bytes], nodes: str, tmp_path: Path
) -> None:
    launcher = Launcher("local", tmp_path, processes=3)
    assert comparable(chain(archives, tmp_path / "out", launcher, nodes=nodes)) == expected


def test_archives_in_another_order(
    archives: list[Path], nodes: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    found = chain(archives[::-1], tmp_path / "out", inline(tmp_path), nodes=nodes)
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


def test_records_in_other_archives(
    archives: list[Path], nodes: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    """One archive's records dealt out to two, one of them inflated. Pairs of records that belong
    together (a response and its metadata) stay together."""
    records = members(LOOPBACK)
    assert len(records) > 100
    starts = [n for n, r in enumerate(records) if b"WARC-Type: response" in gzip.decompress(r)]
    middle = starts[len(starts) // 2]
    one, two = tmp_path / "one.warc.gz", tmp_path / "two.warc"
    one.write_bytes(b"".join(records[:middle]))
    two.write_bytes(b"".join(map(gzip.decompress, records[middle:])))
    found = chain([two, *archives[1:], one], tmp_path / "out", inline(tmp_path), nodes=nodes)
    assert comparable(found) == expected


def test_the_command_run(
    archives: list[Path], nodes: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    options = ("--iterations", 10, "--nodes", nodes, "--no-validate", *INLINE)
    ok("run", *archives, "--work", tmp_path / "work", *options)
    assert comparable(datasets(tmp_path / "work")) == expected


@pytest.mark.large
def test_a_tolerance_gives_the_same_on_both(archives: list[Path], tmp_path: Path) -> None:
    options = ("--tolerance", 0.01, "--no-validate")
    ok("run", *archives[1:], "--work", tmp_path / "inline", *options, "--runner", "inline")
    ok("run", *archives[1:], "--work", tmp_path / "local", *options, "--runner", "local")
    assert datasets(tmp_path / "local") == datasets(tmp_path / "inline")
