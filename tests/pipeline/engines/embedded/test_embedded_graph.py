"""From links and captures in Parquet to uris, ids and graph, held to the jobs on the same lines."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import plain
from support.drawing import examples
from support.inputs.samples import HOSTILE, made_captures, made_links, write
from support.paths import LOOPBACK, SAMPLES
from support.systems.cluster import dataset, inline

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import parse_capture, parse_link
from crawlrank.pipeline.data.csr import open_csr
from crawlrank.pipeline.data.graph import read_graph
from crawlrank.pipeline.data.pairs import LEAST
from crawlrank.pipeline.engines.embedded.canonicalization.canonicalize import (
    SpellingCounts,
    canonicalize,
    usual_partitions,
)
from crawlrank.pipeline.engines.embedded.columns import BLOCK, CapturesWriter, LinksWriter
from crawlrank.pipeline.engines.embedded.gen_graph import (
    GraphCounts,
    gen_graph,
    key_pairs,
    opic_graph,
    transposed,
    write_graph,
)
from crawlrank.pipeline.engines.embedded.ids import IdCounts, assign_ids
from crawlrank.pipeline.engines.text import steps

Lines = Sequence[bytes]
ROOMY = 1 << 32
REAL = sorted(SAMPLES.glob("*.warc.gz"))
KEYLESS = [b"http://a.example:99999/", b"http://b.example:port/x"]


class Made(NamedTuple):
    """What the embedded engine made in a folder, and what it counted."""

    folder: Path
    spellings: SpellingCounts
    ids: IdCounts
    graph: GraphCounts

    def uris(self) -> list[bytes]:
        rows = pq.read_table(self.folder / "uris" / "uris.parquet").drop(["number"]).to_pylist()
        return ["\t".join(map(str, row.values())).encode() for row in rows]

    def numbers(self) -> list[int]:
        return pq.read_table(self.folder / "uris" / "uris.parquet")["number"].to_pylist()

    def map(self) -> list[bytes]:
        rows = pq.read_table(self.folder / "map" / "map.parquet").to_pylist()
        return [b"%d %s" % (row["id"], row["key"].encode()) for row in rows]

    def lines(self) -> list[bytes]:
        """The graph as the job writes it."""
        csr = open_csr(self.folder / "graph")
        targets: dict[int, list[int]] = {node: [] for node in range(csr.nodes)}
        for node in range(csr.nodes):
            sources = csr.sources[csr.offsets[node] : csr.offsets[node + 1]].tolist()
            assert sources == sorted(set(sources))
            for source in sources:
                targets[source].append(node)
        assert [len(found) for found in targets.values()] == csr.outdegrees.tolist()
        return plain.graph_lines(targets)


def embedded(
    folder: Path,
    links: Lines,
    captures: Lines = (),
    *,
    nodes: str = "linked",
    parts: int = 1,
    block: int = BLOCK,
    budget: int = ROOMY,
    processes: int = 1,
    threads: int = 1,
    partitions: int | None = None,
    least: int = LEAST,
) -> Made:
    """All steps on lines, dealt to parts. partitions: of canonicalize. least: of gen_graph."""
    for name in ("links", "captures", "tmp"):
        (folder / name).mkdir(parents=True)
    for number in range(parts):
        with LinksWriter(folder / "links" / f"{number}.parquet", block) as file:
            for link in map(parse_link, links[number::parts]):
                file.add(link.source, [link.target], [link.hop])
        if some := captures[number::parts]:
            with CapturesWriter(folder / "captures" / f"{number}.parquet") as rows:
                rows.add(map(parse_capture, some))
    path, tmp = folder.__truediv__, folder / "tmp"
    spelled = canonicalize(
        path("links"), path("captures"), path("uris"), path("numbers"),
        budget=budget, tmp=tmp, processes=processes, threads=threads, partitions=partitions,
        edges=path("edges"),
    )  # fmt: skip
    ids = assign_ids(path("uris") / "uris.parquet", path("map"), nodes=nodes)
    graph, of_edges = (
        gen_graph(
            path("links"), path("numbers"), path("map") / "ids.npy", path(output),
            budget=budget, tmp=tmp, threads=threads, least=least, edges=edges,
        )
        for output, edges in (("graph", None), ("graph-of-edges", path("edges")))
    )  # fmt: skip
    assert not any(tmp.iterdir())
    assert graph == of_edges
    for file in path("graph").iterdir():
        assert file.read_bytes() == (path("graph-of-edges") / file.name).read_bytes()
    return Made(folder, spelled, ids, graph)


def check(made: Made, folder: Path, links: Lines, captures: Lines, nodes: str = "linked") -> None:
    """Rows and counters are those of the jobs on the same lines."""
    folder.mkdir()
    launcher, path = inline(folder / "tmp"), folder.__truediv__
    (folder / "tmp").mkdir()
    inputs = [write(path("links.txt"), list(links))], [write(path("captures.txt"), list(captures))]
    canonical = steps.canonicalize(*inputs, path("canonical_links"), path("uris"), launcher)
    steps.assign_ids(
        [path("canonical_links")], [path("uris")], path("input_links"), path("map"), launcher,
        nodes=nodes,
    )  # fmt: skip
    maps = [path("map")] if nodes == "all" else []
    graph = steps.gen_graph([path("input_links")], maps, path("graph"), launcher)

    assert made.uris() == sorted(dataset(path("uris")))
    keys = [row.split(b"\t")[0] for row in made.uris()]
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    assert made.numbers() == [rank[key] for key in keys]
    assert sorted(made.map()) == sorted(dataset(path("map")))
    assert sorted(made.lines()) == sorted(dataset(path("graph")))

    dropped = {f"dropped.{reason}": count for reason, count in made.spellings.dropped.items()}
    counted = {"uris": made.spellings.uris, "links": made.spellings.links, **dropped}
    counted["keys"] = made.spellings.keys
    if canonical.counters.get("canonical_links"):
        counted["canonical_links"] = made.graph.canonical_links
    assert {name: count for name, count in counted.items() if count} == canonical.counters
    counted = {
        "nodes": made.graph.nodes,
        "edges": made.graph.edges,
        "dangling": made.graph.dangling,
        "dropped.self-links": made.graph.self_links,
        "dropped.links-from-source-without-id": made.graph.without_id,
        "sources-without-id": made.graph.sources_without_id,
    }
    wanted = {name: count for name, count in graph.counters.items() if count}
    assert {name: count for name, count in counted.items() if count} == wanted
    assert made.ids == IdCounts(len(set(keys)), made.graph.nodes)


def crawl() -> tuple[list[bytes], list[bytes]]:
    """Made links and captures whose URIs are UTF-8, some without key."""
    links = [line for line in made_links() if b"\xff" not in line]
    links += [b"%s http://big.example/1 L" % uri for uri in KEYLESS * 3]
    links += [b"http://big.example/2 %s R" % KEYLESS[0], b"%s %s I" % (KEYLESS[0], KEYLESS[1])]
    captures = [line for line in made_captures() if b"\xff" not in line]
    captures.append(KEYLESS[0] + b"\t20240101000000\t200\ttext/html\t-\tresponse\ta.warc\t0")
    captures.append(b"http://big.example/3\t-\t200\ttext/html\t-\tresponse\ta.warc\t0")
    return links, captures


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("parts", "block", "budget", "threads", "nodes"),
    [
        pytest.param(*case, nodes, marks=[pytest.mark.slow] * (number % 2 != (nodes == "all")))
        for number, case in enumerate(
            [(1, BLOCK, ROOMY, 1), (1, 1, ROOMY, 1), (5, 7, 0, 3), (40, 100, 0, 2)]
        )
        for nodes in ("linked", "all")
    ],
)
def test_the_same_as_the_jobs(
    parts: int,
    block: int,
    budget: int,
    threads: int,
    nodes: str,
    tmp_path: Path,
) -> None:
    """Without a budget each block fills a table of spellings, and runs of pairs are written."""
    links, captures = crawl()
    made = embedded(
        tmp_path / "embedded", links, captures,
        nodes=nodes, parts=parts, block=block, budget=budget, threads=threads, least=16,
    )  # fmt: skip
    check(made, tmp_path / "jobs", links, captures, nodes)
    assert made.spellings.dropped["no-key"] == 8
    assert made.spellings.examples == sorted(KEYLESS)


@pytest.mark.parametrize(
    ("archives", "nodes"),
    [
        ([LOOPBACK], "all"),
        *(pytest.param(REAL, nodes, marks=pytest.mark.slow) for nodes in ("linked", "all")),
    ],
)
def test_real_archives(archives: list[Path], nodes: str, tmp_path: Path) -> None:
    """Links and captures of the sample archives, as the job extracts them, in one part each."""
    (tmp_path / "tmp").mkdir()
    both = tmp_path / "links", tmp_path / "captures"
    steps.extract_links(archives, *both, inline(tmp_path / "tmp"))
    links, captures = map(dataset, both)
    assert len(links) > (1000 if archives == REAL else 100)
    assert len(captures) > 20 * len(archives)
    made = embedded(tmp_path / "embedded", links, captures, nodes=nodes, parts=len(archives))
    check(made, tmp_path / "jobs", links, captures, nodes)


PAGES = [*HOSTILE[:9], *HOSTILE[10:], KEYLESS[0], b"http://a.example/", b"http://www.a.example/"]
LINKS = st.lists(st.tuples(*[st.sampled_from(PAGES)] * 2, st.sampled_from([b"L", b"R", b"I"])))


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(rows=LINKS, block=st.integers(1, 9), parts=st.integers(1, 4), seed=st.integers(0, 99))
def test_any_links(
    rows: list[tuple[bytes, bytes, bytes]],
    block: int,
    parts: int,
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("made")
    links = [b"%s %s %s" % row for row in rows] + [b"http://z.example/ http://y.example/ L"]
    shuffled = random.Random(seed).sample(links, len(links))
    made = embedded(folder / "embedded", shuffled, parts=parts, block=block, budget=0, least=4)
    check(made, folder / "jobs", links, ())


def test_links_need_not_be_there(tmp_path: Path) -> None:
    captures = [b"http://a.example/\t20240101000000\t200\ttext/html\t-\tresponse\ta.warc\t0"]
    with pytest.raises(BadInput, match="no links at all, so no page gets an id") as refused:
        embedded(tmp_path / "linked", [], captures)
    assert "--nodes all" in refused.value.cure
    made = embedded(tmp_path / "all", [], captures, nodes="all")
    assert (made.graph.nodes, made.graph.edges, made.graph.dangling) == (1, 0, 1)
    assert made.lines() == [b"0\t1.0\tO:dummy", b"dummy\t1.0\tO:dummy"]
    with pytest.raises(BadInput, match="at least one link or capture"):
        embedded(tmp_path / "nothing", [], nodes="all")


def test_numbers_of_other_links_are_refused(tmp_path: Path) -> None:
    links, captures = crawl()
    made = embedded(tmp_path, links, captures)
    numbers = tmp_path / "numbers" / "0.npy"
    held = np.load(numbers)
    for other in (held[:-1], np.append(held, held[:1]), held[:0]):
        np.save(numbers, other)
        with pytest.raises(BadInput, match="a number for every string of") as refused:
            list(key_pairs(tmp_path / "links" / "0.parquet", numbers, 1 << 20))
        assert refused.value.where == str(numbers)
    assert made.graph.nodes


@given(
    given_pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6))),
    piece=st.integers(1, 5),
    budget=st.sampled_from([0, ROOMY]),
)
def test_a_graph_turned_round(
    given_pairs: list[tuple[int, int]],
    piece: int,
    budget: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("graph")
    targets, sources = (np.array(given_pairs, np.int64).reshape(-1, 2)[:, i] for i in (0, 1))
    pairs = [[(targets, sources)]]
    write_graph(pairs, 7, folder / "in", budget=ROOMY, tmp=folder, piece=piece)
    csr = open_csr(folder / "in")
    turned = transposed(csr, folder / "out", budget=budget, tmp=folder, piece=piece)
    assert (folder / "out").exists() == (budget == 0)
    wanted = sorted({(s, t) for t, s in given_pairs if s != t})
    found = [
        (node, int(target))
        for node in range(7)
        for target in turned.sources[turned.offsets[node] : turned.offsets[node + 1]]
    ]
    assert found == wanted
    assert turned.outdegrees.tolist() == np.diff(csr.offsets).tolist()


def test_opic_walks_the_graph_of_the_text(tmp_path: Path) -> None:
    links, captures = crawl()
    made = embedded(tmp_path, links, captures)
    csr = open_csr(tmp_path / "graph")
    turned = transposed(csr, tmp_path / "outgoing", budget=ROOMY, tmp=tmp_path)
    graph = opic_graph("made", csr, turned, np.ones(csr.nodes), 1.0)
    text = read_graph(write(tmp_path / "pr0.txt", made.lines()))
    for name in ("ids", "scores", "offsets", "targets"):
        assert np.array_equal(getattr(graph, name), getattr(text, name))
        kind = np.int32 if name == "ids" else getattr(text, name).dtype  # positions, of few nodes
        assert getattr(graph, name).dtype == kind
    assert graph.dummy == text.dummy


@pytest.mark.slow
def test_many_partitions_and_processes_change_nothing(tmp_path: Path) -> None:
    links, captures = crawl()
    made = embedded(
        tmp_path / "embedded", links, captures, parts=3, processes=2, threads=2, partitions=7
    )
    check(made, tmp_path / "jobs", links, captures)


def test_partitions_follow_from_the_size() -> None:
    """A process has room for six copies of one, of which no array has more than 2^30 bytes; and
    none waits for the others if it can have 4 MB."""
    mib = 1 << 20
    assert usual_partitions(100 * mib, 600 * mib, 1) == 2
    assert usual_partitions(99 * mib, 600 * mib, 1) == 1
    assert usual_partitions(1000 * mib, 60 * mib, 1) == 101
    assert usual_partitions(1000 * mib, 6 * mib, 1) == 251  # of 4 MB, however small the share
    assert usual_partitions(4096 * mib, 1 << 40, 1) == 5
    assert usual_partitions(99 * mib, 600 * mib, 8) == 8
    assert usual_partitions(9 * mib, 600 * mib, 8) == 2
    assert usual_partitions(0, -1, 8) == 1


def test_a_part_that_is_no_parquet_is_named_by_any_process(tmp_path: Path) -> None:
    links, _ = crawl()
    embedded(tmp_path, links, parts=2)
    broken = tmp_path / "links" / "1.parquet"
    broken.write_bytes(broken.read_bytes()[:100])
    for processes in (1, 2):
        out = tmp_path / f"out-{processes}"
        with pytest.raises(BadInput, match="no readable Parquet") as refused:
            canonicalize(
                tmp_path / "links", tmp_path / "captures", out / "uris", out / "numbers",
                budget=ROOMY, tmp=tmp_path / "tmp", processes=processes,
            )  # fmt: skip
        assert refused.value.where == str(broken)
        assert not any((tmp_path / "tmp").iterdir())
