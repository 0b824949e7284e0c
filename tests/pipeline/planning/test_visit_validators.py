"""What Last-Modified and ETag tell of visits: by a definition in words of their own, each kind of
evidence alone, and on runs of both engines."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.crawls import ok
from support.drawing import examples
from support.inputs.several_crawls import response

from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.planning.visits import Visits, named, read_visits
from crawlrank.pipeline.workfolder.results.opened import open_finished

BEGIN, NOW = datetime(2024, 5, 1), datetime(2024, 8, 1, tzinfo=timezone.utc)
Spans = list[tuple[int, bool]]


class Visit(NamedTuple):
    day: int
    digest: str | None = None
    etag: str | None = None
    modified: str | None = None
    status: int | None = 200
    kind: str = "response"


def digits(day: int) -> str:
    return (BEGIN + timedelta(days=day)).strftime("%Y%m%d%H%M%S")


def spans_of(visits: Sequence[Visit]) -> Spans:
    """Days between visits and whether the page changed in them, by definition. What is known of a
    version of the page: its digest, its strong tag and its kind of status."""
    spans: Spans = []
    version: dict[str, Any] | None = None
    last = 0
    for visit in visits:
        fine = visit.status is None or 200 <= visit.status < 300
        confirms = visit.status == 304 or (visit.kind == "revisit" and not visit.digest)
        here: dict[str, Any] = {"fine": fine or visit.status == 304}
        if not confirms:
            hundreds = (visit.status or 200) // 100
            if visit.digest:
                here["digest"] = visit.digest, hundreds
            if visit.etag and visit.etag[0] == '"' and len(visit.etag) > 2:
                here["tag"] = visit.etag, hundreds
            if visit.modified and digits(-30) < visit.modified <= digits(visit.day) and fine:
                here["modified"] = visit.modified
        if here.keys() == {"fine"} and not confirms:
            continue
        changed = None if version is None else changed_between(version, last, here, confirms)
        if changed is None:
            if version and "digest" in version and "digest" not in here:
                continue
            version = here
        else:
            spans.append((visit.day - last, changed))
            version = here if changed else {**(version or {}), **here, "fine": version["fine"]}
        last = visit.day
    return spans


def changed_between(
    version: dict[str, Any], last: int, here: dict[str, Any], confirms: bool
) -> bool | None:
    digests = [each["digest"] for each in (version, here) if "digest" in each]
    same_tag = "tag" in here and here["tag"] == version.get("tag")
    if confirms or (len(digests) == 2 and digests[0] == digests[1]) or same_tag:
        return False
    if len(digests) == 2:
        return True
    if "modified" in here and version["fine"]:
        return bool(here["modified"] > digits(last))
    return None


class MadeCrawl:
    """A crawl like a finished run, with a page for each list of visits."""

    def __init__(self, db: Any, pages: Sequence[Sequence[Visit]]) -> None:
        self.db, self.work = db, Path("made")
        numbers = range(len(pages))
        uris = [f"http://a.example/{number}" for number in numbers]
        keys = [f"example,a)/{number}" for number in numbers]
        ones = [1] * len(pages)
        self._table("spelled", uri=uris, key=keys, captures=ones, links=ones)
        db.execute("CREATE TABLE nodes (uri VARCHAR, key VARCHAR, score DOUBLE)")
        visits = [(uri, visit) for uri, page in zip(uris, pages, strict=True) for visit in page]
        self._table(
            "visited",
            uri=[uri for uri, _ in visits],
            timestamp=[digits(visit.day) for _, visit in visits],
            status=pa.array([visit.status for _, visit in visits], pa.int32()),
            media_type=["text/html"] * len(visits),
            **{
                name: pa.array([getattr(visit, name) for _, visit in visits], pa.string())
                for name in ("digest", "kind", "modified", "etag")
            },
        )

    def _table(self, name: str, **columns: Any) -> None:
        self.db.register("columns", pa.table(columns))
        self.db.execute(f"CREATE TABLE {name} AS FROM columns")
        self.db.unregister("columns")

    def view(self, name: str) -> str:
        return name


def spans_by_page(visits: Visits) -> dict[int, Spans]:
    by_page: dict[int, Spans] = {}
    spans = visits.spans
    for page, days, is_change in zip(spans.pages, spans.days, spans.is_change, strict=True):
        by_page.setdefault(int(page), []).append((round(float(days)), bool(is_change)))
    return by_page


def planned_spans(pages: Sequence[Sequence[Visit]]) -> list[Spans]:
    """The spans as a plan sees them."""
    with TemporaryDirectory() as tmp, database(Path(tmp), budget=1 << 29, threads=1) as (db, near):
        work: Any = MadeCrawl(db, pages)
        (near / "numbers").mkdir()
        visits = read_visits(db, [work], work, NOW, near / "numbers")
        query = f"SELECT uri, row FROM ({named(visits.file, visits.spelled)})"
        rows = dict(db.sql(query).fetchall())
        by_row = spans_by_page(visits)
    return [by_row.get(rows[f"http://a.example/{page}"], []) for page in range(len(pages))]


A, B = '"a"', '"b"'
EVIDENCE: dict[str, tuple[list[Visit], Spans]] = {
    "equal digests": ([Visit(0, "x"), Visit(2, "x")], [(2, False)]),
    "other digests": ([Visit(0, "x"), Visit(2, "y")], [(2, True)]),
    "a strong tag over digests": ([Visit(0, "x", A), Visit(2, "y", A)], [(2, False)]),
    "digests over other tags": ([Visit(0, "x", A), Visit(2, "x", B)], [(2, False)]),
    "other tags and digests": ([Visit(0, "x", A), Visit(2, "y", B)], [(2, True)]),
    "a weak tag": ([Visit(0, "x", "W/" + A), Visit(2, "y", "W/" + A)], [(2, True)]),
    "a tag without quotes": ([Visit(0, "x", "a"), Visit(2, "y", "a")], [(2, True)]),
    "an empty tag": ([Visit(0, "x", '""'), Visit(2, "y", '""')], [(2, True)]),
    "a tag alone": ([Visit(0, None, A), Visit(2, None, A)], [(2, False)]),
    "other tags alone": ([Visit(0, None, A), Visit(2, None, B), Visit(5, None, B)], [(3, False)]),
    "a tag of an error": ([Visit(0, "x", A), Visit(2, "x", A, status=404)], [(2, True)]),
    "not changed since the earlier": ([Visit(1, "x"), Visit(3, None, None, digits(1))],
                                      [(2, False)]),
    "changed between": ([Visit(1, "x"), Visit(4, None, None, digits(2))], [(3, True)]),
    "digests over Last-Modified": ([Visit(1, "x"), Visit(3, "y", None, digits(0))], [(2, True)]),
    "digests over a change between": ([Visit(1, "x"), Visit(3, "x", None, digits(2))],
                                      [(2, False)]),
    "a tag over Last-Modified": ([Visit(1, None, A), Visit(3, "x", A, digits(2))], [(2, False)]),
    "Last-Modified over other tags": ([Visit(1, None, A), Visit(3, None, B, digits(0))],
                                      [(2, False)]),
    "a clock that is ahead": ([Visit(1, "x"), Visit(3, None, None, digits(9))], []),
    "the epoch": ([Visit(1, "x"), Visit(3, None, None, "19700101000000")], []),
    "no such date": ([Visit(1, "x"), Visit(3, None, None, "20240231000000")], []),
    "Last-Modified of an error": ([Visit(1, "x"), Visit(3, None, None, digits(2), 404)], []),
    "after an error": ([Visit(1, "x", status=404), Visit(3, None, None, digits(2))], []),
    "what tells nothing between": ([Visit(0, "x"), Visit(1, None, A), Visit(4, "x")],
                                   [(4, False)]),
    "the digest before an unknown one": (
        [Visit(0, "x", A), Visit(1, None, A), Visit(3, "y"), Visit(4, None, None, digits(3))],
        [(1, False), (2, True), (1, False)],
    ),
    "nothing known of a changed page": (
        [Visit(0, "x"), Visit(2, None, None, digits(1)), Visit(3, "x"), Visit(5, "x")],
        [(2, True), (2, False)],
    ),
}  # fmt: skip


@cache
def planned_evidence() -> dict[str, Spans]:
    planned = planned_spans([visits for visits, _ in EVIDENCE.values()])
    return dict(zip(EVIDENCE, planned, strict=True))


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence(name: str) -> None:
    visits, expected = EVIDENCE[name]
    assert spans_of(visits) == expected
    assert planned_evidence()[name] == expected


def test_a_page_alone() -> None:
    visits, expected = EVIDENCE["the digest before an unknown one"]
    assert planned_spans([visits]) == [expected]


def pages() -> st.SearchStrategy[list[list[Visit]]]:
    modified = st.integers(0, 12).map(digits) | st.sampled_from(
        ["19700101000000", "20240231000000"]
    )
    visit = st.builds(
        Visit,
        st.integers(0, 12),
        st.sampled_from([None, "x", "y"]),
        st.sampled_from([None, None, A, B, "W/" + A, '""', "a"]),
        st.none() | modified,
        st.sampled_from([200, 200, 200, None, 301, 304, 404]),
        st.sampled_from(["response", "response", "revisit"]),
    )
    page = st.lists(visit, min_size=1, max_size=7, unique_by=lambda visit: visit.day).map(sorted)
    return st.lists(page, min_size=10, max_size=40)


@pytest.mark.slow
@settings(max_examples=examples(20), deadline=None)
@given(pages())
def test_visits_are_compared_as_defined(made: list[list[Visit]]) -> None:
    assert planned_spans(made) == [spans_of(visits) for visits in made]


def days_as_before(visits: Sequence[Visit]) -> Spans:
    return spans_of([visit._replace(etag=None, modified=None) for visit in visits])


def test_each_kind_of_evidence_matters() -> None:
    tags, times = ("a strong tag over digests", "a tag alone"), ("changed between",)
    for name in (*tags, *times, "not changed since the earlier"):
        visits, expected = EVIDENCE[name]
        assert days_as_before(visits) != expected


HOST = "http://a.example"
HOME = "".join(f"<a href=/{name}>x</a>" for name in ("tagged", "dated", "weak"))


def http_date(day: int) -> str:
    return format_datetime(datetime(2024, 5, day, tzinfo=timezone.utc), usegmt=True)


def crawl(day: int) -> bytes:
    """A crawl of days 1, 4 and 9 of May. The records of `dated` have no digest."""
    body = f"visit {day}"
    dated = response(f"{HOST}/dated", day, body, headers=f"Last-Modified: {http_date(3)}\r\n")
    digest = "sha1:" + hashlib.sha1(body.encode()).hexdigest()
    without = dated.replace(f"WARC-Payload-Digest: {digest}\r\n".encode(), b"")
    assert without != dated
    return b"".join([
        response(f"{HOST}/", day, HOME),
        response(f"{HOST}/tagged", day, body, headers='ETag: "1"\r\n'),
        response(f"{HOST}/weak", day, body, headers='ETag: W/"1"\r\n'),
        without,
    ])  # fmt: skip


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("runner", ["embedded", "inline"])
def test_runs_of_all_engines(runner: str, tmp_path: Path) -> None:
    """The first crawl was ranked without the option. The second of the runs in text has
    its data at a URL."""
    works = []
    for day in (1, 4, 9):
        (tmp_path / f"{day}.warc").write_bytes(crawl(day))
        works.append(tmp_path / f"work{day}")
        asked = ["--validators"] if day > 1 else []
        if runner == "inline" and day == 4:
            asked += ["--data", f"file://{tmp_path}/data", "--reducers", "2"]
        args = (tmp_path / f"{day}.warc", "--work", works[-1], "--runner", runner)
        ok("run", *args, *asked, "--no-validate", "--iterations", 2, "--quiet")
    with database(tmp_path, budget=1 << 29, threads=1) as (db, near):
        finished = [open_finished(work, db, near, f"w{n}") for n, work in enumerate(works)]
        (near / "numbers").mkdir()
        visits = read_visits(db, finished, finished[-1], NOW, near / "numbers")
        query = f"SELECT uri, row FROM ({named(visits.file, visits.spelled)})"
        names = {row: uri.removeprefix(HOST) for uri, row in db.sql(query).fetchall()}
    assert {names[page]: spans for page, spans in spans_by_page(visits).items()} == {
        "/": [(3, False), (5, False)],
        "/tagged": [(3, True), (5, False)],  # no tag is known of the first
        "/weak": [(3, True), (5, True)],
        "/dated": [(5, False)],  # the first visit tells nothing, the second has its time
    }
