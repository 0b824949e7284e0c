"""Scores to precedences, against a slow reading of DESIGN's rules in plain Python, and against the
model of Heritrix's own loader."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.crawls import crawlrank, ok
from support.drawing import examples

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.keys.heritrix_form import HeritrixRejects, heritrix_form, lookup_key
from crawlrank.jobs.kernel.keys.uris import as_crawled
from crawlrank.pipeline.data.memory import parse_size
from crawlrank.pipeline.precedence import lint
from crawlrank.pipeline.precedence.export import PrecedenceSummary, export_precedence
from crawlrank.pipeline.precedence.heritrix_loader import load
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.scored import FIXED, ByKey, open_scored


class Spelling(NamedTuple):
    key: str
    uri: str
    captures: int
    links: int = 1


Scores = dict[str, float]  # by key

SCORES: Scores = {"a)/": 3.0, "b)/": 2.5, "c)/": 2.0, "d)/": 1.5, "e)/": 1.0, "f)/": 0.5}
SPELLINGS = [
    Spelling("a)/", "http://a/", 2),
    Spelling("a)/", "http://www.a/", 0),
    Spelling("b)/", "http://b/", 0),
    Spelling("c)/", "http://c/", 1),
    Spelling("d)/", "http://d/", 0),
    Spelling("e)/", "http://e/", 1),
    Spelling("f)/", "http://f/", 0),
    Spelling("z)/", "http://z/", 1),  # captured, without a score
    Spelling("y)/", "http://y/", 0),  # a source of links that was not captured
]


def form_of(uri: str) -> str | None:
    try:
        return heritrix_form(uri)
    except HeritrixRejects:
        return None


def expected(
    scores: Scores, spellings: list[Spelling], options: PrecedenceOptions
) -> list[tuple[str, int]]:
    """The lines, from DESIGN's text: form and precedence."""
    bins = options.bins
    rounded = {key: float(f"{score:.8e}") for key, score in scores.items()}
    totals = {key: [0, 0] for key in scores}
    for spelling in spellings:
        if options.ties == "links" and spelling.key in totals:
            totals[spelling.key][0] -= spelling.links
            totals[spelling.key][1] -= spelling.captures
    order = sorted(scores, key=lambda key: (-rounded[key], totals[key], key))
    captured = {s.key for s in spellings if s.captures} & set(scores)
    over = captured if options.classes_over == "captured" and captured else set(scores)
    classes = {}
    for place, key in enumerate(order):
        before = sum(other in over for other in order[:place])
        classes[key] = min(bins, 1 + bins * before // len(over))
        if options.ties == "together":
            first = sum(rounded[other] > rounded[key] for other in over)
            equal = sum(rounded[other] == rounded[key] for other in over)
            last = first + max(equal, 1) - 1
            classes[key] = min(bins, 1 + bins * (first + last) // (2 * len(over)))
    best: dict[str, tuple[int, int]] = {}
    for spelling in spellings:
        form, scored = form_of(spelling.uri), spelling.key in scores
        listed = spelling.captures or (
            scored and not (options.spellings == "captured" and captured)
        )
        if form is None or not listed:
            continue
        place = order.index(spelling.key) if scored else len(order)
        entry = (place, classes.get(spelling.key, bins))
        best[form] = min(best.get(form, entry), entry)
    ordered = sorted(best, key=lambda form: (best[form][0], form.encode()))
    return [(form, best[form][1]) for form in ordered]


class Written(NamedTuple):
    path: Path
    lines: list[tuple[str, int]]
    summary: PrecedenceSummary


def write(
    folder: Path,
    scores: Scores,
    spellings: list[Spelling] | None,
    options: PrecedenceOptions,
    seed: int = 0,
) -> Written:
    """The file for these rows, given in an order of the seed's."""
    rng = random.Random(seed)
    uris = {s.key: s.uri for s in reversed(spellings or ())}
    rows = [
        f"{score!r}\t{uris.get(key, f'http://{key[0]}/')}\t{key}\n" for key, score in scores.items()
    ]
    rng.shuffle(rows)
    (folder / "scores.txt").write_text("".join(rows))
    given_uris = None
    if spellings is not None:
        lines = [f"{s.key}\t{s.uri}\t{s.captures}\t{s.links}\t-\n" for s in spellings]
        rng.shuffle(lines)
        given_uris = folder / "uris.txt"
        given_uris.write_text("".join(lines))
    output = folder / "precedence.txt"
    summary = export_precedence(folder / "scores.txt", given_uris, output, folder, options)
    read = [line.split(" ") for line in output.read_text().splitlines()]
    return Written(output, [(uri, int(value)) for uri, value in read], summary)


def test_by_hand(tmp_path: Path) -> None:
    """Three captured nodes, a c e, in five bins: 1, 2, 4; the others as their place would be."""
    found = write(tmp_path, SCORES, SPELLINGS, PrecedenceOptions())
    assert found.lines == [
        ("http://a/", 1), ("http://www.a/", 1), ("http://b/", 2), ("http://c/", 2),
        ("http://d/", 4), ("http://e/", 4), ("http://f/", 5), ("http://z/", 5),
    ]  # fmt: skip
    told = found.summary
    assert (told.nodes, told.nodes_captured, told.nodes_not_captured) == (6, 3, 3)
    assert told.captured_uris_without_score == 1
    assert told.classes_cut_over == "captured"
    assert told.unlisted == 6


VALUES = {
    "bins": (1, 5, 125),
    "classes_over": ("captured", "all"),
    "ties": ("key", "links", "together"),
    "spellings": ("all", "captured"),
}
#: the numbers of values, so that every two of them are together; all others are `slow`
TOGETHER = {
    (0, 0, 0, 0), (0, 1, 1, 1), (0, 0, 2, 1), (1, 0, 0, 1), (1, 1, 1, 0), (1, 1, 2, 0),
    (2, 1, 0, 1), (2, 0, 1, 0), (2, 0, 2, 1),
}  # fmt: skip


def options_of(numbers: tuple[int, ...]) -> PrecedenceOptions:
    chosen: dict[str, Any] = {
        name: values[at] for (name, values), at in zip(VALUES.items(), numbers, strict=True)
    }
    return PrecedenceOptions(**chosen)


OPTIONS = [
    pytest.param(options_of(each), marks=[] if each in TOGETHER else [pytest.mark.slow])
    for each in product(*(range(len(values)) for values in VALUES.values()))
]


@pytest.mark.few(3)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_option(tmp_path: Path, options: PrecedenceOptions) -> None:
    scores = {**SCORES, "g)/": 1.5, "h)/": 1.5 + 1e-10, "i)/": 1.5 + 1e-7}  # h ties, i does not
    spellings = [*SPELLINGS, *(Spelling(f"{c})/", f"http://{c}/", 1, int(c > "g")) for c in "ghi")]
    assert write(tmp_path, scores, spellings, options).lines == expected(scores, spellings, options)


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_ties_by_links_captures_and_key(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Few scores, links and captures, spread over the spellings of a page."""
    count = st.integers(0, 2)
    scores = {f"{c})/": data.draw(st.sampled_from([1.0, 2.0])) for c in "abcdefgh"}
    spellings = [
        Spelling(f"{c})/", f"http://{host}{c}/", data.draw(count), data.draw(count))
        for c in "abcdefgh"
        for host in ("", "www.")
    ]
    options = PrecedenceOptions(
        bins=data.draw(st.sampled_from([2, 5, 125])),
        ties="links",
        classes_over=data.draw(st.sampled_from(["captured", "all"])),
    )
    found = write(tmp_path_factory.mktemp("p"), scores, spellings, options)
    assert found.lines == expected(scores, spellings, options)


def test_without_uris_ties_are_by_key(tmp_path: Path) -> None:
    scores = dict.fromkeys(SCORES, 1.0)
    by_links = write(tmp_path, scores, None, PrecedenceOptions(ties="links"))
    assert by_links.lines == write(tmp_path, scores, None, PrecedenceOptions(ties="key")).lines


def test_a_table_of_spellings_needs_links_for_ties_by_links_only(tmp_path: Path) -> None:
    write(tmp_path, SCORES, SPELLINGS, PrecedenceOptions())
    columns = {"key": ["a)/", "b)/"], "uri": ["http://a/", "http://b/"], "captures": [1, 1]}
    pq.write_table(pa.table(columns), tmp_path / "uris.parquet")
    (tmp_path / "scores.txt").write_text("2.0\thttp://a/\ta)/\n1.0\thttp://b/\tb)/\n")
    given_ = (tmp_path / "scores.txt", "--uris", tmp_path / "uris.parquet")
    ok("export-precedence", *given_, "--output", tmp_path / "p.txt", "--bins", 2)
    assert (tmp_path / "p.txt").read_text() == "http://a/ 1\nhttp://b/ 2\n"
    said = crawlrank(
        "export-precedence", *given_, "--output", tmp_path / "q.txt", "--ties", "links"
    )
    assert said.code == 3
    assert "no column links" in said.err


def test_counts_beyond_what_a_table_holds(tmp_path: Path) -> None:
    """Nobody has this number of links; a file that says so is ordered somehow, the same each
    time."""
    spellings = [Spelling(f"{c})/", f"http://{c}/", 10**18 - 1, 10**18 - 1) for c in "abcdef"]
    found = write(tmp_path, SCORES, spellings, PrecedenceOptions(ties="links"))
    assert found.lines == expected(SCORES, spellings, PrecedenceOptions())


def test_without_uris_all_nodes_count(tmp_path: Path) -> None:
    found = write(tmp_path, SCORES, None, PrecedenceOptions(bins=3))
    assert [value for _, value in found.lines] == [1, 1, 2, 2, 3, 3]
    assert found.summary.classes_cut_over == "all"


def test_without_captures_all_nodes_count(tmp_path: Path) -> None:
    spellings = [s._replace(captures=0) for s in SPELLINGS]
    found = write(tmp_path, SCORES, spellings, PrecedenceOptions(bins=3, spellings="captured"))
    assert found.lines == expected(
        SCORES, spellings, PrecedenceOptions(bins=3, spellings="captured")
    )
    assert found.summary.classes_cut_over == "all"


def test_the_recipes_own_two_columns(tmp_path: Path) -> None:
    (tmp_path / "score_uri.txt").write_text("2.0\thttp://a.example/\n1.0\thttp://b.example/x\n")
    ok(
        "step",
        "export-precedence",
        tmp_path / "score_uri.txt",
        "--output",
        tmp_path / "p.txt",
        "--bins",
        2,
    )
    assert (tmp_path / "p.txt").read_text() == "http://a.example/ 1\nhttp://b.example/x 2\n"


def test_forms_that_meet_take_the_best_class(tmp_path: Path) -> None:
    scores = {"a)/": 2.0, "b)/": 1.0}
    spellings = [
        Spelling("a)/", "http://h/", 1),
        Spelling("b)/", "HTTP://H:80/", 1),
        Spelling("b)/", "http://H", 1),
        Spelling("b)/", "http://h/%", 1),
        Spelling("b)/", "http://h:99999999/", 1),
    ]
    found = write(tmp_path, scores, spellings, PrecedenceOptions(bins=2))
    assert found.lines == expected(scores, spellings, PrecedenceOptions(bins=2))
    assert ("http://h/", 1) in found.lines
    assert found.summary.duplicates_removed == 2
    assert found.summary.spellings_rewritten >= 2
    assert found.summary.spellings_rejected == sum(form_of(s.uri) is None for s in spellings)
    assert found.summary.spellings_rejected == sum(found.summary.rejected_by_reason.values())


@pytest.mark.parametrize("captures", [0, 1])
def test_where_heritrix_takes_no_uri_the_summary_says_why(tmp_path: Path, captures: int) -> None:
    spellings = [Spelling("a)/", "http://[::1]/", captures)]
    written = write(tmp_path, {"a)/": 1.0}, spellings, PrecedenceOptions())
    assert (written.lines, written.summary.spellings_rejected) == ([], 1)
    check_file(written)


@pytest.mark.few(2)
@pytest.mark.parametrize("uri", ["a)/", "ftp://a/"])
@pytest.mark.parametrize("captures", [0, 1])
def test_scores_without_a_uri_of_the_web_are_refused(
    tmp_path: Path, uri: str, captures: int
) -> None:
    with pytest.raises(BadInput, match="no URI in it"):
        write(tmp_path, {"a)/": 1.0}, [Spelling("a)/", uri, captures)], PrecedenceOptions())
    assert not (tmp_path / "precedence.txt").exists()


HOSTS = [
    "a.example",
    "WWW.a.example",
    "b.example:80",
    "b\u00fccher.example",
    "[::1]",
    "0x7f.1",
    "é",
]
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
URIS = st.builds(
    lambda scheme, host, path: as_crawled(f"{scheme}://{host}/{path}"),
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(HOSTS),
    TEXT | st.sampled_from(["%", "%zz", "..//.", "a;jsessionid=" + "0" * 32, "?q= &", "\\", "#"]),
).filter(lambda uri: isinstance(uri, bytes))


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(st.data())
def test_hostile_uris(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    found_uris = data.draw(st.lists(URIS, min_size=1, max_size=12, unique=True))
    uris = [uri.decode() for uri in found_uris if isinstance(uri, bytes)]
    keys = data.draw(st.lists(st.sampled_from("abcdef"), min_size=len(uris), max_size=len(uris)))
    spellings = [
        Spelling(f"{key})/", uri, data.draw(st.integers(0, 2)))
        for key, uri in zip(keys, uris, strict=True)
    ]
    numbers = st.floats(0.15, 1e6) | st.sampled_from([1.0, 1.0 + 1e-12])
    scores = {f"{key})/": data.draw(numbers) for key in sorted({*keys[1:], keys[0]})}
    options = PrecedenceOptions(bins=data.draw(st.sampled_from([1, 2, 5, 125])))
    folder = tmp_path_factory.mktemp("p")
    found = write(folder, scores, spellings, options)
    assert found.lines == expected(scores, spellings, options)
    check_file(found)
    again = write(folder, scores, spellings, options, seed=1)
    assert again == found  # whatever the order of the input


def check_file(found: Written) -> None:
    """The file passes lint, loads whole, and the summary adds up."""
    errors = [f.problem for f in lint.lint(found.path) if f.severity == "error"]
    assert errors == ([] if found.lines else ["empty file"])  # every URI was rejected
    assert load(found.path) == {lookup_key(form): value for form, value in found.lines}
    told, counted = found.summary, Counter(value for _, value in found.lines)
    assert told.uris == len(found.lines) == len(dict(found.lines))
    assert {c.precedence: c.uris for c in told.classes if c.uris} == counted
    assert sum(c.nodes for c in told.classes) == told.nodes
    assert sum(c.nodes_captured for c in told.classes) == told.nodes_captured
    for one, next_one in zip(told.classes, told.classes[1:], strict=False):
        if one.score_lowest is not None and next_one.score_highest is not None:
            assert float(f"{one.score_lowest:.8e}") >= float(f"{next_one.score_highest:.8e}")


def test_the_summary_file_says_the_same(tmp_path: Path) -> None:
    write(tmp_path, SCORES, SPELLINGS, PrecedenceOptions())
    outputs = ("--uris", tmp_path / "uris.txt", "--output", tmp_path / "new" / "p.txt")
    ok("export-precedence", tmp_path / "scores.txt", *outputs, "--unlisted", 7)
    told: dict[str, Any] = json.loads((tmp_path / "new" / "p.summary.json").read_text())
    assert told["uris"] == 8
    assert told["unlisted"] == 7
    beans = (tmp_path / "new" / "crawler-beans-fragment.xml").read_text()
    assert 'name="basePrecedence" value="8"' in beans  # Heritrix adds 1 to listed values only
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "p.txt", "p.summary.json", "crawler-beans-fragment.xml"
    }  # fmt: skip


def test_a_gzip_file_by_its_name(tmp_path: Path) -> None:
    found = write(tmp_path, SCORES, SPELLINGS, PrecedenceOptions())
    uris = ("--uris", tmp_path / "uris.txt")
    ok("export-precedence", tmp_path / "scores.txt", *uris, "--output", tmp_path / "p.txt.gz")
    assert gzip.decompress((tmp_path / "p.txt.gz").read_bytes()) == found.path.read_bytes()
    assert load(tmp_path / "p.txt.gz") == load(found.path)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("", "no scores"),
        ("1.0\thttp://a/\ta)/\n2.0\thttp://A/\ta)/\n", "two scores for the key a)/"),
    ],
)
def test_scores_that_are_none(tmp_path: Path, rows: str, found: str) -> None:
    (tmp_path / "scores.txt").write_text(rows)
    with pytest.raises(BadInput) as caught:
        export_precedence(
            tmp_path / "scores.txt", None, tmp_path / "p.txt", tmp_path, PrecedenceOptions()
        )
    assert found in str(caught.value)
    assert not (tmp_path / "p.txt").exists()


def test_a_scored_page_without_a_spelling_is_not_lost(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"1 key without a spelling in uris, the first b\)/"):
        write(tmp_path, SCORES, [s for s in SPELLINGS if s.key != "b)/"], PrecedenceOptions())


def test_what_it_writes_passes_the_commands_lint(tmp_path: Path) -> None:
    found = write(tmp_path, SCORES, SPELLINGS, PrecedenceOptions())
    assert "8 lines, 8 of them load" in ok("audit", found.path).out
    found.path.write_text("http://a/  1\n")
    assert crawlrank("audit", found.path).code == 3


def test_eta_and_digits_come_from_the_report_of_page_rank(tmp_path: Path) -> None:
    scores, report, output = (tmp_path / name for name in ("s.txt", "r.json", "p.txt"))
    scores.write_text("".join(f"{x}\thttp://a{x}/\ta{x}\n" for x in (2.0, 1.99, 1.0, 0.5)))

    def told(*more: object) -> tuple[Any, ...]:
        ok("export-precedence", scores, "--output", output, "--bins", 4, *more)
        summary = json.loads((tmp_path / "p.summary.json").read_text())
        return tuple(summary[name] for name in ("eta", "digits", "nodes_near_a_boundary"))

    assert told() == (None, 9, None)
    stop = {"iterations": None, "tolerance": 1e-6, "max_rounds": 200}
    report.write_text(json.dumps({"stop": stop, "rounds": [{"eta": 0.004}]}))
    assert told("--report", report) == (0.004, 4, 2)
    assert told("--report", report, "--eta", 0, "--digits", 7) == (0, 7, 0)
    report.write_text(json.dumps({"stop": {**stop, "iterations": 5}, "rounds": [{"eta": 0.004}]}))
    assert told("--report", report) == (0.004, 9, 2)
    report.write_text("[]")
    said = crawlrank("step", "export-precedence", scores, "--output", output, "--report", report)
    assert said.code == 3
    assert "no report of page-rank" in said.err


@pytest.mark.parametrize("arrays", [0, 3000, 4000])
def test_arrays_have_their_room_beside_duckdb(arrays: int, tmp_path: Path) -> None:
    nodes, budget = 4000, 200_000_000
    rows = "".join(f"{n}.5\thttp://a/{n}\ta)/{n}\n" for n in range(nodes))
    (tmp_path / "scores.txt").write_text(rows)
    with open_scored(
        tmp_path / "scores.txt",
        None,
        None,
        tmp_path,
        budget=budget + FIXED,
        threads=1,
        node_bytes=8 * arrays,
    ) as scored:
        assert isinstance(scored, ByKey)
        query = scored._db.execute("SELECT current_setting('memory_limit')")
        ((limit,),) = query.fetchall()
        assert len(list(scored.spellings())) == 1
    held = arrays * nodes * 8
    assert parse_size(limit) == pytest.approx(min(100_000_000, budget - held), rel=0.01)
