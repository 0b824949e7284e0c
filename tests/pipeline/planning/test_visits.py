"""What captures say about visits: by hand, for both engines, in one run and in several."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest
from support.crawls import ok
from support.inputs.several_crawls import redirect, response, revisit

from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.planning.visits import Visits, named, read_visits
from crawlrank.pipeline.workfolder.results.opened import open_finished

Read = tuple[Visits, dict[str, int]]  # and the rows by path
NOW = datetime(2024, 6, 1, tzinfo=timezone.utc)
HOST = "http://a.example"
HOME = "".join(f"<a href=/{name}>x</a>" for name in ("same", "new", "once", "gone", "old", "no"))


def crawl(day: int) -> list[bytes]:
    """A crawl of days 1, 4 and 9 of May."""
    first, last = day == 1, day == 9
    return [
        response(f"{HOST}/", day, HOME),
        response(f"{HOST}/same", 1, "s") if first else revisit(f"{HOST}/same", day, body="s"),
        response(f"{HOST}/new", day, "n" if day < 9 else "m"),
        *([response(f"{HOST}/once", day, "o")] if first else []),
        response(f"{HOST}/gone", day, "g", "404 Not Found" if last else "200 OK"),
        response(f"{HOST}/no", day, "n", "503 Busy" if last else "200 OK"),
        # not modified, in both ways that archives have it
        response(f"{HOST}/old", 1, "o") if first else revisit(f"{HOST}/old", day, status="304 Not"),
        redirect("https://a.example/old", f"{HOST}/old", day),
        response(f"{HOST}/picture.png", day, str(day)).replace(b"text/html", b"image/png"),
    ]  # fmt: skip


def visits_of(works: list[Path], tmp: Path, now: datetime = NOW) -> Read:
    with database(tmp, budget=1 << 30, threads=1) as (db, near):
        finished = [open_finished(work, db, near, f"w{n}") for n, work in enumerate(works)]
        ranking = open_finished(works[-1], db, near, "ranking")
        (near / "numbers").mkdir()
        made = read_visits(db, finished, ranking, now, near / "numbers")
        rows = dict(db.sql(f"SELECT uri, row FROM ({named(made.file, made.spelled)})").fetchall())
    return made, {uri.removeprefix(HOST): row for uri, row in rows.items()}


#: runner, and the days of each run
RUNS = {
    "embedded": ("embedded", [[1], [4], [9]]),
    "inline": ("inline", [[1, 4], [9]]),
    "one": ("embedded", [[1, 4, 9]]),
}


EVERY = ["embedded", *(pytest.param(name, marks=pytest.mark.slow) for name in ("inline", "one"))]


@pytest.fixture(scope="module", params=EVERY)
def works(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("visits")
    for day in (1, 4, 9):
        (folder / f"{day}.warc").write_bytes(b"".join(crawl(day)))
    runner, groups = RUNS[request.param]
    made = []
    for number, days in enumerate(groups):
        made.append(folder / f"work{number}")
        archives = [folder / f"{day}.warc" for day in days]
        given = "--runner", runner, "--no-validate", "--iterations", 2, "--quiet"
        ok("run", *archives, "--work", made[-1], *given)
    return made


@pytest.fixture(scope="module")
def read(works: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Read:
    return visits_of(works, tmp_path_factory.mktemp("read"))


@pytest.mark.slow
def test_spans_between_visits(read: Read) -> None:
    visits, rows = read
    assert set(rows) == {"/", "/same", "/new", "/once", "/gone", "/old", "/no"}
    names = {row: path for path, row in rows.items()}
    seen: dict[str, list[tuple[float, bool]]] = {}
    spans = visits.spans
    for page, days, is_change in zip(spans.pages, spans.days, spans.is_change, strict=True):
        seen.setdefault(names[page], []).append((days, bool(is_change)))
    assert seen == {
        "/": [(3, False), (5, False)],
        "/same": [(3, False), (5, False)],
        "/new": [(3, False), (5, True)],
        "/gone": [(3, False), (5, True)],
        "/no": [(3, False)],
        "/old": [(3, False), (5, False)],
    }
    last = {names[page] for page in spans.pages[spans.is_last]}
    assert last == set(seen)
    assert np.count_nonzero(spans.is_last) == len(seen)
    assert {names[row] for row in np.flatnonzero(visits.gone)} == {"/gone"}
    assert visits.left_out == {"failed": 1}
    ages = {path: visits.ages[row] for path, row in rows.items()}
    assert ages == {
        "/": 23,
        "/same": 23,
        "/new": 23,
        "/gone": 23,
        "/old": 23,
        "/no": 28,
        "/once": 31,
    }


@pytest.mark.slow
def test_captures_after_the_beginning_are_left_out(works: list[Path], tmp_path: Path) -> None:
    visits, rows = visits_of(works, tmp_path, datetime(2024, 5, 5, tzinfo=timezone.utc))
    assert visits.left_out == {"later": len(crawl(9))}
    assert len(visits.spans.days) == 6
    assert not visits.gone.any()
    assert visits.ages[rows["/no"]] == 1


def test_what_spans_tell_of_pages(read: Read) -> None:
    visits, rows = read
    seen = visits.spans.seen(len(rows))
    assert {path: seen.quiet[row] for path, row in rows.items()} == {
        "/": 8, "/same": 8, "/new": 3, "/once": 0, "/gone": 3, "/old": 8, "/no": 3,
    }  # fmt: skip
    assert seen.spans.tolist() == [5, 5]
    assert {path for path, row in rows.items() if np.diff(seen.offsets)[row]} == {"/new", "/gone"}
    held = visits.spans.seen(len(rows), ~visits.spans.is_last)
    assert len(held.spans) == 0
    assert held.quiet.sum() == 3 * 5
