"""Which lines of a precedence file a crawl begins with: the same for both engines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.crawls import ok
from support.inputs.archive_samples import plain, warc
from support.paths import LOOPBACK
from support.runs import finished

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.heritrix.pages import (
    EMBEDDED,
    GONE,
    LATER,
    SPELLING,
    FirstPage,
    PageRule,
    choose_pages,
    chosen_pages,
    left_out,
)
from crawlrank.pipeline.workfolder.results.opened import open_finished

HOST = "http://a.example"
LINKED = (
    "/page", "/to-page", "/to-to-page", "/circle", "/to-circle", "/gone", "/to-gone", "/broken",
    "/paper.pdf", "/picture.png", "/to-elsewhere", "/never", "/PAGE", "/itself",
)  # fmt: skip
REDIRECTS = {
    "/to-page": "/page", "/to-to-page": "/to-page", "/circle": "/circle-2", "/circle-2": "/circle",
    "/to-circle": "/circle", "/to-gone": "/gone", "/to-elsewhere": "http://b.example/",
    "/itself": "/itself",
}  # fmt: skip
ANSWERS = {
    "/page": (200, "text/html; charset=utf-8"), "/unlinked": (200, "Text/HTML"),
    "/paper.pdf": (200, "application/pdf"), "/picture.png": (200, "image/png"),
    "/style.css": (200, "text/css"), "/inline.png": (200, "image/png"),
    "/robots.txt": (200, "text/plain"), "/notes.txt": (200, "text/plain"),
    "/app.js": (200, "text/plain"), "/gone": (404, "text/html"), "/broken": (500, "text/html"),
    "/favicon.ico": (404, "text/html"),
}  # fmt: skip
#: seen again, and not changed
UNCHANGED = {"/unlinked": 304, "/notes.txt": None}
PAGES = {"/", "/page", "/unlinked", "/paper.pdf", "/notes.txt"}
#: what readers follow links to, beside pages
FOLLOWED = {"/to-page", "/to-to-page", "/broken", "/picture.png", "/to-elsewhere", "/itself"}
#: linked to and never captured
FOUND = {"/never", "http://b.example/"}
GONE_PAGES = {"/circle", "/to-circle", "/circle-2", "/gone", "/to-gone"}

ALL = PageRule()


def record(path: str, status: int, media_type: str, more: str = "", body: str = "") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {media_type}\r\n{more}\r\n"
    return warc((head + body).encode(), HOST + path)


def unchanged(path: str, status: int | None) -> bytes:
    """A later revisit, with this status or without a header."""
    head = f"HTTP/1.1 {status} X\r\n\r\n" if status else ""
    found = warc(head.encode(), HOST + path, "revisit")
    return found.replace(b"WARC-Date: 2024", b"WARC-Date: 2025")


@pytest.fixture(scope="module", params=["embedded", "inline"])
def work(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    links = "".join(f'<a href="{path}">x</a>' for path in LINKED)
    records = [record("/", 200, "text/html", body=f'{links}<img src="/inline.png">')]
    records += [record(path, *answer) for path, answer in ANSWERS.items()]
    records += [unchanged(path, status) for path, status in UNCHANGED.items()]
    records += [
        record(path, 302, "text/html", f"Location: {to}\r\n") for path, to in REDIRECTS.items()
    ]
    (folder / "crawl.warc").write_bytes(plain(records))
    options = ("--runner", request.param, "--bins", "4", "--nodes", "all", "--quiet")
    options += ("--no-validate", "--jobs", "1")
    ok("run", folder / "crawl.warc", "--work", folder / "work", *options)
    return folder / "work"


def listed(work: Path, name: str = "precedence.txt") -> dict[str, int]:
    lines = (line.split() for line in (work / name).read_text().splitlines())
    return {uri: int(precedence) for uri, precedence in lines}


def chosen(
    work: Path,
    tmp: Path,
    rule: PageRule = ALL,
    bins: int = 4,
    seeds: Sequence[str] = (),
    name: str = "precedence.txt",
) -> tuple[list[FirstPage], dict[str, int]]:
    with database(tmp, budget=1 << 30, threads=1) as (db, near):
        run = open_finished(work, db, near, "ranked")
        choose_pages(db, work / name, run, rule, bins, seeds)
        lines, others = [*listed(work, name)], left_out(db)
        assert all(first in lines for _, first in others.values())
        return list(chosen_pages(db)), {cause: count for cause, (count, _) in others.items()}


def pages_of(work: Path, tmp: Path, rule: PageRule = ALL, bins: int = 4) -> list[str]:
    pages, others = chosen(work, tmp, rule, bins)
    paths = {page.uri.removeprefix(HOST) for page in pages}
    gone = {page.uri.removeprefix(HOST) for page in pages if page.gone}
    assert gone == GONE_PAGES & paths
    assert sum(others.values()) + len(pages) == len(listed(work))
    return [page.uri for page in pages]


@pytest.mark.few(1)
def test_pages_and_what_is_linked_in_the_order_of_the_file(work: Path, tmp_path: Path) -> None:
    lines = listed(work)
    made = pages_of(work, tmp_path)
    found = {uri for uri in made if uri.removeprefix(HOST) in FOUND}
    places = {uri: place for place, uri in enumerate(lines)}
    assert made == sorted(made, key=lambda uri: (uri in found, lines[uri], places[uri]))
    gone = {path for path in GONE_PAGES if lines[HOST + path] < 4}
    assert {uri.removeprefix(HOST) for uri in made} == PAGES | FOLLOWED | FOUND | gone
    assert gone


@pytest.mark.few(1)
def test_what_is_gone_is_none_in_the_last_class(work: Path, tmp_path: Path) -> None:
    made = pages_of(work, tmp_path, bins=0)
    assert {uri.removeprefix(HOST) for uri in made} == PAGES | FOLLOWED | FOUND


@pytest.mark.few(1)
def test_fewer_classes_and_fewer_pages(work: Path, tmp_path: Path) -> None:
    made, lines = pages_of(work, tmp_path), listed(work)
    best = [uri for uri in lines if uri in {*made}]
    assert {*pages_of(work, tmp_path, PageRule(top=3))} == {*best[:3]}
    first = [uri for uri in made if lines[uri] <= 2]
    assert pages_of(work, tmp_path, PageRule(last_class=2)) == first
    assert {*pages_of(work, tmp_path, PageRule(2, 2))} == {*best[:2]}
    assert 2 < len(first) < len(made)


@pytest.mark.slow
@pytest.mark.few(1)
def test_each_line_that_is_no_page_has_a_cause(work: Path, tmp_path: Path) -> None:
    lines = listed(work)
    _, others = chosen(work, tmp_path, bins=1)
    embedded = {"/style.css", "/inline.png", "/robots.txt", "/app.js", "/favicon.ico"}
    assert others == {EMBEDDED: len(embedded), GONE: len(GONE_PAGES), SPELLING: 1}  # /PAGE
    pages, others = chosen(work, tmp_path, PageRule(top=3), bins=1)
    assert others[LATER] == len(PAGES | FOLLOWED | FOUND) - len(pages)
    file = tmp_path / "aliased.txt"
    ok("export", "--work", work, "--output", file, "--aliases", "scheme")
    again, others = chosen(work, tmp_path, name=str(file))
    assert len(again) == len(chosen(work, tmp_path)[0])
    assert others[SPELLING] == len(file.read_text().splitlines()) - len(lines) + 1


def test_of_the_lines_that_are_no_pages_the_first_is_told(work: Path, tmp_path: Path) -> None:
    with database(tmp_path, budget=1 << 30, threads=1) as (db, near):
        run = open_finished(work, db, near, "ranked")
        choose_pages(db, work / "precedence.txt", run, PageRule(top=3), 1)
        pages, others = [page.uri for page in chosen_pages(db)], left_out(db)
    gone = [uri for uri in listed(work) if uri.removeprefix(HOST) in GONE_PAGES]
    assert others[GONE] == (len(gone), gone[0])
    assert others[SPELLING] == (1, f"{HOST}/PAGE")
    assert others[LATER][1] not in pages


def test_ways_are_the_shortest_by_links_from_the_seeds_where_archives_have_none(
    work: Path, tmp_path: Path
) -> None:
    pages, _ = chosen(work, tmp_path, seeds=[HOST])
    ways = {page.uri.removeprefix(HOST): (page.hops, page.via.removeprefix(HOST)) for page in pages}
    assert ways["/"] == ("", "")
    assert ways["/page"] == ways["/never"] == ("L", "/")
    assert ways["http://b.example/"] == ("LR", "/to-elsewhere")
    assert ways["/unlinked"] == ("", "")
    unknown, _ = chosen(work, tmp_path, seeds=["http://other.example/"])
    assert {page.hops for page in unknown if page.captured} == {""}
    assert {page.hops for page in unknown if not page.captured} == {"L", "R"}


def test_ways_are_those_of_heritrix_where_archives_have_them(tmp_path: Path) -> None:
    """crawl.log has them, too."""
    work = finished(LOOPBACK)
    log = LOOPBACK.with_suffix("").with_suffix(".crawl.log")
    rows = [line.split() for line in log.read_text().splitlines()]
    logged = {row[3]: (row[4].strip("-"), row[5].strip("-")) for row in rows}
    pages, _ = chosen(work, tmp_path)
    captured = [page for page in pages if page.captured]
    assert len(captured) > 40
    assert [(page.hops, page.via) for page in captured] == [logged[p.uri] for p in captured]


def test_a_file_that_heritrix_does_not_load_gives_no_pages(work: Path, tmp_path: Path) -> None:
    file = tmp_path / "precedence.txt"
    file.write_text(f"{HOST}/page\n")
    with database(tmp_path, budget=1 << 30, threads=1) as (db, near):
        run = open_finished(work, db, near, "ranked")
        with pytest.raises(BadInput, match="no crawl can have followed it"):
            choose_pages(db, file, run, PageRule(), 4)
