"""Titles of pages, and links to a replay of their captures, in lists, `explain` and the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.crawls import INLINE, crawlrank, ok, response, write_records
from support.runs import finished

import crawlrank as library

HOW = {"columns": (), "text": INLINE}
PREFIX = "https://archive.example/wayback/"
SITE = "http://a.example"
HOSTILE = "<img src=x onerror=alert(1)> \"' & \u202egnp.exe"


def page(when: str, path: str, title: str | None, status: str = "200 OK", more: str = "") -> bytes:
    links = "".join(f'<a href="/{target}">x</a>' for target in ("", "b", "c", "d", "never"))
    named = "" if title is None else f"<title>{title}</title>"
    body = f"<!doctype html><meta charset=utf-8>{named}{links}".encode()
    uri = path if path.startswith("http") else f"{SITE}/{path}"
    return response(uri, body, status, more).replace(b"2024-05-06T07:08:09Z", when.encode())


MADE = [
    page("2024-01-01T00:00:00Z", "", "Home &amp; garden"),
    page("2024-01-02T00:00:00Z", "", None, "404 Not Found"),
    page("2024-01-01T00:00:00Z", "b", "older"),
    page("2024-01-03T00:00:00Z", "b?", "newer"),
    page("2024-01-02T00:00:00Z", "b", "between"),
    page("2024-01-01T00:00:00Z", "http://a.example:80/c", "=1+1"),
    page(
        "2024-01-02T00:00:00Z", "http://a.example/c", None, "301 Moved", f"Location: {SITE}/c\r\n"
    ),
    page("2024-01-04T00:00:00Z", "d", HOSTILE.replace("&", "&amp;").replace("<", "&lt;")),
]
#: by path of a page: its title, and what follows the prefix of a link to its replay
EXPECTED = {
    "": ("Home & garden", f"20240102000000/{SITE}/"),
    "b": ("newer", f"20240103000000/{SITE}/b?"),
    "c": ("=1+1", f"20240101000000/{SITE}:80/c"),
    "d": (HOSTILE.replace("\u202e", ""), f"20240104000000/{SITE}/d"),
    "never": (None, None),
}


@pytest.fixture(scope="module", params=HOW)
def work(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    archive = write_records(folder / "made.warc", MADE)
    more = ("--titles", "--no-validate", "--quiet", *HOW[request.param])
    ok("run", archive, "--work", folder / "work", *more)
    return folder / "work"


def listed(work: Path, output: Path, *more: object) -> dict[str, tuple[Any, Any]]:
    """By path of a page, its title and its link, of a list."""
    ok("export", work, "--output", output, *more)
    if output.suffix == ".csv":
        with output.open(newline="", encoding="utf-8") as file:
            rows: list[dict[str, Any]] = [*csv.DictReader(file)]
    elif output.suffix == ".jsonl":
        rows = [json.loads(line) for line in output.read_text().splitlines()]
    else:
        rows = pq.read_table(output).to_pylist()
    return {row["key"].partition("/")[2]: (row["title"], row.get("replay")) for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("prefix", [PREFIX, PREFIX.removesuffix("/")])
@pytest.mark.few(1)
def test_lists_have_both(work: Path, prefix: str, tmp_path: Path) -> None:
    expected = {
        path: (title, PREFIX + replay if replay else None)
        for path, (title, replay) in EXPECTED.items()
    }
    for ending in ("jsonl", "parquet"):
        assert listed(work, tmp_path / f"pages.{ending}", "--replay", prefix) == expected
    texts = listed(work, tmp_path / "pages.csv", "--replay", prefix)
    assert texts.pop("c")[0] == "'=1+1"  # no spreadsheet calculates it
    assert texts == {
        path: tuple(value or "" for value in row) for path, row in expected.items() if path != "c"
    }


@pytest.mark.slow
@pytest.mark.few(1)
def test_lists_are_as_before_where_nothing_is_asked_for(work: Path, tmp_path: Path) -> None:
    assert {row[1] for row in listed(work, tmp_path / "pages.jsonl").values()} == {None}
    plain = finished(write_records(tmp_path / "plain.warc", MADE), "--no-validate")
    ok("export", plain, "--output", tmp_path / "plain.parquet")
    ok("export", plain, "--output", tmp_path / "linked.parquet", "--replay", PREFIX)
    names, linked = (pq.read_schema(tmp_path / f"{n}.parquet").names for n in ("plain", "linked"))
    assert linked == [*names, "replay"]
    assert "title" not in names


@pytest.mark.few(1)
def test_filters_leave_both(work: Path, tmp_path: Path) -> None:
    output = tmp_path / "pages.jsonl"
    rows = listed(work, output, "--replay", PREFIX, "--status", "200", "--top", 2)
    assert rows == {path: row for path, row in rows.items() if row[0] == EXPECTED[path][0]}
    assert len(rows) == 2


@pytest.mark.slow
@pytest.mark.few(1)
def test_programs_get_them(work: Path) -> None:
    opened = library.open(work)
    titles = opened.captures().select(["uri", "timestamp", "title"]).to_pylist()
    assert {"uri": f"{SITE}/b", "timestamp": "20240101000000", "title": "older"} in titles
    assert opened.scores()["title"].null_count == 1
    document = opened.report()
    assert document["scores"]["best"][0].keys() >= {"title"}


def test_an_extraction_has_them(tmp_path: Path) -> None:
    archive = write_records(tmp_path / "made.warc", MADE)
    titles = [row.title for row in library.extract(archive, titles=True).captures()]
    assert titles[0] == "Home & garden"
    assert {row.title for row in library.extract(archive).captures()} == {None}
    batch = next(library.extract(archive, titles=True).batches("captures"))
    assert batch["title"].to_pylist() == titles


@pytest.mark.few(1)
def test_explain_shows_the_title(work: Path, tmp_path: Path) -> None:
    said = ok("explain", work, f"{SITE}/b", "--json", tmp_path / "page.json").out
    assert "newer" in ok("explain", work, f"{SITE}/b").out
    document = json.loads((tmp_path / "page.json").read_text())
    assert document["title"] == "newer", said
    assert [row["title"] for row in document["captures"]] == ["newer", "between", "older"]


@pytest.mark.slow
@pytest.mark.few(1)
def test_the_report_shows_both(work: Path, tmp_path: Path) -> None:
    page, document = tmp_path / "report.html", tmp_path / "report.json"
    ok("report", work, "--output", page, "--json", document, "--replay", PREFIX, "--quiet")
    best = json.loads(document.read_text())["scores"]["best"]
    rows = {row["uri"].removeprefix(f"{SITE}/"): (row["title"], row["replay"]) for row in best}
    assert rows["d"] == (EXPECTED["d"][0], PREFIX + str(EXPECTED["d"][1]))
    assert rows["never"] == (None, None)
    text = page.read_text()
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert text.count(f'<a class="replay" href="{PREFIX}') == 4
    ok("report", work, "--output", page, "--quiet")
    assert 'class="replay"' not in page.read_text()


WRONG = (
    "", "archive.example/", "ftp://a.example/", "javascript:alert(1)", "http:///x", "//a.example/",
    "https://a.example/?u=", "https://a.example/#", 'https://a.example/"', "https://a.example/a b",
    "https://[x/", "https://a.example:0/", "https://a.example/\n", "https://\u00e4.example/",
)  # fmt: skip


@pytest.mark.parametrize("prefix", WRONG)
@pytest.mark.parametrize("command", ["export", "report"])
def test_other_prefixes_are_refused(command: str, prefix: str, tmp_path: Path) -> None:
    output = tmp_path / ("x.csv" if command == "export" else "x.html")
    said = crawlrank(command, tmp_path, "--output", output, "--replay", prefix)
    assert said.code == 2
    assert "no http or https address" in said.err
    assert "such as https://archive.example/wayback/" in " ".join(said.err.split())


@pytest.mark.slow
def test_other_formats_have_no_links(work: Path, tmp_path: Path) -> None:
    for form in ("heritrix", "seeds", "nutch", "browsertrix"):
        said = crawlrank(
            "export", work, "--output", tmp_path / "x", "--format", form, "--replay", PREFIX
        )
        assert said.code == 2
        assert f"not with {form}" in said.err


@pytest.mark.slow
def test_titles_later_are_read_from_the_archives_again(tmp_path: Path) -> None:
    archive, work = write_records(tmp_path / "made.warc", MADE), tmp_path / "work"
    ok("run", archive, "--work", work, "--no-validate", "--quiet")
    before = (work / "precedence.txt").read_bytes()
    assert listed_titles(work) is None
    ok("run", archive, "--work", work, "--no-validate", "--quiet", "--titles", "--force")
    assert listed_titles(work) == {title for title, _ in EXPECTED.values()}
    assert (work / "precedence.txt").read_bytes() == before


def listed_titles(work: Path) -> set[str] | None:
    scores = library.open(work).scores()
    return {*scores["title"].to_pylist()} if "title" in scores.column_names else None


def test_a_link_leads_to_the_capture_that_decides_the_status(tmp_path: Path) -> None:
    """Not to an answer 304, which has no body."""
    made = [
        page("2024-01-01T00:00:00Z", "", None),
        page("2024-02-01T00:00:00Z", "", None, "304 Not Modified"),
        page("2024-03-01T00:00:00Z", "b", None, "304 Not Modified"),
    ]
    archive, work = write_records(tmp_path / "made.warc", made), tmp_path / "work"
    ok("run", archive, "--work", work, "--titles", "--no-validate", "--quiet")
    links = listed(work, tmp_path / "a.csv", "--replay", PREFIX)
    assert links[""][1] == f"{PREFIX}20240101000000/{SITE}/"
    assert links["b"][1] == f"{PREFIX}20240301000000/{SITE}/b"
