"""Important pages that the crawl has not, and why, by a crawl.log that is read by plain code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.crawls import INLINE, crawlrank, ok
from support.inputs.samples import write
from support.runs import finished, shared_warc
from surt import surt

from crawlrank.pipeline.analysis.report.missed_section import WORDS

HOME = "http://www.a.example/"
#: page -> the statuses of its lines, the last of which counts; None for none
LOGGED: dict[str, list[int]] = {
    "http://a.example/robots": [-9998],
    "http://a.example/scope": [-5000],
    "http://a.example/far": [-4001],
    "http://a.example/quota": [-5003],
    "http://a.example/refused": [-2],
    "http://a.example/none": [404],
    "http://a.example/kept-elsewhere": [200],
    "http://a.example/twice": [-2, -9998],
    "http://a.example/never": [],
    "http://b.example/never": [],
    "http://b.example/robots?x=1": [-9998],
}
#: by hand, as documented
REASONS = {
    -9998: "robots", -5000: "scope", -4001: "scope", -5003: "limit", -2: "error", 404: "error",
    200: "fetched",
}  # fmt: skip


def line(status: int, uri: str) -> bytes:
    return (
        f"2024-05-06T07:08:09.123Z {status:5} 10 {uri} L {HOME} text/html #001"
        " 20240506070809123+15 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - -"
    ).encode()


def log(folder: Path, entries: Iterable[tuple[int, str]]) -> Path:
    return write(folder / "crawl.log", [line(*entry) for entry in entries])


@pytest.fixture(scope="module")
def entries() -> list[tuple[int, str]]:
    """Lines of each page, the first ones of all pages first; under another spelling."""
    longest = max(map(len, LOGGED.values()))
    turns = [
        (statuses[turn], uri.replace("http://a.", "http://www.a."))
        for turn in range(longest)
        for uri, statuses in LOGGED.items()
        if turn < len(statuses)
    ]
    return [(1, "dns:a.example"), (200, HOME), *turns]


def missed_of(archive: Path, *options: object, how: tuple[object, ...] = ()) -> dict[str, Any]:
    work = finished(archive, "--nodes", "all", "--bins", 2, "--no-validate", *how)
    document = json.loads(ok("report", work, "--json", "-", *options).out)
    missed: dict[str, Any] = document["missed"]
    return missed


@pytest.mark.few(1)
@pytest.mark.parametrize("how", [(), INLINE], ids=["columns", "text"])
def test_reasons_are_those_of_the_log(
    how: tuple[object, ...], entries: list[tuple[int, str]], tmp_path: Path
) -> None:
    archive = shared_warc("missed.warc", {HOME: [*LOGGED, "/"]})
    missed = missed_of(archive, "--crawl-log", log(tmp_path, entries), how=how)
    latest = {surt(uri): status for status, uri in entries if uri.startswith("http")}
    reasons = {}
    for row in missed["best"]:
        status = latest.get(surt(row["uri"]))
        reasons[row["uri"]] = "never" if status is None else REASONS[status]
        assert (row["status"], row["reason"]) == (status, reasons[row["uri"]])
    assert set(reasons) == set(LOGGED)
    assert [row["position"] for row in missed["best"]] == sorted(
        row["position"] for row in missed["best"]
    )
    important = [row["uri"] for row in missed["best"] if row["class"] == 1]
    assert (missed["pages"], missed["important"]) == (len(LOGGED), len(important))
    assert missed["log_lines"] == len(entries)
    counts = Counter(reasons[uri] for uri in important)
    assert {row["reason"]: row["count"] for row in missed["by_reason"]} == counts
    for row in missed["by_host"]:
        of_host = Counter(reasons[uri] for uri in important if f"//{row['host']}/" in uri)
        assert {name: row[name] for name in WORDS} == {name: of_host[name] for name in WORDS}
        assert row["count"] == of_host.total()
    assert sum(row["count"] for row in missed["by_host"]) == len(important)


def test_without_a_log_there_are_no_reasons(tmp_path: Path) -> None:
    archive = shared_warc("missed.warc", {HOME: [*LOGGED, "/"]})
    missed = missed_of(archive)
    assert (missed["by_reason"], missed["log_lines"]) == ([], None)
    assert {row["reason"] for row in missed["best"]} == {None}
    assert sum(row["count"] for row in missed["by_host"]) == missed["important"] > 0
    work = finished(archive, "--nodes", "all", "--bins", 2, "--no-validate")
    page = tmp_path / "report.html"
    ok("report", work, "--output", page)
    assert "The best pages that were not captured" in page.read_text()


@pytest.mark.few(1)
@pytest.mark.parametrize("text", [b"no line of a log\n", b""])
def test_a_log_that_is_none_is_named(text: bytes, tmp_path: Path) -> None:
    work = finished(shared_warc("missed.warc", {HOME: [*LOGGED, "/"]}), "--nodes", "all", "--bins",
                    2, "--no-validate")  # fmt: skip
    (tmp_path / "crawl.log").write_bytes(text)
    given = "report", work, "--output", tmp_path / "r.html", "--crawl-log"
    for path in (tmp_path / "crawl.log", tmp_path / "none.log", tmp_path):
        said = crawlrank(*given, path)
        assert (said.code, str(path) in said.err) == (3, True), said
    assert not (tmp_path / "r.html").exists()


def test_all_reasons_have_words() -> None:
    assert {*REASONS.values(), "never"} == {*WORDS}
