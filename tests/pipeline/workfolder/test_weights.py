"""Weights of pages by id, in work folders of both engines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.compared import HOW, opened
from support.crawls import html, ok, response, write_records

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.rows import MAX_EXAMPLES
from crawlrank.pipeline.ranking.inputs import WeightLine
from crawlrank.pipeline.workfolder.results.weights import nodes_of, weights_of

RUN = ("--iterations", 3, "--no-validate", "--quiet", "--nodes", "all", "--jobs", 1)
#: ids are in byte order of the keys
KEYS = ["example,a)/", "example,a)/new", "example,a)/page", "example,b)/"]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """/old redirects to /new; the others are linked."""
    moved = response("http://a.example/old", b"", "301 Moved", "Location: /new\r\n")
    pages = {"": ["/page", "/old"], "new": ["/"], "page": ["/", "http://b.example/"]}
    records = [response(f"http://a.example/{path}", html(to)) for path, to in pages.items()]
    return write_records(tmp_path_factory.mktemp("a") / "a.warc.gz", [*records, moved])


@pytest.fixture(scope="module", params=HOW)
def work(
    request: pytest.FixtureRequest, archive: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("works") / "work"
    ok("run", archive, "--work", folder, "--fold", "redirects", *RUN, *HOW[request.param])
    return folder


def lines_of(*weights: tuple[str, float]) -> list[WeightLine]:
    return [WeightLine(number, *line) for number, line in enumerate(weights, 1)]


@pytest.mark.few(1)
def test_uris_keys_and_folds(work: Path) -> None:
    lines = lines_of(
        ("http://www.A.example:80/page/", 2), ("example,b)/", 0.5), ("http://a.example/old", 4),
        ("http://nowhere.example/", 8), ("a.example", 16), ("example,a)/PAGE", 32),
    )  # fmt: skip
    with opened(work) as (finished,):
        weights, report = weights_of(lines, finished)
        assert [row[0] for row in finished.rows("SELECT key FROM {mapped} ORDER BY id")] == KEYS
    assert weights.dtype == np.float64
    assert weights.tolist() == [0, 4, 2, 0.5]
    assert report == (3, 3, lines[3:])


@pytest.mark.few(1)
def test_lines_of_one_page_add_up(work: Path) -> None:
    lines = lines_of(
        ("http://a.example/page", 1), ("http://a.example/new", 2), ("https://a.example/page?", 4),
        ("http://a.example/old", 8), ("example,a)/page", 16),
    )  # fmt: skip
    with opened(work) as (finished,):
        weights, report = weights_of(lines, finished, default=0.25)
        again, _ = weights_of(lines[:1], finished)
    assert weights.tolist() == [0.25, 10, 21, 0.25]
    assert report == (5, 0, [])
    assert again.tolist() == [0, 0, 1, 0]


@pytest.mark.slow
def test_few_of_many_unknown_lines_are_listed(work: Path) -> None:
    lines = lines_of(*((f"http://x.example/{n}", 1) for n in range(1000)), (KEYS[0], 1))
    with opened(work) as (finished,):
        weights, report = weights_of(lines, finished)
    assert weights.tolist() == [1, 0, 0, 0]
    assert (report.known, report.unknown) == (1, 1000)
    assert report.unknown_lines == lines[:MAX_EXAMPLES]


def test_a_list_that_weighs_nothing_is_refused(work: Path) -> None:
    unknown, zero = lines_of(("http://x.example/", 1)), lines_of(("http://a.example/", 0))
    with opened(work) as (finished,):
        for lines, what in (
            (unknown, "none of 1 page of"),
            ([], "none of 0 pages"),
            (zero, "the weight 0"),
        ):
            with pytest.raises(BadInput, match=what) as caught:
                weights_of(lines, finished)
            assert caught.value.where == str(work)
        assert weights_of(zero, finished, default=1.0)[0].tolist() == [0, 1, 1, 1]


@pytest.mark.slow
def test_without_folds_and_with_www(archive: Path, tmp_path: Path) -> None:
    for name, how in HOW.items():
        ok("run", archive, "--work", tmp_path / name, "--keep-www", *RUN, *how)
        with opened(tmp_path / name) as (finished,):
            old = lines_of(("http://a.example/old", 3), ("http://www.a.example/", 5))
            weights, report = weights_of(old, finished)
        assert weights.tolist() == [0, 0, 3, 0, 0]
        assert report.unknown_lines == [old[1]]


def test_any_word_is_a_key_where_there_are_no_uris(tmp_path: Path) -> None:
    graph, work = tmp_path / "pr0.txt", tmp_path / "work"
    graph.write_text("70\t1.0\tO:5,1000\n1000\t1.0\tO:dummy\n5\t1.0\tO:70\ndummy\t1.0\tO:dummy\n")
    ok("step", "import-text", "--graph", graph, "--work", work)
    ok("run", "--work", work, "--iterations", 3, "--quiet", "--no-validate", "--jobs", 1)
    with opened(work) as (finished,):
        weights, report = weights_of(lines_of(("1000", 2), ("5", 3), ("7", 4)), finished)
    assert weights.tolist() == [3, 0, 2]  # ids by the numbers
    assert (report.known, report.unknown) == (2, 1)


def test_many_pages_at_once(work: Path) -> None:
    pages = ["example,b)/", "http://a.example/old", "no page", "http://a.example/"] * 1000
    with opened(work) as (finished,):
        ids, nodes = nodes_of(pages, finished)
    assert ids.tolist() == [3, 1, -1, 0] * 1000
    assert nodes == len(KEYS)
