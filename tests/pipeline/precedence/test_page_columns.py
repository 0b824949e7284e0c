"""The columns of pages in CSV, JSON lines and Parquet, against the datasets of text read by plain
Python, and the graph of networkx."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tldextract
from support.crawls import INLINE, html, ok, response, write_records
from support.inputs.samples import needs_reference, write
from support.paths import LOOPBACK, REFERENCE
from surt import surt

NAMES = [
    *("url", "score", "class", "position", "key", "captures", "status", "media_type", "links_in"),
    *("links_out", "hops", "host", "site"),
]
TYPES = {
    "score": pa.float64(), "class": pa.int16(), "position": pa.int64(), "captures": pa.int64(),
    "status": pa.int16(), "links_in": pa.int64(), "links_out": pa.int64(),
}  # fmt: skip
ICS = sorted((REFERENCE / "archives" / "ics-uci").glob("*.gz"))


def at(when: str, record: bytes, media_type: str = "text/html") -> bytes:
    changed = record.replace(b"2024-05-06T07:08:09Z", when.encode())
    grown = len(media_type) - len("text/html")
    length = int(changed.partition(b"Content-Length: ")[2].partition(b"\r")[0])
    return changed.replace(b"type: text/html", b"", 0).replace(
        b"Content-Type: text/html", f"Content-Type: {media_type}".encode()
    ).replace(b"Content-Length: %d" % length, b"Content-Length: %d" % (length + grown))  # fmt: skip


def moved(uri: str, target: str) -> bytes:
    return response(uri, b"", "301 Moved", f"Location: {target}\r\n")


#: a page that http redirects to https later on, one that is gone, one that moved to another page,
#: one that only ever redirected to itself, types with parameters, captures of one second
MADE = [
    at("2024-01-01T00:00:00Z", response("https://a.example/", html(["x", "y", "z", "w", "v"]))),
    at("2024-01-02T00:00:00Z", moved("http://a.example/", "https://a.example/")),
    at("2024-01-01T00:00:00Z", response("https://a.example/x", html(["/"]))),
    at("2024-01-03T00:00:00Z", response("https://a.example/x", b"", "404 Not Found")),
    at("2024-01-01T00:00:00Z", response("https://a.example/y", html(["/"]))),
    at("2024-01-03T00:00:00Z", moved("https://a.example/y", "https://a.example/x")),
    at("2024-01-01T00:00:00Z", moved("http://www.a.example/z", "http://a.example/z")),
    at("2024-01-01T00:00:00Z", response("https://a.example/w", b"%PDF", ), "Application/PDF; v=1"),
    at("2024-01-01T00:00:00Z", response("https://a.example/v", b"", "500 Broken")),
    at("2024-01-01T00:00:00Z", response("http://a.example/v", html(["/"]))),
]  # fmt: skip


@pytest.fixture(
    scope="module", params=["loopback", "made", pytest.param("ics", marks=pytest.mark.large)]
)
def works(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "ics" and not ICS:
        pytest.skip("no reference data here")
    archives = {
        "loopback": [LOOPBACK],
        "made": [write_records(folder / "made.warc", MADE)],
        "ics": ICS,
    }[request.param]
    for name, how in (("columns", ()), ("text", INLINE)):
        given = "--work", folder / name, "--iterations", 8, "--no-validate", "--quiet"
        ok("run", *archives, *given, *how)
    return {name: folder / name for name in ("columns", "text")}


def rows_of(work: Path, output: Path, *options: object) -> list[dict[str, Any]]:
    ok("export-precedence", "--work", work, "--output", output, "--format", "jsonl", *options)
    return [json.loads(line) for line in output.read_text().splitlines()]


def lines(work: Path, dataset: str, separator: str = "\t") -> Iterator[list[str]]:
    for part in sorted((work / dataset).glob("part-*")) or sorted((work / dataset).iterdir()):
        for line in part.read_text("utf-8", "replace").splitlines():
            yield line.split(separator)


def captures_of(work: Path) -> dict[str, list[tuple[Any, ...]]]:
    """By key, (counts, time, -status, status, type, hops) of each capture."""
    key_of = {uri: key for key, uri, *_ in lines(work, "uris")}
    turning = {
        source
        for target, source, hop in lines(work, "links", " ")
        if hop == "R" and key_of.get(source) == key_of.get(target, "")
    }
    captures: dict[str, list[tuple[Any, ...]]] = {}
    for uri, moment, status, kind, *_, hops in lines(work, "captures"):
        number = int(status) if status != "-" else None
        itself = number is not None and 300 <= number < 400 and uri in turning
        media_type = None if kind == "-" else kind.partition(";")[0].strip().lower()
        row = (
            not itself,
            moment,
            -(number or 999),
            number,
            media_type,
            None if hops == "-" else hops,
        )
        captures.setdefault(key_of[uri], []).append(row)
    return captures


def latest(captures: list[tuple[Any, ...]], column: int) -> Any:
    known = [row for row in captures if row[column] is not None]
    return max(known, key=lambda row: row[:3])[column] if known else None


@pytest.mark.parametrize("engine", ["columns", "text"])
def test_columns_are_those_of_the_captures_and_the_graph(
    engine: str, works: dict[str, Path], tmp_path: Path
) -> None:
    rows, text = rows_of(works[engine], tmp_path / "rows.jsonl"), works["text"]
    captures = captures_of(text)
    graph = nx.DiGraph()
    keys = {key for _, key in lines(text, "map", " ")}
    graph.add_nodes_from(keys)
    for _, target, source in lines(text, "input_links", " "):
        if source in keys and source != target:
            graph.add_edge(source, target)
    suffixes = tldextract.TLDExtract(
        cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True
    )
    assert {row["key"] for row in rows} == keys | captures.keys()
    for row in rows:
        assert list(row) == NAMES
        own = captures.get(row["key"], [])
        assert row["captures"] == len(own)
        assert [row["status"], row["media_type"], row["hops"]] == [
            latest(own, n) for n in (3, 4, 5)
        ]
        degrees = (None, None)
        if row["key"] in keys:
            degrees = graph.in_degree(row["key"]), graph.out_degree(row["key"])
        assert (row["links_in"], row["links_out"]) == degrees
        assert row["key"] == surt(row["url"])
        parts = urlsplit(row["url"].lower())
        usual = {"http": ":80", "https": ":443"}[parts.scheme]
        host = re.sub(r"^www[0-9]*\.|\.(?=:|$)", "", parts.netloc.removesuffix(usual))
        if "," in host:  # a mistyped name, of which a key does not tell the labels
            continue
        assert row["host"] == host
        assert row["site"] == (suffixes(host).top_domain_under_public_suffix or row["site"])


def test_what_a_page_is_by_its_captures(tmp_path: Path) -> None:
    """Worked out by hand: redirects of a page to itself say nothing of it, others do."""
    archive = write_records(tmp_path / "made.warc", MADE)
    ok("run", archive, "--work", tmp_path / "w", "--no-validate", "--quiet")
    rows = rows_of(tmp_path / "w", tmp_path / "rows.jsonl")
    pages = {row["key"]: (row["status"], row["media_type"]) for row in rows}
    assert pages == {
        "example,a)/": (200, "text/html"), "example,a)/x": (404, "text/html"),
        "example,a)/y": (301, "text/html"), "example,a)/z": (301, "text/html"),
        "example,a)/w": (200, "application/pdf"), "example,a)/v": (200, "text/html"),
    }  # fmt: skip


@pytest.mark.parametrize("engine", ["columns", "text"])
def test_parquet_and_csv_say_what_jsonl_says(
    engine: str, works: dict[str, Path], tmp_path: Path
) -> None:
    work = works[engine]
    rows = rows_of(work, tmp_path / "rows.jsonl")
    given = "export-precedence", "--work", work, "--output"
    ok(*given, tmp_path / "rows.parquet", "--format", "parquet")
    ok(*given, tmp_path / "rows.csv", "--format", "csv")
    table = pq.read_table(tmp_path / "rows.parquet")
    assert {f.name: f.type for f in table.schema} == {
        name: TYPES.get(name, pa.string()) for name in NAMES
    }
    assert table.to_pylist() == rows
    with (tmp_path / "rows.csv").open(newline="", encoding="utf-8") as stream:
        as_text = list(csv.DictReader(stream, strict=True))
    assert as_text == [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in rows
    ]


def test_what_is_not_known_is_empty(tmp_path: Path) -> None:
    """Scores alone, and links of one's own without captures."""
    scores = write(tmp_path / "scores.txt", [b"1.5\thttp://a.example/\texample,a)/"])
    ok("export-precedence", scores, "--output", tmp_path / "a", "--format", "jsonl")
    alone = json.loads((tmp_path / "a").read_text())
    unknown = {"captures", "status", "media_type", "links_in", "links_out", "hops"}
    assert {name for name, value in alone.items() if value is None} == unknown
    links = write(tmp_path / "links.txt", [b"http://a.example/ http://b.example/ L"])
    work = tmp_path / "w"
    ok("import-text", "--links", links, "--work", work)
    ok("run", "--work", work, "--quiet", "--no-validate", "--nodes", "all")
    rows = rows_of(work, tmp_path / "rows.jsonl")
    assert [(row["captures"], row["links_in"], row["links_out"]) for row in rows] == [
        (0, 1, 0), (0, 0, 1),
    ]  # fmt: skip
    assert {row[name] for row in rows for name in ("status", "media_type", "hops")} == {None}


@needs_reference
def test_the_reference_is_there() -> None:
    assert len(ICS) == 2
