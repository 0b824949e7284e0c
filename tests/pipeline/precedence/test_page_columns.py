"""The columns of pages in CSV, JSON lines and Parquet, against the datasets of text read by plain
Python, and the graph of networkx."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
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
from support.runs import finished
from surt import surt

NAMES = [
    *("url", "score", "score_rounded", "score_error", "class", "position", "key", "captures"),
    *("status", "media_type", "links_in", "links_out", "hops", "host", "site"),
]
TYPES = {
    "score": pa.float64(), "score_rounded": pa.float64(), "score_error": pa.float64(),
    "class": pa.int16(), "position": pa.int64(), "captures": pa.int64(),
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
#: one that only ever redirected to itself, types with parameters, captures of one second, one that
#: has not changed
MADE = [
    at("2024-01-01T00:00:00Z", response("https://a.example/", html([*"xyzwvu"]))),
    at("2024-01-02T00:00:00Z", moved("http://a.example/", "https://a.example/")),
    at("2024-01-01T00:00:00Z", response("https://a.example/x", html(["/"]))),
    at("2024-01-03T00:00:00Z", response("https://a.example/x", b"", "404 Not Found")),
    at("2024-01-01T00:00:00Z", response("https://a.example/y", html(["/"]))),
    at("2024-01-03T00:00:00Z", moved("https://a.example/y", "https://a.example/x")),
    at("2024-01-01T00:00:00Z", moved("http://www.a.example/z", "http://a.example/z")),
    at("2024-01-01T00:00:00Z", response("https://a.example/w", b"%PDF", ), "Application/PDF; v=1"),
    at("2024-01-01T00:00:00Z", response("https://a.example/v", b"", "500 Broken")),
    at("2024-01-01T00:00:00Z", response("http://a.example/v", html(["/"]))),
    at("2024-01-01T00:00:00Z", response("http://a.example/u", html(["/"]))),
    at("2024-02-01T00:00:00Z", response("http://a.example/u", b"", "304 Not Modified")),
]  # fmt: skip


HOW = {"columns": (), "text": INLINE}


@pytest.fixture(
    scope="module", params=["loopback", "made", pytest.param("ics", marks=pytest.mark.real)]
)
def works(request: pytest.FixtureRequest) -> Any:
    if request.param == "loopback":
        return {name: finished(LOOPBACK, *how) for name, how in HOW.items()}
    if request.param == "ics":
        if not ICS:
            pytest.skip("no reference data here")
        given = "--iterations", 8, "--no-validate"
        return {name: finished(ICS, *given, *how) for name, how in HOW.items()}
    return request.getfixturevalue("made")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("made")
    archive = write_records(folder / "made.warc", MADE)
    for name, how in HOW.items():
        ok("run", archive, "--work", folder / name, "--no-validate", "--quiet", *how)
    return {name: folder / name for name in HOW}


def rows_of(work: Path) -> list[dict[str, Any]]:
    with TemporaryDirectory() as folder:
        output = Path(folder) / "rows.jsonl"
        ok("export", "--work", work, "--output", output, "--format", "jsonl")
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
    if not known:
        return None
    unchanged = [column == 3 and row[3] == 304 for row in known]
    rows = ((row[0] and not same, *row[1:]) for row, same in zip(known, unchanged, strict=True))
    return max(rows, key=lambda row: row[:3])[column]


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", ["columns", "text"])
def test_columns_are_those_of_the_captures_and_the_graph(
    engine: str, works: dict[str, Path]
) -> None:
    rows, text = rows_of(works[engine]), works["text"]
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
    steps = json.loads((works[engine] / "manifest.json").read_text())["steps"]
    last = steps["page-rank"]["rounds"][-1]
    eta, of_all = last["eta"], last["certificate"] * last["mass"]
    for row in rows:
        assert list(row) == NAMES
        if row["score"] is None:
            assert row["score_rounded"] is row["score_error"] is None
        else:
            assert row["score_rounded"] == pytest.approx(row["score"], rel=1e-3)
            most = row["score"] * eta / (1 - eta) if eta < 1 else of_all
            assert row["score_error"] == pytest.approx(min(most, of_all), rel=1e-2)
        own = captures.get(row["key"], [])
        assert row["captures"] == len(own)
        assert [row["status"], row["media_type"], row["hops"]] == [
            latest(own, n) for n in (3, 4, 5)
        ]
        degrees = (None, None)
        if row["key"] in keys:
            degrees = graph.in_degree(row["key"]), graph.out_degree(row["key"])
        assert (row["links_in"], row["links_out"]) == degrees
        parts = urlsplit(row["url"].lower())
        usual = {"http": ":80", "https": ":443"}[parts.scheme]
        whole = re.sub(r"\.(?=:|$)", "", parts.netloc.removesuffix(usual))
        host = re.sub(r"^www[0-9]*\.", "", whole)
        name = host.partition(":")[0]
        name = name.replace(",", ".")  # of a mistyped name the labels that its key has
        if "." not in name or not suffixes(name).domain:  # only a public suffix would be left
            host = whole
        assert row["key"] == surt(row["url"], host_massage=host != whole)
        if "," in host:  # a mistyped name, of which a key does not tell the labels
            continue
        assert row["host"] == host
        assert row["site"] == (suffixes(host).top_domain_under_public_suffix or row["site"])


@pytest.mark.slow
def test_what_a_page_is_by_its_captures(made: dict[str, Path]) -> None:
    """Worked out by hand: redirects of a page to itself and answers that it has not changed say
    nothing of it, other redirects do."""
    rows = rows_of(made["columns"])
    pages = {row["key"]: (row["status"], row["media_type"]) for row in rows}
    assert pages == {
        "example,a)/": (200, "text/html"), "example,a)/x": (404, "text/html"),
        "example,a)/y": (301, "text/html"), "example,a)/z": (301, "text/html"),
        "example,a)/w": (200, "application/pdf"), "example,a)/v": (200, "text/html"),
        "example,a)/u": (200, "text/html"),
    }  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", ["columns", "text"])
def test_parquet_and_csv_say_what_jsonl_says(
    engine: str, works: dict[str, Path], tmp_path: Path
) -> None:
    work = works[engine]
    rows = rows_of(work)
    given = "export", "--work", work, "--output"
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


@pytest.mark.slow
def test_what_is_not_known_is_empty(tmp_path: Path) -> None:
    """Scores alone, and links of one's own without captures."""
    scores = write(tmp_path / "scores.txt", [b"1.5\thttp://a.example/\texample,a)/"])
    ok("step", "export-precedence", scores, "--output", tmp_path / "a", "--format", "jsonl")
    alone = json.loads((tmp_path / "a").read_text())
    unknown = {"score_error", "captures", "status", "media_type", "links_in", "links_out", "hops"}
    assert {name for name, value in alone.items() if value is None} == unknown
    links = write(tmp_path / "links.txt", [b"http://a.example/ http://b.example/ L"])
    work = tmp_path / "w"
    ok("step", "import-text", "--links", links, "--work", work)
    ok("run", "--work", work, "--quiet", "--no-validate", "--nodes", "all")
    rows = rows_of(work)
    assert [(row["captures"], row["links_in"], row["links_out"]) for row in rows] == [
        (0, 1, 0), (0, 0, 1),
    ]  # fmt: skip
    assert {row[name] for row in rows for name in ("status", "media_type", "hops")} == {None}


@needs_reference
def test_the_reference_is_there() -> None:
    assert len(ICS) == 2


@pytest.mark.slow
def test_pages_of_one_rounded_score_are_the_ties_of_the_ranking(tmp_path: Path) -> None:
    """Copies of a graph whose four pages have different scores, which are not exact."""
    edges = ("01", "02", "12", "20", "31", "32")
    links = [
        f"http://c{n}.example/{target} http://c{n}.example/{source} L".encode()
        for n in range(50)
        for source, target in edges
    ]
    work = tmp_path / "w"
    ok("step", "import-text", "--links", write(tmp_path / "links.txt", links), "--work", work)
    ok("run", "--work", work, "--quiet", "--nodes", "all", "--tolerance", "1e-3")
    counts = Counter(row["score_rounded"] for row in rows_of(work))
    assert sorted(counts.values()) == [50] * 4
