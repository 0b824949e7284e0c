"""select-links: what is chosen of several captures and what folds, on both engines, against an
oracle written from the definitions (tests/support/selecting_oracle.py)."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.inputs.samples import write
from support.selecting_oracle import REFERENCES, Oracle, Selection
from support.systems.cluster import dataset

from crawlrank.jobs.kernel.captures.choosing import CaptureRules, Named, choose, folded
from crawlrank.jobs.kernel.formats.lines import format_capture, format_link, parse_fold
from crawlrank.jobs.kernel.formats.rows import Capture, Fold, Link
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.select_links import SelectLinks
from crawlrank.pipeline.engines.embedded.columns import CapturesWriter, LinksWriter
from crawlrank.pipeline.engines.embedded.select_links import FOLDS
from crawlrank.pipeline.engines.embedded.select_links import select_links as by_columns
from crawlrank.pipeline.engines.text.steps import select_links

URIS = [
    *(f"http://h.example/{n}".encode() for n in range(5)),
    b"https://h.example/0", b"http://www.h.example/1", b"http://[bad/",
]  # fmt: skip
KEYED_URIS = URIS[:7]
KEYED = st.sampled_from(KEYED_URIS)
URI = st.sampled_from(URIS)
TIMES = st.sampled_from([b"-", *(b"2024050%d000000" % day for day in range(1, 5))])
NAMES = st.sampled_from([b"-", b"<urn:1>", b"<urn:2>"])
DIGESTS = st.sampled_from([b"-", b"sha1:A", b"sha1:B"])


@st.composite
def crawls(draw: Any) -> tuple[list[Link], list[Capture]]:
    """Captures with and without links, and links of captures that are not there."""
    captures, links = [], []
    for _ in range(draw(st.integers(1, 9))):
        kind = draw(st.sampled_from([b"response", b"response", b"revisit"]))
        status = draw(
            st.sampled_from([b"-", b"200", b"200", b"204", b"301", b"302", b"304", b"404", b"410"])
        )
        referring = kind == b"revisit"
        row = Capture(
            draw(URI), draw(TIMES), status, b"-", draw(DIGESTS), kind, b"a", b"0",
            id=draw(NAMES),
            refers_to=draw(NAMES) if referring else b"-",
            refers_to_uri=draw(URI) if referring and draw(st.booleans()) else b"-",
            refers_to_timestamp=draw(TIMES) if referring else b"-",
        )  # fmt: skip
        captures.append(row)
        hops = [b"R"] if status[:1] == b"3" else [b"L", b"C", b"R"] if status < b"4" else []
        for hop in draw(st.lists(st.sampled_from(hops), max_size=3)) if hops else []:
            kind = draw(st.sampled_from([*REFERENCES]))
            target = urljoin(row.uri.decode(), REFERENCES[kind]) if row.uri in KEYED_URIS else ""
            target = draw(URI) if kind == b"-" or not target else target.encode()
            links.append(
                Link(target, row.uri, hop, row.timestamp, kind if row.uri in KEYED_URIS else b"-")
            )
    for _ in range(draw(st.integers(0, 2))):
        links.append(Link(draw(URI), draw(URI), b"L", draw(TIMES)))
    return links, captures


GONE = st.sampled_from(["last", "drop", "keep"])
RULES = st.builds(CaptureRules, st.booleans(), st.booleans(), st.booleans(), GONE)


def expected(links: list[Link], captures: list[Capture], rules: CaptureRules) -> Selection:
    fold = {name for name in ("redirects", "canonical") if getattr(rules, name)}
    oracle = Oracle(links, captures, latest=rules.latest, fold=fold, gone=rules.gone)
    return oracle.select()


def by_jobs(
    links: list[Link], captures: list[Capture], rules: CaptureRules, runner: str
) -> Selection:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found, seen = folder / "links.txt", folder / "captures.txt"
        found.write_bytes(b"".join(format_link(link) + b"\n" for link in links))
        seen.write_bytes(b"".join(format_capture(row) + b"\n" for row in captures))
        output = folder / "selected.txt" if rules.latest else None
        launcher = Launcher(runner, folder, 2)
        told = select_links([found], [seen], output, folder / "folds.txt", launcher, rules)
        folds = (folder / "folds.txt").read_bytes().splitlines()
        assert folds == sorted(folds)
        lines = output.read_bytes().splitlines() if output else []
        assert told.rows.get("selected", 0) == len(lines)
        assert told.rows["folds"] == len(folds)
        return Counter(lines), set(map(parse_fold, folds)), +Counter(told.counters)


@pytest.mark.slow
@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(crawls(), RULES)
def test_jobs_do_what_the_definitions_say(
    made: tuple[list[Link], list[Capture]], rules: CaptureRules
) -> None:
    assert by_jobs(*made, rules, "inline") == expected(*made, rules)


@pytest.mark.parametrize(("take", "stages"), [("union", 1), ("latest", 2)])
def test_a_job_alone_leaves_its_candidates_beside_the_links(
    take: str, stages: int, tmp_path: Path
) -> None:
    page = Capture(URIS[0], b"20240501000000", b"200", *[b"-"] * 2, b"response", b"a", b"0")
    links = [Link(URIS[1], page.uri, hop, page.timestamp) for hop in (b"L", b"C")]
    inputs = [
        write(tmp_path / "links", [format_link(link) for link in links]),
        write(tmp_path / "captures", [format_capture(page)]),
    ]
    job = SelectLinks(["--captures", take, "--canonical"])
    job.run_with([*map(str, inputs)], tmp_path / "out", Launcher("inline", tmp_path))
    assert dataset(tmp_path / "out") == [format_link(Link(*links[0][:3]))] * (take == "latest")
    folders = sorted((tmp_path / "out/_folds").iterdir())
    assert len(folders) == stages
    folds = [line for folder in folders for line in dataset(folder)]
    assert folds == [b"example,h)/0\tcanonical\texample,h)/1"]


def by_embedded(
    links: list[Link], captures: list[Capture], rules: CaptureRules, parts: int = 2, block: int = 3
) -> Selection:
    """The rows dealt out to several parts, in small blocks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for dataset in ("links", "captures", "tmp"):
            (folder / dataset).mkdir()
        for part in range(parts):
            found, seen = (folder / d / f"{part}.parquet" for d in ("links", "captures"))
            with LinksWriter(found, block, dated=True) as writer:
                for link in links[part::parts]:
                    writer.add(link.source, [link.target], [link.hop], *link[3:4], [link.reference])
            with CapturesWriter(seen, columns=14) as rows:
                rows.add(captures[part::parts])
        selected, folds = folder / "selected", folder / "folds"
        counters = by_columns(
            folder / "links", folder / "captures", selected, folds, rules,
            budget=2**28, tmp=folder / "tmp",
        )  # fmt: skip
        told = pq.read_table(folds / FOLDS).to_pylist()
        rows_of_folds = [Fold(*(_bytes(value) for value in row.values())) for row in told]
        assert rows_of_folds == sorted(rows_of_folds)
        lines: Counter[bytes] = Counter()
        for path in sorted(selected.glob("*")) if rules.latest else ():
            for row in pq.read_table(path).to_pylist():
                lines[" ".join(row.values()).encode()] += 1
        assert counters.pop("selected", 0) == lines.total()
        assert counters.pop("folds", 0) == len(told)
        return lines, set(rows_of_folds), +counters


def _bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


@pytest.mark.slow
@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(crawls(), RULES)
def test_columns_do_what_the_definitions_say(
    made: tuple[list[Link], list[Capture]], rules: CaptureRules
) -> None:
    assert by_embedded(*made, rules) == expected(*made, rules)


@pytest.mark.slow
def test_a_target_that_no_reference_of_its_kind_has_is_counted_by_both_engines() -> None:
    """Extraction writes no such line; a file made by hand may have it."""
    common = b"20240501000000", b"200", b"-", b"sha1:A"
    page = Capture(URIS[0], *common, b"response", b"a", b"0")
    again = Capture(
        URIS[1],
        *common,
        b"revisit",
        b"a",
        b"1",
        refers_to_uri=URIS[0],
        refers_to_timestamp=common[0],
    )
    targets = (b"b", b"//"), (b"http:b", b"0.1"), (b"mailto:b@h", b"/"), (URIS[2], b"/")
    links = [Link(target, URIS[0], b"L", common[0], kind) for target, kind in targets]
    made = links, [page, again]
    by_runner = by_jobs(*made, CaptureRules(latest=True), "inline")
    assert by_runner == by_embedded(*made, CaptureRules(latest=True))
    assert by_runner[2]["links.unresolved"] == 3
    assert by_runner[0][URIS[2] + b" " + URIS[1] + b" L"] == 1


@pytest.mark.parametrize("name", ["id", "key and time"])
def test_captures_that_share_a_name_are_no_work_for_each_that_refers_to_it(name: str) -> None:
    """An id of several captures names none of them. Of several spellings of a page at a time, the
    greatest is named."""
    time, count, by_id = b"20240501000000", 4, name == "id"
    pages = [b"http://h.example/p%d" % n for n in range(count)]
    if not by_id:
        pages = [b"%s://%sh.example/p" % (scheme, www) for scheme in (b"http", b"https")
                 for www in (b"", b"www.")]  # fmt: skip
    links = [Link(b"http://h.example/to%d" % n, page, b"L", time) for n, page in enumerate(pages)]
    captures = [
        Capture(page, time, b"200", b"-", b"-", b"response", b"a", b"%d" % n, id=b"<urn:1>")
        for n, page in enumerate(pages)
    ]
    names = {"refers_to": b"<urn:1>"}
    if not by_id:
        names = {"refers_to_uri": pages[0], "refers_to_timestamp": time}
    captures += [
        Capture(b"http://h.example/r%d" % n, time, b"200", b"-", b"sha1:A", b"revisit", b"a", b"0",
                **names)
        for n in range(count)
    ]  # fmt: skip
    rules = CaptureRules(latest=True)
    lines, folds, counters = by_jobs(links, captures, rules, "inline")
    assert (lines, folds, counters) == by_embedded(links, captures, rules)
    assert lines.total() == count + (0 if by_id else count)
    assert counters["revisits.original"] == (0 if by_id else count)
    of_revisits = {line.split()[0] for line in lines if b"/r" in line.split()[1]}
    assert of_revisits == (set() if by_id else {links[-1].target})


class Seen(NamedTuple):
    """A capture of /0 on a day (0: unknown), with a link that names the day. to: the page that a
    redirect leads to."""

    day: int
    status: str = "200"
    to: int | None = None
    digest: str = "-"
    kind: str = "response"


class Case(NamedTuple):
    """taken: the days whose links count, with `latest` only. folds: kind and target of /0."""

    seen: list[Seen]
    rules: CaptureRules
    taken: set[int]
    folds: frozenset[tuple[str, str]] = frozenset()


LATEST, BOTH = CaptureRules(latest=True), CaptureRules(latest=True, redirects=True)
AWAY = frozenset({("redirect", "example,h)/3")})
#: the rules of jobs/kernel/captures/choosing.py, by what they say
CASES = {
    "the latest good capture": Case([Seen(1), Seen(2)], LATEST, {2}),
    "both good captures of that time": Case(
        [Seen(2, digest="sha1:A"), Seen(2, digest="sha1:B")], LATEST, {2}
    ),
    "no status and every 2xx are good": Case([Seen(1), Seen(2, "204"), Seen(3, "-")], LATEST, {3}),
    "an error is not good": Case([Seen(1), Seen(2, "500")], LATEST, {1}),
    "an unknown time comes first": Case([Seen(0), Seen(1, "204")], LATEST, {1}),
    "304 stands for the one before": Case([Seen(1), Seen(2, "304")], LATEST, {1}),
    "a revisit stands for its digest": Case(
        [
            Seen(1, digest="sha1:A"), Seen(2, digest="sha1:B"),
            Seen(3, digest="sha1:A", kind="revisit"),
        ],
        LATEST, {1},
    ),
    "a revisit of nothing has its own links": Case(
        [Seen(1, digest="sha1:A"), Seen(2, digest="sha1:B", kind="revisit")], LATEST, {2}
    ),
    "a redirect without a good capture": Case([Seen(1, "301", 3)], LATEST, {1}),
    "which folds": Case([Seen(1, "301", 3)], BOTH, {1}, AWAY),
    "also of all captures": Case([Seen(1, "301", 3)], CaptureRules(redirects=True), set(), AWAY),
    "not beside a good one": Case(
        [Seen(1), Seen(2, "301", 3)], CaptureRules(redirects=True), set()
    ),
    "a redirect after the good one": Case([Seen(1), Seen(2, "301", 3)], BOTH, {2}, AWAY),
    "a redirect before the good one": Case([Seen(1, "301", 3), Seen(2)], BOTH, {2}),
    "a redirect to the page itself": Case([Seen(1), Seen(2, "301", 0)], BOTH, {1}),
    "a redirect to another page before one to itself": Case(
        [Seen(1, "302", 3), Seen(2, "301", 0)], LATEST, {1}
    ),
    "which folds all the same": Case([Seen(1, "302", 3), Seen(2, "301", 0)], BOTH, {1}, AWAY),
    "redirects to itself alone": Case([Seen(1, "301", 0), Seen(2, "301", 0)], LATEST, {2}),
    "two targets at a time": Case([Seen(1, "301", 3), Seen(1, "302", 4)], BOTH, {1}),
    "gone": Case([Seen(1), Seen(2, "404")], LATEST, set(), frozenset({("gone", "-")})),
    "gone and dropped": Case(
        [Seen(1), Seen(2, "410")], LATEST._replace(gone="drop"), set(), frozenset({("gone", ".")}),
    ),
    "gone and kept": Case([Seen(1), Seen(2, "404")], LATEST._replace(gone="keep"), {1}),
}  # fmt: skip


def crawl_of(seen: list[Seen]) -> tuple[list[Link], list[Capture]]:
    captures, links = [], []
    for number, (day, status, to, digest, kind) in enumerate(seen):
        time = b"2024050%d000000" % day if day else b"-"
        captures.append(
            Capture(URIS[0], time, status.encode(), b"-", digest.encode(), kind.encode(), b"a",
                    b"%d" % number)
        )  # fmt: skip
        links.append(Link(b"http://h.example/day%d" % day, URIS[0], b"L", time))
        if to is not None:
            links.append(Link(URIS[to], URIS[0], b"R", time))
    return links, captures


def days_in(lines: Iterable[bytes]) -> set[int]:
    """The days that selected links name."""
    return {int(line.split()[0][-1:]) for line in lines if b"/day" in line}


@pytest.mark.few(2)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_one_table_of_cases_holds_for_python_sql_and_jobs(case: Case) -> None:
    links, captures = crawl_of(case.seen)
    key = b"example,h)/0"
    named = [Named(n.hop, n.source, n.timestamp, b"example,h)" + n.target[16:]) for n in links
             if n.hop == b"R"]  # fmt: skip
    chosen = choose(key, captures, named, case.rules)
    folds = list(folded(key, chosen.folds))
    kept = {(kind.decode(), to.decode()) for kind, to in folds} if len(folds) == 1 else set()
    assert kept == case.folds
    if case.rules.latest:
        names = [*chosen.captures, *(name for one in chosen.searches for name in one.instead)]
        assert {int(time[7:8].replace(b"-", b"0") or 0) for _, time in names} == case.taken
    for lines, rows, _ in (
        by_jobs(links, captures, case.rules, "inline"),
        by_embedded(links, captures, case.rules),
    ):
        assert {(row.kind.decode(), row.target_key.decode()) for row in rows} == case.folds
        assert days_in(lines) == case.taken
