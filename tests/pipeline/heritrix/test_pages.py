"""Which lines of a precedence file become seeds: the same for both engines."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import ok
from support.inputs.archive_samples import plain, warc

from jobs.kernel.errors import BadInput
from pipeline.data.database import database
from pipeline.heritrix.pages import SeedRule, seeds
from pipeline.workfolder.results.opened import open_finished

HOST = "http://a.example"
LINKED = (
    "/page", "/to-page", "/to-to-page", "/circle", "/to-circle", "/gone", "/to-gone", "/broken",
    "/paper.pdf", "/picture.png", "/to-elsewhere", "/never",
)  # fmt: skip
REDIRECTS = {
    "/to-page": "/page", "/to-to-page": "/to-page", "/circle": "/circle-2", "/circle-2": "/circle",
    "/to-circle": "/circle", "/to-gone": "/gone", "/to-elsewhere": "http://b.example/",
}  # fmt: skip
ANSWERS = {
    "/page": (200, "text/html; charset=utf-8"), "/unlinked": (200, "Text/HTML"),
    "/paper.pdf": (200, "application/pdf"), "/picture.png": (200, "image/png"),
    "/style.css": (200, "text/css"), "/inline.png": (200, "image/png"),
    "/robots.txt": (200, "text/plain"), "/notes.txt": (200, "text/plain"),
    "/app.js": (200, "text/plain"), "/gone": (404, "text/html"), "/broken": (500, "text/html"),
    "/favicon.ico": (404, "text/html"),
}  # fmt: skip
PAGES = {"/", "/page", "/unlinked", "/paper.pdf", "/notes.txt"}
#: what readers follow links to, beside pages
FOLLOWED = {"/to-page", "/to-to-page", "/broken", "/picture.png", "/to-elsewhere"}
GONE = {"/circle", "/to-circle", "/circle-2", "/gone", "/to-gone"}

ALL = SeedRule()


def record(path: str, status: int, media_type: str, more: str = "", body: str = "") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {media_type}\r\n{more}\r\n"
    return warc((head + body).encode(), HOST + path)


@pytest.fixture(scope="module", params=["embedded", "inline"])
def work(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    links = "".join(f'<a href="{path}">x</a>' for path in LINKED)
    records = [record("/", 200, "text/html", body=f'{links}<img src="/inline.png">')]
    records += [record(path, *answer) for path, answer in ANSWERS.items()]
    records += [
        record(path, 302, "text/html", f"Location: {to}\r\n") for path, to in REDIRECTS.items()
    ]
    (folder / "crawl.warc").write_bytes(plain(records))
    options = ("--runner", request.param, "--bins", "4", "--nodes", "all", "--quiet")
    ok("run", folder / "crawl.warc", "--work", folder / "work", *options)
    return folder / "work"


def listed(work: Path) -> dict[str, int]:
    lines = (line.split() for line in (work / "precedence.txt").read_text().splitlines())
    return {uri: int(precedence) for uri, precedence in lines}


def seeds_of(work: Path, tmp: Path, rule: SeedRule = ALL, bins: int = 4) -> list[str]:
    with database(tmp, budget=1 << 30, threads=1) as (db, near):
        finished = open_finished(work, db, near, "ranked")
        made = list(seeds(db, work / "precedence.txt", finished, rule, bins))
    assert {uri.removeprefix(HOST) for uri, gone in made if gone} == GONE & {
        uri.removeprefix(HOST) for uri, _ in made
    }
    return [uri for uri, _ in made]


def test_pages_and_what_is_linked_in_the_order_of_the_file(work: Path, tmp_path: Path) -> None:
    lines = listed(work)
    made = seeds_of(work, tmp_path)
    assert made == [uri for uri in lines if uri in set(made)]
    gone = {path for path in GONE if lines[HOST + path] < 4}
    assert {uri.removeprefix(HOST) for uri in made} == PAGES | FOLLOWED | gone
    assert gone


def test_what_is_gone_is_no_seed_in_the_last_class(work: Path, tmp_path: Path) -> None:
    made = seeds_of(work, tmp_path, bins=0)
    assert {uri.removeprefix(HOST) for uri in made} == PAGES | FOLLOWED


def test_fewer_classes_and_fewer_pages(work: Path, tmp_path: Path) -> None:
    made, lines = seeds_of(work, tmp_path), listed(work)
    assert seeds_of(work, tmp_path, SeedRule(top=3)) == made[:3]
    first = [uri for uri in made if lines[uri] <= 2]
    assert seeds_of(work, tmp_path, SeedRule(last_class=2)) == first
    assert seeds_of(work, tmp_path, SeedRule(2, 2)) == first[:2]
    assert 2 < len(first) < len(made)


def test_a_file_that_heritrix_does_not_load_gives_no_seeds(work: Path, tmp_path: Path) -> None:
    file = tmp_path / "precedence.txt"
    file.write_text(f"{HOST}/page\n")
    with database(tmp_path, budget=1 << 30, threads=1) as (db, near):
        finished = open_finished(work, db, near, "ranked")
        with pytest.raises(BadInput, match="no crawl can have followed it"):
            list(seeds(db, file, finished, SeedRule(), 4))
