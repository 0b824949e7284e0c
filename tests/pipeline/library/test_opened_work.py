"""The tables of finished runs of both engines, and the ranking of their graph by the library."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.crawls import MORE_WEB, WEB, ok
from support.runs import copy_of, finished, shared_warc

import crawlrank

ENGINES = ["embedded", "inline"]


@pytest.fixture(params=ENGINES)
def work(request: pytest.FixtureRequest) -> Path:
    archives = [shared_warc("web.warc.gz", WEB), shared_warc("more.warc.gz", MORE_WEB)]
    return finished(archives, "--runner", request.param)


@pytest.mark.few(1)
def test_tables_have_what_the_archives_have(work: Path) -> None:
    opened = crawlrank.open(work)
    archives = [shared_warc("web.warc.gz", WEB), shared_warc("more.warc.gz", MORE_WEB)]
    extraction = crawlrank.extract(archives)
    links = Counter((link.source, link.target, link.hop) for link in extraction.links())
    rows = opened.links().to_pylist()
    assert Counter((row["source"], row["target"], row["hop"]) for row in rows) == links
    captures = sorted((each.uri, each.timestamp) for each in extraction.captures())
    rows = opened.captures().to_pylist()
    assert sorted((row["uri"], row["timestamp"]) for row in rows) == captures
    assert sum(row["captures"] for row in opened.uris().to_pylist()) == len(captures)
    assert opened.keys()["id"].to_pylist() == list(range(opened.keys().num_rows))


@pytest.mark.few(1)
def test_the_library_ranks_the_graph_as_the_run_did(work: Path) -> None:
    opened = crawlrank.open(work)
    result = crawlrank.pagerank(opened.edges(), nodes=opened.keys().num_rows)
    by_key = dict(zip(opened.keys()["key"].to_pylist(), result.scores.tolist(), strict=True))
    scores = opened.scores()
    ranked = [row for row in scores.to_pylist() if row["score"] is not None]
    assert len(ranked) == len(by_key)
    for row in ranked:
        bound = 2 * result.eta * row["score"] + row["score_error"]
        assert row["score"] == pytest.approx(by_key[row["key"]], abs=bound)


def test_exported_text_has_the_same_scores_to_the_last_bit(tmp_path: Path) -> None:
    """By the text of the graph, and by the scores as the embedded run has left them."""
    run = finished([shared_warc("web.warc.gz", WEB)], "--jobs", 1)
    ok("export-text", "--work", run, "--out", tmp_path / "text")
    sources, targets, nodes = [], [], 0
    for line in (tmp_path / "text/pr0.txt").read_text().splitlines():
        node, _, links = line.split("\t")
        if node != "dummy":
            nodes += 1
            named = [int(each) for each in links.removeprefix("O:").split(",") if each != "dummy"]
            sources += [int(node)] * len(named)
            targets += named
    result = crawlrank.pagerank((sources, targets), nodes=nodes)
    assert result.scores.tobytes() == np.load(run / "ranks/scores.npy").tobytes()


@pytest.mark.slow
@pytest.mark.few(1)
def test_filters_take_a_part(work: Path) -> None:
    opened = crawlrank.open(work)
    every = opened.scores().to_pylist()
    here = opened.scores(host="b.example").to_pylist()
    assert here == [row for row in every if row["host"] == "b.example"] != []
    assert opened.scores(top=1).to_pylist() == every[:1]
    assert opened.scores(captured=True, status="200", type=["html"]).num_rows > 0


@pytest.mark.slow
def test_other_rankings_have_names(tmp_path: Path) -> None:
    work = copy_of(finished([shared_warc("web.warc.gz", WEB)]), tmp_path / "w")
    crawlrank.rank(work, method="degree", jobs=1)
    assert crawlrank.open(work).rankings() == ["degree"]
    ranked = crawlrank.open(work, "degree")
    best = ranked.scores().to_pylist()[0]
    assert ranked.explain(best["url"])["score"] == best["score"] == best["links_in"]
    assert ranked.hosts(top=1)["hosts"] != crawlrank.open(work).hosts(top=1)["hosts"]
    assert ranked.report()["ranking"] == "degree"
    assert repr(ranked) == f"<work folder {work}, ranking degree>"
    with pytest.raises(crawlrank.BadInput, match="no ranking hits"):
        crawlrank.open(work, "hits")


def test_links_and_captures_come_one_by_one_and_in_batches() -> None:
    extraction = crawlrank.extract(shared_warc("web.warc.gz", WEB))
    rows = list(extraction)
    kinds = Counter(type(row) for row in rows)
    assert kinds[crawlrank.ExtractedCapture] == len(WEB)
    links = list(extraction.batches("links", 2))
    assert all(batch.num_rows <= 2 for batch in links)
    table = pa.Table.from_batches(links)
    assert table.to_pylist() == [link._asdict() for link in extraction.links()]
    captures = pa.Table.from_batches(extraction.batches("captures"))
    assert captures.to_pylist() == [capture._asdict() for capture in extraction.captures()]
    assert captures.schema.field("status").type == pa.int64()
    assert extraction.counters["links"] == table.num_rows
    assert list(crawlrank.extract(shared_warc("web.warc.gz", WEB), links="all").links())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"links": "All"}, "'All' is not one of 'nav', 'all'"),
        ({"outlinks": "xx"}, "'--outlinks'.*'xx' is not one of"),
        ({"nofollow": "Drop"}, "'--nofollow'.*'Drop'"),
        ({"forms": "yes"}, "'--forms'.*'yes' is not True or False"),
        ({"max_record": -1}, "'--max-record'"),
        ({"max_links_per_page": 0}, "'--max-links-per-page'"),
        ({"words_around": True}, "words_around goes with anchor_text"),
    ],
)
def test_options_of_extraction_are_those_of_the_command(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(crawlrank.WrongUsage, match=message):
        crawlrank.extract(shared_warc("web.warc.gz", WEB), **options)


@pytest.mark.parametrize("archives", [None, 3, [], [None]])
def test_what_is_no_archive_is_refused(archives: Any) -> None:
    with pytest.raises(crawlrank.WrongUsage, match="archive"):
        crawlrank.extract(archives)


def test_rows_that_there_are_not_are_refused() -> None:
    with pytest.raises(crawlrank.WrongUsage, match="links, anchors, captures, not 'pages'"):
        next(crawlrank.extract(shared_warc("web.warc.gz", WEB)).batches("pages"))  # type: ignore[arg-type]


def test_what_is_damaged_is_told_of(tmp_path: Path) -> None:
    whole = shared_warc("web.warc.gz", WEB).read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(whole[: len(whole) * 2 // 3])
    extraction = crawlrank.extract(tmp_path / "cut.warc.gz")
    assert 0 < len(list(extraction.captures())) < len(WEB)
    assert [archive for archive, _ in extraction.damage] == ["cut.warc.gz"]
    (tmp_path / "none.warc.gz").write_bytes(b"no archive")
    with pytest.raises(crawlrank.BadInput, match=r"none\.warc\.gz"):
        list(crawlrank.extract(tmp_path / "none.warc.gz"))
    with pytest.raises(crawlrank.BadInput, match="missing"):
        list(crawlrank.extract(tmp_path / "missing.warc.gz"))


def test_one_configuration_file_serves_all_functions(tmp_path: Path) -> None:
    archives = [shared_warc("web.warc.gz", WEB), shared_warc("more.warc.gz", MORE_WEB)]
    folder, config = copy_of(finished(archives), tmp_path / "work"), tmp_path / "crawlrank.toml"
    config.write_text('[run]\nlinks = "all"\n[rank]\niterations = 2\n[export]\nbins = 3\n')
    weights = {"internal": np.float64(0.5), "external": np.int64(1)}
    crawlrank.rank(folder, name="lw", config=config, link_weight=weights)
    parameters = crawlrank.open(folder, ranking="lw").parameters
    asked = parameters["--iterations"], parameters["--link-weight"]
    assert asked == (2, "internal=0.5,external=1.0")
