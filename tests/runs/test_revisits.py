"""Which links a page has if its latest capture says that nothing has changed: each form of such a
capture, by whole runs of each runner, and histories of captures that are drawn."""

from __future__ import annotations

import tempfile
from base64 import b32encode
from collections.abc import Sequence
from hashlib import sha1
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.crawls import ok, response, write_records
from support.drawing import examples
from support.inputs.revisit_histories import NOTHING, Visit, payload, record, right_links
from support.work_folders import manifest_of

RUNNERS = ("embedded", "inline")
FIELDS = ("id", "uri", "date")
ALL = frozenset(FIELDS)
A, B, C = "sha1:A", "sha1:B", "sha1:C"
NUMBERS = iter(range(10**6))


def links_of_pages(runner: str, visits: Sequence[Visit]) -> dict[str, set[int]]:
    """The numbers of the links of each page, by a run on archives of such records."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archives = [
            write_records(
                folder / f"{archive}.warc", [record(v) for v in visits if v.archive == archive]
            )
            for archive in sorted({visit.archive for visit in visits})
        ]
        work = folder / "work"
        options = ("--nodes", "all", "--captures", "latest", "--no-validate", "--quiet")
        ok("run", *archives, "--work", work, "--runner", runner, *options, "--iterations", 1)
        ok("export", "--format", "text", "--work", work, "--out", folder / "text")
        links: dict[str, set[int]] = {visit.page: set() for visit in visits}
        for line in (folder / "text" / "canonicalized_links.txt").read_text().splitlines():
            target, source = line.split()
            page = source.removeprefix("example,").removesuffix(")/")
            links[page].add(int(target.rpartition("/c")[2]))
        counters = manifest_of(work)["steps"]["select-links"]["counters"]
        shares = [counters.get(f"revisits.{name}", 0) for name in ("original", "own-outlinks")]
        assert counters.get("revisits", 0) == sum(shares)
        return links


def visit(page: str, day: int | None = 1, status: int | None = 200, **more: Any) -> Visit:
    return Visit(next(NUMBERS), page, day, status, **more)


def revisit(page: str, day: int | None = 9, status: int | None = 304, **more: Any) -> Visit:
    names = frozenset(more.pop("names", ALL if "of" in more else ()))
    return Visit(next(NUMBERS), page, day, status, "revisit", names=names, **more)


Shape = tuple[list[Visit], list[Visit]]


def forms() -> dict[str, Shape]:
    """Each form of a capture that says so, after a page of its own and an older one; each with
    each choice of fields."""
    shapes: dict[str, Shape] = {}
    choices = [chosen for count in range(4) for chosen in combinations(FIELDS, count)]
    for status, digest, chosen in (
        (status, digest, chosen)
        for status in (304, 200, None)
        for digest in ("", B, C)
        for chosen in choices
    ):
        page = f"f{len(shapes)}"
        older, page_itself = visit(page, 1, digest=A), visit(page, 2, digest=B)
        named = {"id": "id" in chosen, "date": "date" in chosen}
        last = revisit(page, 9, status, digest=digest, of=older, names=chosen)
        says_nothing = status == 304 or not digest
        if digest == B:
            right = page_itself
        elif any(named.values()):
            right = older
        else:
            right = page_itself if says_nothing else last
        shapes[page] = [older, page_itself, last], [right]
    return shapes


def histories() -> dict[str, Shape]:
    """By what happened."""
    shapes: dict[str, Shape] = {}

    def add(name: str, visits: list[Visit], right: list[Visit]) -> None:
        shapes[name] = visits, right

    def page(name: str, **more: Any) -> Visit:
        return visit(name, **{"digest": A, **more})

    one = page("response")
    add("response", [one, visit("response", 9, 304)], [one])
    one = page("ownempty")
    empty = page("ownempty", day=2, digest=NOTHING)
    again = page("ownempty", day=3, digest=C)
    add("ownempty", [one, empty, again, visit("ownempty", 9, 304, digest=NOTHING)], [again])
    one, empty = page("empty"), page("empty", day=2, digest=NOTHING)
    again = page("empty", day=3, digest=C)
    add("empty", [one, empty, again, revisit("empty", digest=NOTHING)], [again])
    one = page("archives")
    add("archives", [one, revisit("archives", archive=1)], [one])
    one = page("reversed", archive=1)
    add("reversed", [revisit("reversed"), one], [one])
    one, two = page("spelling"), page("spelling", day=2, spelling=1)
    add("spelling", [one, two, revisit("spelling", spelling=2)], [two])
    one, two = page("ownspelling"), page("ownspelling", day=2, spelling=1)
    add("ownspelling", [one, two, revisit("ownspelling")], [one])
    one = page("row")
    row = [revisit("row", day) for day in range(2, 6)]
    add("row", [one, *row, visit("row", 6, 304)], [one])
    one = page("ofrevisit")
    two = revisit("ofrevisit", 2)
    add("ofrevisit", [one, two, revisit("ofrevisit", 3, of=two)], [one])
    one, old = page("other"), page("agnostic", digest=B)
    two = revisit("agnostic", 2, 200, digest=A, of=one)
    add("agnostic", [one, old, two, revisit("agnostic", 3)], [one])
    one, old = page("other2"), page("agnostic2", digest=B)
    two = revisit("agnostic2", 2, 200, digest=A, of=one, names={"id"})
    last = revisit("agnostic2", 3, of=two)
    add("agnostic2", [one, old, two, last], [one])
    old, gone = page("away"), page("elsewhere")
    two = revisit("away", 2, 200, digest=B, of=gone)
    last = revisit("away", 3, of=gone)
    add("away", [old, two, last], [two])
    one, two = page("digests"), page("digests", day=2, digest=B)
    three = revisit("digests", 3, 200, digest=A)
    add("digests", [one, two, three, revisit("digests", 4)], [one])
    one, two = page("chunks", chunked=True), page("chunks", day=2, digest=B, chunked=True)
    add("chunks", [one, two, revisit("chunks", 3, 200, digest=A), revisit("chunks", 4)], [one])
    one, two = page("payload", chunked=True), page("payload", day=2, digest=B)
    of_payload = "sha1:" + b32encode(sha1(payload(one).encode()).digest()).decode()
    add("payload", [one, two, revisit("payload", 3, 200, digest=of_payload)], [one])
    one, two = page("later", day=9, digest=B), revisit("later", 2)
    add("later", [page("later"), two, one], [one])
    missing = page("alone")
    last = revisit("alone", of=missing)
    add("alone", [last], [])
    last = revisit("alone2", 9, None)
    add("alone2", [last], [last])
    one, two = page("atonce"), page("atonce", day=9)
    add("atonce", [one, revisit("atonce"), two], [two])
    one, two = page("atonce2"), page("atonce2", day=9, spelling=1)
    add("atonce2", [one, two, revisit("atonce2")], [one, two])
    one = page("redirect")
    add("redirect", [one, page("redirect", day=2, status=301), revisit("redirect")], [one])
    one = page("redirect2")
    to = page("redirect2", day=2, status=301)
    add("redirect2", [one, to, visit("redirect2", 9, 304)], [one])
    to = page("onlyredirect", status=301)
    add("onlyredirect", [to, revisit("onlyredirect")], [to])
    to = page("onlyredirect2", status=301)
    add("onlyredirect2", [to, visit("onlyredirect2", 9, 304)], [to])
    to = page("onlyredirect3", status=301)
    add("onlyredirect3", [to, revisit("onlyredirect3", 9, None)], [to])
    one = page("notfound")
    add("notfound", [one, page("notfound", day=2, status=404), revisit("notfound")], [one])
    add("gone", [page("gone"), revisit("gone", 2), page("gone", day=9, status=404)], [])
    one = page("undated", day=None)
    add("undated", [one, revisit("undated")], [one])
    one = page("undated2", day=None)
    add("undated2", [one, revisit("undated2", None)], [one])
    return shapes


SHAPES = {**forms(), **histories()}
VISITS = [one for visits, _ in SHAPES.values() for one in visits]


@pytest.mark.parametrize("runner", RUNNERS)
def test_each_form(runner: str) -> None:
    links = links_of_pages(runner, VISITS)
    for page, (visits, right) in SHAPES.items():
        assert links[page] == {one.number for one in right}, visits


def test_the_reference_knows_each_form() -> None:
    for page, (_, right) in SHAPES.items():
        assert right_links(page, VISITS) == {one.number for one in right}, page


BODY = b"""<head><link rel=canonical href="../canonical"></head>
<a href="http://k.example/1"></a><a href="//k.example/2"></a><a href="/3"></a><a href="4"></a>
<a href="../5/"></a><a href="?6"></a><a href="#7"></a><a href="9"></a><a href="/d/9"></a>
<img src="8.gif"><img src="/d/8.gif">"""


@pytest.mark.slow
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.few(1)
def test_a_revisit_of_the_same_body_elsewhere_joins_it_to_its_own_address(
    runner: str, tmp_path: Path
) -> None:
    """It counts as if it had the body itself."""
    here, there = "http://a.example/d/p", "https://b.example/x/y/z?q"
    original = response(here, BODY, headers="Link: <10>; rel=next\r\n")
    names = [("WARC-Refers-To-Target-URI", here), ("WARC-Refers-To-Date", "2024-05-06T07:08:09Z")]
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    revisit = response(there, b"").replace(b"Type: response", b"Type: revisit", 1)
    for name, value in names:
        revisit = revisit.replace(b"\r\n", f"\r\n{name}: {value}\r\n".encode(), 1)
    assert block in revisit
    whole = response(there, BODY, headers="Link: <10>; rel=next\r\n")
    made = {}
    for kind, of_page in (("revisit", revisit), ("whole", whole)):
        archive = write_records(tmp_path / f"{kind}.warc", [original, of_page])
        work = tmp_path / f"work-{kind}"
        options = ("--captures", "latest", "--fold", "canonical", "--links", "all")
        ok(
            "run",
            archive,
            "--work",
            work,
            "--runner",
            runner,
            *options,
            "--nodes",
            "all",
            "--quiet",
        )
        ok("export", "--format", "text", "--work", work, "--out", tmp_path / kind)
        made[kind] = {path.name: path.read_bytes() for path in (tmp_path / kind).glob("*.txt")}
        for found in ("links.txt", "captures.txt"):
            del made[kind][found]
    assert made["revisit"] == made["whole"]
    assert b"example,b)/x/canonical" in made["whole"]["canonicalized_links.txt"]


PAGES = [f"p{number}" for number in range(20)]
DIGESTS = st.sampled_from(["", A, B, NOTHING])


@st.composite
def crawls(draw: Any) -> list[Visit]:
    """Histories of some pages, whose revisits may be of each other, or of what is not there. A URI
    has one capture in a second, as links know their captures by these."""
    visits = [
        Visit(
            number,
            draw(st.sampled_from(PAGES)),
            draw(st.sampled_from([None, *range(1, 8)])),
            draw(st.sampled_from([200, 200, 200, 304, 301, 404])),
            digest=draw(DIGESTS),
            spelling=draw(st.sampled_from([0, 0, 0, 1, 2])),
            archive=draw(st.integers(0, 2)),
            chunked=draw(st.booleans()),
        )
        for number in range(draw(st.integers(40, 120)))
    ]
    drawn = list[Visit]()
    for one in visits:
        if draw(st.booleans()):
            of = draw(st.sampled_from([None, *drawn[-12:], *visits[:4]]))
            one = one._replace(
                kind="revisit",
                status=draw(st.sampled_from([200, 304, 304, None])),
                of=of,
                names=draw(st.frozensets(st.sampled_from(FIELDS))) if of else frozenset(),
            )
        drawn.append(one)
    kept = {(one.uri, one.day): one for one in drawn if one.number % 10}
    return draw(st.permutations(list(kept.values())))


@pytest.mark.slow
@settings(
    max_examples=examples(5),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to make it smaller takes minutes
)
@given(crawls())
def test_histories(visits: list[Visit]) -> None:
    for runner in ("embedded", "inline"):
        for page, links in links_of_pages(runner, visits).items():
            of_page = [one for one in visits if one.page == page]
            assert links == right_links(page, visits), (runner, of_page)
