"""join-scores and export-precedence of the embedded engine, against the jobs on the same rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.crawls import crawlrank, ok
from support.drawing import examples
from support.inputs.samples import write

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.order import BEST_SPELLING_FIRST, spelling_order
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.scores_file import best_first
from crawlrank.pipeline.engines.embedded.scores import TOTALLED, join_scores, one_row_a_key
from crawlrank.pipeline.engines.text.steps import join_scores as join_scores_by_jobs
from crawlrank.pipeline.precedence.export import export_precedence
from crawlrank.pipeline.precedence.lines import Formed, Lines
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.scored import SPELLINGS

BUDGET = 1 << 30
NO_ID = 2**32 - 1


class Spelling(NamedTuple):
    key: str
    uri: str
    captures: int
    links: int
    last: str


class Crawl(NamedTuple):
    """spellings: sorted by key, then URI. nodes: the keys that have an id. edges: ids, ascending
    by target. scores: by id."""

    spellings: list[Spelling]
    nodes: list[str]
    edges: list[tuple[int, int]]
    scores: list[float]


KEYS = [f"example,{letter})/" for letter in "abcdefgh"]
SCORES = st.sampled_from([0.15, 0.5, 0.5000000000000001, 0.5 + 1e-8, 2.25]) | st.floats(0.15, 9.0)
LAST = st.sampled_from(["-", "20240101000000", "20240102030405"])


def uris_of(key: str) -> list[str]:
    host = f"{key[8]}.example"
    paths = ["/", "", "/a b", "/%zz", "/é", "/?q", ":99999/", "/./x"]
    return [f"http://{www}{host}{path}" for www in ("", "www.") for path in paths]


@st.composite
def crawls(draw: st.DrawFn) -> Crawl:
    spellings = []
    for key in draw(st.lists(st.sampled_from(KEYS), min_size=1, unique=True)):
        uris = st.sampled_from(uris_of(key)).map(lambda uri: uri.replace(" ", "%20"))
        for uri in draw(st.lists(uris, min_size=1, max_size=5, unique=True)):
            counts = draw(st.integers(0, 2)), draw(st.integers(0, 2))
            spellings.append(Spelling(key, uri, *counts, draw(LAST)))
    keys = sorted({spelling.key for spelling in spellings})
    nodes = [key for key in keys if draw(st.booleans())] or keys[:1]
    pairs = st.tuples(*[st.integers(0, len(nodes) - 1)] * 2).filter(lambda pair: pair[0] != pair[1])
    edges = draw(st.lists(pairs, max_size=12, unique=True)) if len(nodes) > 1 else []
    scores = draw(st.lists(SCORES, min_size=len(nodes), max_size=len(nodes)))
    return Crawl(
        sorted(spellings, key=lambda s: (s.key.encode(), s.uri.encode())),
        nodes,
        sorted(edges, key=lambda edge: edge[::-1]),
        scores,
    )


def write_text(folder: Path, crawl: Crawl) -> None:
    """The datasets of the jobs."""
    targets: dict[int, list[str]] = {node: [] for node in range(len(crawl.nodes))}
    for source, target in crawl.edges:
        targets[source].append(str(target))
    ranks = [
        f"{node}\t{crawl.scores[node]!r}\tO:{','.join(found) or 'dummy'}"
        for node, found in targets.items()
    ]
    write(folder / "ranks", [line.encode() for line in [*ranks, "dummy\t1.0\tO:dummy"]])
    write(folder / "map", [f"{node} {key}".encode() for node, key in enumerate(crawl.nodes)])
    write(folder / "uris", ["\t".join(map(str, row)).encode() for row in crawl.spellings])


def rows_of(crawl: Crawl) -> pa.Table:
    """Spellings with the numbers of their keys."""
    keys = sorted({spelling.key for spelling in crawl.spellings})
    return pa.Table.from_pylist(
        [{"number": keys.index(s.key), **s._asdict()} for s in crawl.spellings]
    )


def write_arrays(folder: Path, crawl: Crawl) -> None:
    """Write the arrays of the embedded engine."""
    keys = sorted({spelling.key for spelling in crawl.spellings})
    pq.write_table(rows_of(crawl), folder / "uris.parquet", row_group_size=3)
    ids = [crawl.nodes.index(key) if key in crawl.nodes else NO_ID for key in keys]
    np.save(folder / "ids.npy", np.array(ids, np.uint32))
    np.save(folder / "scores.npy", np.array(crawl.scores))
    nodes = range(len(crawl.nodes))
    degrees = [[sum(edge[end] == node for edge in crawl.edges) for node in nodes] for end in (0, 1)]
    np.save(folder / "outdegrees.npy", np.array(degrees[0], np.uint32))
    np.save(folder / "offsets.npy", np.append(0, np.cumsum(degrees[1])).astype(np.int64))
    np.save(folder / "sources.npy", np.array([source for source, _ in crawl.edges], np.uint32))


def joined(folder: Path, digits: int = 9) -> pa.Table:
    output = folder / "scores.parquet"
    rows = join_scores(
        folder / "scores.npy", folder / "ids.npy", folder / "uris.parquet", folder, output, folder,
        budget=BUDGET, digits=digits,
    )  # fmt: skip
    table = pq.read_table(output)
    assert rows == len(table)
    return table


def by_jobs(folder: Path, digits: int = 9) -> pa.Table:
    output = folder / "by_jobs.parquet"
    join_scores_by_jobs(
        [folder / "ranks"], [folder / "map"], folder / "uris", output,
        Launcher("inline", folder), digits=digits,
    )  # fmt: skip
    return pq.read_table(output)


@given(crawls(), st.integers(1, 4))
def test_a_key_goes_on_in_the_next_batch(crawl: Crawl, size: int) -> None:
    table = rows_of(crawl).cast(pa.schema(list(TOTALLED)[:-1]))
    wanted = np.array([key in crawl.nodes for key in sorted({s.key for s in crawl.spellings})])
    (whole, *more) = one_row_a_key(table.to_batches(), wanted)
    rows = [row for batch in (whole, *more) for row in batch.to_pylist()]
    parts = one_row_a_key(table.to_batches(size), wanted)
    assert [row for batch in parts for row in batch.to_pylist()] == rows
    assert len(rows) == len(crawl.nodes)


@settings(max_examples=examples(20), deadline=None)
@given(crawls())
def test_python_sql_and_columns_choose_the_same_spelling(crawl: Crawl) -> None:
    rows = rows_of(crawl)
    expected: dict[str, bytes] = {}
    by_python: dict[str, tuple[int, int, bytes]] = {}
    for most in sorted(crawl.spellings, key=lambda s: (s.captures, s.links), reverse=True):
        same = [s for s in crawl.spellings if s[0] == most.key and s[2:4] == most[2:4]]
        expected.setdefault(most.key, min(s.uri.encode() for s in same))
        order = spelling_order(most.captures, most.links, most.uri.encode())
        by_python[most.key] = min(by_python.get(most.key, order), order)
    assert {key: order[2] for key, order in by_python.items()} == expected
    query = f"SELECT key, first(uri ORDER BY {BEST_SPELLING_FIRST}) FROM rows GROUP BY key"
    assert {key: uri.encode() for key, uri in duckdb.sql(query).fetchall()} == expected
    keys = len(set(rows["number"].to_pylist()))
    chosen = one_row_a_key(rows.to_batches(), np.ones(keys, bool))
    pairs = [(row["key"], row["uri"].encode()) for batch in chosen for row in batch.to_pylist()]
    assert dict(pairs) == expected


@settings(max_examples=examples(25), deadline=None)
@given(crawls(), st.sampled_from([9, 9, 16, 1]))
def test_scores_are_those_of_the_job(
    tmp_path_factory: pytest.TempPathFactory, crawl: Crawl, digits: int
) -> None:
    folder = tmp_path_factory.mktemp("scores")
    write_text(folder, crawl)
    write_arrays(folder, crawl)
    found = joined(folder, digits)
    expected = by_jobs(folder, digits)
    assert found.schema == expected.schema
    *_, probability = found.column_names
    assert found.drop([probability]).to_pylist() == expected.drop([probability]).to_pylist()
    assert found[probability].to_pylist() == pytest.approx(expected[probability].to_pylist())


OPTIONS = st.builds(
    PrecedenceOptions,
    bins=st.sampled_from([1, 3, 5, 125]),
    classes_over=st.sampled_from(["captured", "all"]),
    ties=st.sampled_from(["key", "together"]),
    spellings=st.sampled_from(["all", "captured"]),
    eta=st.sampled_from([None, 1e-9, 0.1]),
)


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(crawls(), OPTIONS)
def test_precedences_are_the_same_from_text_and_from_numbers(
    tmp_path_factory: pytest.TempPathFactory, crawl: Crawl, options: PrecedenceOptions
) -> None:
    """Joined by key from text, by key from Parquet, and by number: one file, one summary."""
    folder = tmp_path_factory.mktemp("precedence")
    write_text(folder, crawl)
    write_arrays(folder, crawl)
    table = joined(folder)
    best = [f"{row['score']!r}\t{row['uri']}\t{row['key']}" for row in table.to_pylist()]
    write(folder / "scores.txt", [line.encode() for line in best])
    written: set[tuple[bytes, str]] = set()
    for scores, uris, ids in (
        ("scores.txt", "uris", None),
        ("scores.parquet", "uris", None),
        ("scores.txt", "uris.parquet", None),
        ("scores.parquet", "uris.parquet", None),
        ("scores.parquet", "uris.parquet", folder / "ids.npy"),
    ):
        output = folder / "precedence.txt"
        summary = export_precedence(
            folder / scores, folder / uris, output, folder, options, ids=ids, budget=BUDGET
        )
        written.add((output.read_bytes(), json.dumps(asdict(summary))))
    assert len(written) == 1


def test_the_best_are_the_first_of_text_and_of_parquet(tmp_path: Path) -> None:
    crawl = with_another(ONE)
    write_text(tmp_path, crawl)
    write_arrays(tmp_path, crawl)
    (tmp_path / "dataset").mkdir()
    joined(tmp_path)
    (tmp_path / "scores.parquet").rename(tmp_path / "dataset" / "scores.parquet")
    lines = [b"0.2\thttp://b.example/\texample,b)/", b"0.15\thttp://a.example/\texample,a)/"]
    text = write(tmp_path / "scores.txt", lines)
    expected = [(0.2, b"http://b.example/"), (0.15, b"http://a.example/")]
    for where in (text, tmp_path / "dataset", tmp_path / "dataset" / "scores.parquet"):
        assert [(row.score, row.uri) for row in best_first(where)] == expected


def test_hashes_in_several_ranges_find_what_meets(tmp_path: Path) -> None:
    uris = [f"http://a.example{port}/" for port in ("", ":80")]
    uris += [f"http://b.example/{n}" for n in range(9)]
    every = [True] * len(uris)
    rows = {"node": [0, 0, *[1] * 9], "uri": uris, "captured": every, "weight": [0] * len(uris)}
    spellings = pa.record_batch({**rows, "listed": every}, SPELLINGS)
    formed = Formed(tmp_path / "formed.arrow", 2, iter([spellings]))
    classes, places = np.array([1, 2], np.int16), np.arange(2)
    lines = Lines(formed, classes, places, bins=2, only=False, hashes=2)
    with database(tmp_path, budget=BUDGET, threads=1) as (db, _):
        found = b"".join(lines.pieces(db)).decode()
    assert found == "".join(
        ["http://a.example/ 1\n", *(f"http://b.example/{n} 2\n" for n in range(9))]
    )
    assert (lines.changes.formed, lines.changes.rewritten) == (11, 1)


ONE = Crawl([Spelling("example,a)/", "http://a.example/", 1, 1, "-")], ["example,a)/"], [], [0.15])


def test_the_command_takes_parquet(tmp_path: Path) -> None:
    write_arrays(tmp_path, ONE)
    joined(tmp_path)
    given = tmp_path / "scores.parquet", "--uris", tmp_path / "uris.parquet"
    ok("export-precedence", *given, "--output", tmp_path / "p.txt")
    assert (tmp_path / "p.txt").read_text() == "http://a.example/ 1\n"
    pq.write_table(pa.table({"number": [1]}), tmp_path / "uris.parquet")
    said = crawlrank("export-precedence", *given, "--output", tmp_path / "p.txt")
    assert (said.code, "uris.parquet: no column key, uri, captures" in said.err) == (3, True)
    (tmp_path / "uris.parquet").write_bytes(b"PAR1 it is not")
    said = crawlrank("export-precedence", *given, "--output", tmp_path / "p.txt")
    assert (said.code, "no readable Parquet" in said.err) == (3, True)


@pytest.mark.parametrize(
    ("name", "changed", "found"),
    [
        ("scores.npy", np.ones(2), "2 scores"),
        ("ids.npy", np.array([NO_ID], np.uint32), "spellings of 0 nodes"),
        ("ids.npy", np.array([1], np.uint32), "1; expected id 0"),
    ],
)
def test_files_of_other_runs_are_refused(
    tmp_path: Path, name: str, changed: Any, found: str
) -> None:
    write_arrays(tmp_path, ONE)
    np.save(tmp_path / name, changed)
    with pytest.raises(BadInput, match=found):
        joined(tmp_path)
    assert not (tmp_path / "scores.parquet").exists()


def test_a_node_without_spelling_is_named(tmp_path: Path) -> None:
    write_arrays(tmp_path, with_another(ONE))
    joined(tmp_path)
    write_arrays(tmp_path, ONE)
    np.save(tmp_path / "ids.npy", np.array([0], np.uint32))
    with pytest.raises(BadInput, match=r"1 key without a spelling in uris, the first example,b"):
        export_precedence(
            tmp_path / "scores.parquet", tmp_path / "uris.parquet", tmp_path / "p.txt", tmp_path,
            PrecedenceOptions(bins=2), ids=tmp_path / "ids.npy",
        )  # fmt: skip


def with_another(crawl: Crawl) -> Crawl:
    other = Spelling("example,b)/", "http://b.example/", 0, 1, "-")
    return Crawl([*crawl.spellings, other], [*crawl.nodes, other.key], [], [0.15, 0.2])
