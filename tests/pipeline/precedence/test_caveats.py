"""What limits a ranking is shown where people look, with numbers that are counted in the web."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.crawls import INLINE, ok, write_warc
from support.runs import copy_of, finished, shared_warc

from crawlrank.pipeline.precedence.caveats import (
    FEW_A_CLASS,
    LOST,
    CutCounts,
    LinkCounts,
    caveats_of,
    link_counts,
)
from crawlrank.pipeline.workfolder.manifest import Manifest

Web = dict[str, list[str]]
SITE = "http://a.example"
RUNNERS = {"embedded": (), "inline": INLINE}


def page(name: object) -> str:
    return f"{SITE}/{name}"


def ladder(pages: int) -> Web:
    """Page n links to all before it, and page 0 to the last: no two have the same score."""
    web = {page(n): [page(m) for m in range(n)] for n in range(pages)}
    web[page(0)] = [page(pages - 1)]
    return web


def few_captured() -> Web:
    """Nine captured pages that link to 991 others, and one to the next."""
    other = iter(range(991))
    web = {page(f"in/{n}"): [page(f"in/{(n + 1) % 9}")] for n in range(9)}
    for n, target in enumerate(other):
        web[page(f"in/{n % 9}")].append(page(f"out/{target}"))
    return web


def first_class() -> Web:
    """41 captured pages in a ring, each of which links to the same sixty that are not."""
    common = [page(f"out/{n}") for n in range(60)]
    return {page(f"in/{n}"): [page(f"in/{(n + 1) % 41}"), *common] for n in range(41)}


SEED = {page("seed"): [page(n) for n in range(20)], **ladder(20)}
EQUAL: Web = {page(n): [page((n + 1) % 40), page((n + 2) % 40)] for n in range(40)}
ALONE: Web = {page(n): [] for n in range(10)}
STAR: Web = {page("seed"): [page(n) for n in range(10)], **ALONE}

#: web, further options, and the caveats: kind, count, total, and a word of the cure
CASES: dict[str, tuple[Web, tuple[str, ...], list[tuple[str, int, int, str]]]] = {
    "fine": (ladder(12), (), []),
    "three rounds": (ladder(12), ("--iterations", "3"), [("near-boundary", 12, 12, "--tolerance")]),
    "hits": (
        SEED, ("--method", "hits", "--nodes", "all"),
        [("without-score", 1, 21, "--method pagerank")],
    ),
    "seed": (SEED, (), [("unranked-sources", 1, 21, "--nodes all")]),
    "seed, cured": (SEED, ("--nodes", "all"), []),
    "few": (few_captured(), (), [("few-captured", 9, 1000, "--classes-over all")]),
    "few, cured": (few_captured(), ("--classes-over", "all"), []),
    "first": (first_class(), ("--bins", "4"), [("first-class", 60, 101, "--classes-over all")]),
    "first, cured": (first_class(), ("--bins", "4", "--classes-over", "all"), []),
    "equal": (
        EQUAL, (), [("equal-scores", 40, 40, "archives"), ("tied-pages", 40, 40, "--ties")]
    ),
    "star": (
        STAR, (),
        [
            ("no-links", 0, 10, "--nodes all"), ("unranked-sources", 1, 1, "--nodes all"),
            ("tied-pages", 10, 10, "--ties"),
        ],
    ),
    "alone": (
        ALONE, ("--nodes", "all"),
        [("no-links", 0, 0, "extract-links"), ("tied-pages", 10, 10, "--ties")],
    ),
}  # fmt: skip


def kinds(entries: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [(entry["kind"], entry["count"], entry["total"]) for entry in entries]


#: cases in which a runner counts what a caveat is made of
COUNTED = ("seed", "star", "alone")
RUNS = [
    *(("embedded", case) for case in CASES),
    *(("inline", case) for case in COUNTED),
    *(
        pytest.param("inline", case, marks=pytest.mark.slow)
        for case in CASES
        if case not in COUNTED
    ),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("runner", "case"), RUNS)
def test_summary_end_of_run_status_and_explain(case: str, runner: str, tmp_path: Path) -> None:
    web, options, expected = CASES[case]
    if case in ("few", "few, cured", "first", "first, cured"):
        options = (*options, "--ties", "together")  # their ties are not the matter here
    archive, work = write_warc(tmp_path / "web.warc.gz", web), tmp_path / "work"
    how = ("--no-validate", *options, *RUNNERS[runner])
    end = ok("run", archive, "--work", work, *how).out
    shown = json.loads((work / "precedence.summary.json").read_text())["caveats"]
    assert kinds(shown) == [caveat[:3] for caveat in expected]
    output = tmp_path / "explained.json"
    page_of = next(uri for uri in web if "seed" not in uri)
    told = ok("explain", "--work", work, page_of, "--json", output).out
    assert json.loads(output.read_text())["caveats"] == shown
    status = ok("status", "--work", work).out
    for text in (end, status, told):
        assert ("what limits this ranking" in text) == bool(expected)
        for (kind, _, _, cure), entry in zip(expected, shown, strict=True):
            assert cure in entry["cure"]
            assert all(word in text for word in (kind, entry["meaning"], entry["cure"]))
    void = case in ("equal", "alone", "star")
    assert ("ready for Heritrix" in end) != void
    assert ("its order means nothing" in end) == void


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["embedded", pytest.param("inline", marks=pytest.mark.slow)])
def test_agreement_on_ties_is_not_said_to_be_one(runner: str, tmp_path: Path) -> None:
    how = ("--bins", 4, *RUNNERS[runner])
    archive = write_warc(tmp_path / "web.warc.gz", EQUAL)
    said = ok("run", archive, "--work", tmp_path / "work", *how).out
    assert "OPIC cannot check the classes" in said
    assert "%" not in said.partition("OPIC")[2].partition("\n")[0]
    fine = write_warc(tmp_path / "fine.warc.gz", ladder(12))
    said = ok("run", fine, "--work", tmp_path / "fine", *how).out
    assert (
        "OPIC gives the same class to 100.00% of 12 pages whose class it proves; 0 are open."
        in said
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_links_of_unranked_pages_are_counted(runner: str, tmp_path: Path) -> None:
    """Two pages link to each other, two to them; one of these also to itself, which counts."""
    web = {
        page("a"): [page("b")], page("b"): [page("a")],
        page("c"): [page("a"), page("b"), page("b"), page("x")],
        page("d"): [page("a"), page("d")], page("e"): [page("x")],
    }  # fmt: skip
    archive, work = write_warc(tmp_path / "web.warc.gz", web), tmp_path / "work"
    ok("run", archive, "--work", work, "--iterations", 3, "--no-validate", *RUNNERS[runner])
    assert link_counts(Manifest(work)) == LinkCounts(3, 3, 2, 4)
    summary = json.loads((work / "precedence.summary.json").read_text())
    meaning = next(c["meaning"] for c in summary["caveats"] if c["kind"] == "unranked-sources")
    assert "2 of the 5 pages" in meaning and "4 of 7" in meaning


def test_a_few_lost_links_among_many_are_not_told() -> None:
    many = round(1 / LOST) + 1
    assert not caveats_of(LinkCounts(10 * many, many, 1, 10), None)
    assert caveats_of(LinkCounts(10 * many, many, 1, 20), None)  # one page, and more of the links
    assert caveats_of(LinkCounts(10 * many, many - 3, 1, 10), None)


def test_a_ranking_of_a_graph_is_told_of_links_only(tmp_path: Path) -> None:
    (tmp_path / "pr0.txt").write_text("0\t1.0\tO:dummy\n1\t1.0\tO:dummy\ndummy\t1.0\tO:dummy\n")
    ok("step", "import-text", "--graph", tmp_path / "pr0.txt", "--work", tmp_path / "work")
    said = ok("run", "--work", tmp_path / "work")
    assert "no-links" in said.out
    assert "no-links" in ok("status", "--work", tmp_path / "work").out


def test_the_command_alone_judges_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "scores.txt").write_text("".join(f"0.15\thttp://a/{n}\ta)/{n}\n" for n in range(9)))
    ok("step", "export-precedence", tmp_path / "scores.txt", "--output", tmp_path / "p.txt")
    shown = json.loads((tmp_path / "p.summary.json").read_text())["caveats"]
    assert kinds(shown) == [("equal-scores", 9, 9), ("tied-pages", 9, 9)]


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"caveats": [1]}', '{"caveats": 3}'])
def test_status_goes_on_without_a_summary(text: str | None, tmp_path: Path) -> None:
    run = finished(shared_warc("seed.warc", SEED), "--no-validate", "--iterations", 3)
    work = copy_of(run, tmp_path / "work")
    summary = work / "precedence.summary.json"
    summary.unlink() if text is None else summary.write_text(text)
    said = ok("status", "--work", work).out
    assert "what limits" not in said
    assert "not as it was left" in said


def test_the_cure_of_ties_is_one_that_was_not_tried() -> None:
    for ties, cure in (
        ("key", "--ties together (one class for all of them), or --ties links (fewer ties)"),
        ("links", "--ties together (one class for all of them)"),
    ):
        cut = CutCounts(5, 100, False, 100, 50, 100, 20, 20, 0, False, ties)  # type: ignore[arg-type]
        (caveat,) = caveats_of(None, cut)
        assert (caveat.kind, caveat.cure) == ("tied-pages", cure)


def test_one_class_has_no_boundaries() -> None:
    cut = CutCounts(1, 100, True, FEW_A_CLASS - 1, 0, 100, 100, 100, 91, False)
    assert not caveats_of(None, cut)
