"""WebGraph's files: read as a plain encoder of strings of bits writes them, and as crawlrank does;
and bits that are no graph."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.crawls import crawlrank, ok
from support.drawing import examples
from support.paths import LOOPBACK
from support.runs import finished

import crawlrank as crawlrank_of_python
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.bit_codes import gamma
from crawlrank.pipeline.engines.embedded.graph_files.bvgraph import BvGraph
from crawlrank.pipeline.precedence.bvgraph_files import files_of, write_bvgraph

Lists = list[list[int]]
Code = Callable[[int], str]


def unary(n: int) -> str:
    return "0" * n + "1"


def gamma_of(n: int) -> str:
    low = f"{n + 1:b}"[1:]
    return unary(len(low)) + low


def delta_of(n: int) -> str:
    low = f"{n + 1:b}"[1:]
    return gamma_of(len(low)) + low


def zeta_of(k: int) -> Code:
    def code(n: int) -> str:
        h = 0
        while n + 1 >= 2 ** (h * k + k):
            h += 1
        size, above = 2 ** (h * k + k) - 2 ** (h * k), n + 1 - 2 ** (h * k)
        bits = size.bit_length() - (size & (size - 1) == 0)  # the upper integer part of its log2
        short = 2**bits - size
        if above < short:
            return unary(h) + (f"{above:0{bits - 1}b}" if bits > 1 else "")
        return unary(h) + (f"{above + short:0{bits}b}" if bits else "")

    return code


CODES: dict[str, Code] = {"UNARY": unary, "GAMMA": gamma_of, "DELTA": delta_of, "ZETA": zeta_of(3)}


def natural(n: int) -> int:
    return 2 * n if n >= 0 else -2 * n - 1


class Encoder:
    """window, least: of copies and intervals. draw: chooses the list that one copies from."""

    def __init__(self, window: int, least: int, k: int, flags: dict[str, str], seed: int) -> None:
        self.window, self.least, self.k, self.flags = window, least, k, flags
        self.draw = random.Random(seed)

    def code(self, part: str, usual: str) -> Code:
        name = self.flags.get(part, usual)
        return zeta_of(self.k) if name == "ZETA" else CODES[name]

    def bits(self, lists: Lists) -> str:
        return "".join(self.list_bits(lists, node) for node in range(len(lists)))

    def list_bits(self, lists: Lists, node: int) -> str:
        targets = lists[node]
        out = self.code("OUTDEGREES", "GAMMA")(len(targets))
        if not targets:
            return out
        left = list(targets)
        if self.window:
            back = self.draw.randint(0, min(self.window, node))
            out += self.code("REFERENCES", "UNARY")(back)
            if back:
                copied, more = self.copy(lists[node - back], targets)
                left = [each for each in targets if each not in copied]
                out += more
        if left and self.least:
            intervals = [run for run in runs(left) if len(run) >= self.least]
            out += gamma_of(len(intervals))
            end = node
            for at, run in enumerate(intervals):
                out += gamma_of(natural(run[0] - end) if at == 0 else run[0] - end - 1)
                out += gamma_of(len(run) - self.least)
                end = run[-1] + 1
            left = [each for each in left if not any(each in run for run in intervals)]
        before = node
        for at, each in enumerate(left):
            gap = natural(each - before) if at == 0 else each - before - 1
            out += self.code("RESIDUALS", "ZETA")(gap)
            before = each
        return out

    def copy(self, source: list[int], targets: list[int]) -> tuple[set[int], str]:
        wanted = [each in targets for each in source]
        blocks, state = [], True
        count = 0
        for each in wanted:
            if each == state:
                count += 1
            else:
                blocks.append(count)
                state, count = each, 1
        if not state or not source:
            blocks.append(count)
            if len(blocks) % 2 == 0:
                blocks.pop()  # the rest is skipped by itself
        elif len(blocks) % 2:
            blocks.append(count)
        out = self.code("BLOCK_COUNT", "GAMMA")(len(blocks))
        for at, block in enumerate(blocks):
            out += self.code("BLOCKS", "GAMMA")(block - (at > 0))
        return {each for each, is_wanted in zip(source, wanted, strict=True) if is_wanted}, out


def runs(targets: list[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for each in targets:
        if run and each != run[-1] + 1:
            yield run
            run = []
        run.append(each)
    if run:
        yield run


def written(folder: Path, lists: Lists, encoder: Encoder) -> Path:
    bits, path = encoder.bits(lists), folder / "web.graph"
    bits += "0" * (-len(bits) % 8)
    path.write_bytes(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)))
    flags = " | ".join(f"{part}_{code}" for part, code in encoder.flags.items())
    properties(path, lists, encoder, flags)
    return path


def properties(path: Path, lists: Lists, encoder: Encoder, flags: str = "") -> None:
    lines = {
        "graphclass": "it.unimi.dsi.webgraph.BVGraph", "nodes": len(lists),
        "arcs": sum(map(len, lists)), "windowsize": encoder.window,
        "minintervallength": encoder.least, "zetak": encoder.k, "compressionflags": flags,
    }  # fmt: skip
    text = "".join(f"{name}={value}\n" for name, value in lines.items())
    path.with_suffix(".properties").write_text(f"#BVGraph properties\n{text}")


def read(path: Path, room: int = 1 << 20) -> Lists:
    graph = BvGraph(path)
    lists: Lists = [[] for _ in range(graph.properties.nodes)]
    for targets, sources in graph.pairs(room):
        for target, source in zip(targets.tolist(), sources.tolist(), strict=True):
            lists[source].append(target)
    return lists


def similar_lists(seed: int, nodes: int = 60) -> Lists:
    """Lists that copy from those before, with runs, as a site has them."""
    draw, lists = random.Random(seed), list[list[int]]()
    for node in range(nodes):
        targets = {draw.randrange(nodes) for _ in range(draw.choice((0, 0, 1, 3, 9)))}
        if node and draw.random() < 0.7:
            targets |= {each for each in lists[-1] if draw.random() < 0.8}
        if draw.random() < 0.4:
            begin = draw.randrange(nodes)
            targets |= {*range(begin, min(nodes, begin + draw.randrange(12)))}
        lists.append(sorted(targets))
    return lists


@settings(max_examples=examples(100))
@given(
    seed=st.integers(0, 1 << 30), window=st.sampled_from([0, 1, 3, 7]), k=st.integers(1, 5),
    least=st.sampled_from([0, 2, 4]), room=st.sampled_from([1, 17, 1 << 20]),
)  # fmt: skip
def test_graphs_as_webgraph_writes_them(
    seed: int, window: int, k: int, least: int, room: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lists = similar_lists(seed)
    path = written(tmp_path_factory.mktemp("bv"), lists, Encoder(window, least, k, {}, seed))
    assert read(path, room) == lists


@pytest.mark.parametrize(
    "flags",
    [
        {"OUTDEGREES": "DELTA", "RESIDUALS": "GAMMA"},
        {"REFERENCES": "GAMMA", "BLOCKS": "DELTA", "BLOCK_COUNT": "UNARY"},
        {"REFERENCES": "DELTA", "BLOCK_COUNT": "DELTA", "RESIDUALS": "DELTA"},
    ],
)
def test_other_codes(flags: dict[str, str], tmp_path: Path) -> None:
    lists = similar_lists(3)
    assert read(written(tmp_path, lists, Encoder(7, 4, 3, flags, 1))) == lists


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 1 << 30), piece=st.integers(1, 70))
def test_there_and_back(seed: int, piece: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    lists, path = similar_lists(seed), tmp_path_factory.mktemp("bv") / "own.graph"
    pieces = [lists[at : at + piece] for at in range(0, len(lists), piece)]
    write_bvgraph(
        ((np.array([*map(len, each)]), np.array([*chain(*each)], np.int64)) for each in pieces),
        path,
    )
    assert read(path) == lists
    offsets, state = np.fromfile(files_of(path)[1], np.uint8), np.zeros(2, np.int64)
    steps = [gamma(offsets, state) for _ in range(len(lists) + 1)]
    encoded = [len(Encoder(0, 4, 3, {}, 0).list_bits(lists, node)) for node in range(len(lists))]
    assert steps == [0, *encoded]
    whole = Encoder(0, 4, 3, {}, 0).bits(lists)
    assert path.stat().st_size == -(-len(whole) // 8)
    assert f"{int.from_bytes(path.read_bytes(), 'big'):0{8 * path.stat().st_size}b}".startswith(
        whole
    )


def test_a_long_list_and_large_numbers(tmp_path: Path) -> None:
    nodes = 5000
    lists: Lists = [[] for _ in range(nodes)]
    lists[3] = [*range(0, nodes, 2)]
    lists[4] = [*range(nodes)]
    lists[nodes - 1] = [0, nodes - 1]
    path = written(tmp_path, lists, Encoder(7, 4, 3, {}, 5))
    assert read(path, 1) == lists


@settings(max_examples=examples(200))
@given(
    content=st.binary(max_size=300), window=st.sampled_from([0, 7, 100]),
    least=st.sampled_from([0, 1, 4]), nodes=st.integers(1, 50), arcs=st.integers(0, 300),
)  # fmt: skip
def test_any_bits(
    content: bytes,
    window: int,
    least: int,
    nodes: int,
    arcs: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Are a graph, or are refused."""
    path = tmp_path_factory.mktemp("bv") / "any.graph"
    path.write_bytes(content)
    properties(path, [[0] * arcs, *([[]] * (nodes - 1))], Encoder(window, least, 3, {}, 0))
    try:
        lists = read(path, 4)
    except BadInput as error:
        assert str(path) in str(error)
    else:
        assert sum(map(len, lists)) == arcs
        assert all(each == sorted({*each}) for each in lists)


def test_one_command_ranks_it(tmp_path: Path) -> None:
    lists, work = similar_lists(9), tmp_path / "work"
    path = written(tmp_path, lists, Encoder(7, 4, 3, {}, 9))
    ok("run", path, "--work", work, "--no-validate", "--quiet")
    edges = [(source, to) for source, each in enumerate(lists) for to in each]
    ranks = crawlrank_of_python.pagerank(tuple(map(list, zip(*edges, strict=True))), nodes=60)
    scores = crawlrank_of_python.open(work).scores()
    of_key = dict(zip(scores["key"].to_pylist(), scores["score"].to_pylist(), strict=True))
    assert [of_key[str(node)] for node in range(60)] == pytest.approx(ranks.scores, rel=1e-8)


@pytest.mark.few(1)
@pytest.mark.parametrize("packed", [False, True])
def test_urls_beside_a_graph_are_its_labels(packed: bool, tmp_path: Path) -> None:
    lists, work = [[1, 2], [0], [0, 1]], tmp_path / "work"
    path = written(tmp_path, lists, Encoder(0, 4, 3, {}, 0))
    numbered = crawlrank_of_python.degree(path)
    assert (numbered.labels, numbered.scores.tolist()) == (None, [2, 2, 1])
    urls = b"http://a.example/\nhttp://www.a.example/x\nhttp://b.example/\n"
    name = "web.urls.gz" if packed else "web.urls"
    (tmp_path / name).write_bytes(gzip.compress(urls) if packed else urls)
    assert crawlrank_of_python.degree(path).labels == urls.decode().split()
    ok("run", path, "--work", work, "--quiet")
    lines = (work / "precedence.txt").read_text()
    assert lines.count("\n") == 3 and "http://www.a.example/x" in lines
    (tmp_path / name).write_bytes(b"http://a.example/\n")
    said = crawlrank("run", path, "--work", tmp_path / "other")
    assert said.code == 3 and "one for each of 3 nodes" in said.err.replace("\n", " ")


@pytest.mark.slow
def test_a_crawl_there_and_back(tmp_path: Path) -> None:
    crawl, path, back = finished(LOOPBACK, "--no-validate"), tmp_path / "g.graph", tmp_path / "b"
    ok("export", crawl, "--output", path)
    names = (tmp_path / "g.nodes.csv").read_text().splitlines()
    ok("run", path, "--work", back, "--no-validate", "--quiet")
    one, other = (crawlrank_of_python.open(work).scores() for work in (crawl, back))
    scored = [score for score in one["score"].to_pylist() if score]
    assert sorted(other["score"].to_pylist()) == pytest.approx(sorted(scored), rel=1e-8)
    assert len(names) == len(scored) + 1
    hosts = tmp_path / "hosts.graph"
    ok("export", crawl, "--by", "host", "--output", hosts)
    assert len(read(hosts)) == len((tmp_path / "hosts.nodes.csv").read_text().splitlines()) - 1
    for words, why in ((["--output", "-"], "several files"), (["--output", "x.bin"], ".graph")):
        said = crawlrank("export", crawl, "--format", "bvgraph", *words)
        assert (said.code, why in said.err) == (2, True), said


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("graphclass=it.unimi.dsi.webgraph.BVGraph", "graphclass=a.EFGraph"), "'EFGraph'"),
        (("nodes=60", "nodes=many"), "nodes=many"),
        (("compressionflags=", "compressionflags=RESIDUALS_GOLOMB"), "RESIDUALS_GOLOMB"),
        (("zetak=3", "zetak=0"), "zetak=0"),
        (("windowsize=7", "windowsize=999999"), "windowsize=999999"),
        (("arcs=", "arcs=9"), "as its properties say"),
        (("arcs=", "arcs=1\n#"), "no list of targets"),  # the first list has more
        (("minintervallength=4", f"minintervallength={10**18 - 1}"), "minintervallength=9999"),
        (("nodes=60", "nodes=61"), "no list of targets"),
    ],
)
def test_properties_that_are_refused(change: tuple[str, str], why: str, tmp_path: Path) -> None:
    path = written(tmp_path, similar_lists(4), Encoder(7, 4, 3, {}, 4))
    beside = path.with_suffix(".properties")
    beside.write_text(beside.read_text().replace(*change))
    said = crawlrank("run", path, "--work", tmp_path / "work")
    assert said.code == 3 and why in said.err.replace("\n", " "), said


def test_a_graph_without_nodes(tmp_path: Path) -> None:
    path = written(tmp_path, [], Encoder(7, 4, 3, {}, 4))
    said = crawlrank("run", path, "--work", tmp_path / "work")
    assert said.code == 3 and "no node; expected at least one edge" in said.err, said


def test_a_graph_that_is_cut(tmp_path: Path) -> None:
    path = written(tmp_path, similar_lists(4), Encoder(7, 4, 3, {}, 4))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="no list of targets"):
        read(path)
