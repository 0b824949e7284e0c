"""Important pages that real crawls have not, by archives that warcio reads, and why, by a log of
each crawl that is made here and read by plain code. No real crawl here misses pages and has a log;
tests/systems/test_heritrix_loop.py makes one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.crawls import ok
from support.inputs.samples import write
from support.paths import REFERENCE, SAMPLES
from support.runs import finished
from surt import surt
from warcio.archiveiterator import ArchiveIterator

pytestmark = pytest.mark.real

CRAWLS = {
    "arc": [SAMPLES / "aut-example.arc.gz"],
    "warc": [SAMPLES / "aut-example.warc.gz"],
    "ics": [REFERENCE / "archives" / "ics-uci"],
}
#: by hand, as documented; None: no line
REASONS = {
    -9998: "robots", -5000: "scope", -5001: "scope", -4001: "scope", -5003: "limit", -2: "error",
    -61: "error", 404: "error", 503: "error", 200: "fetched", None: "never",
}  # fmt: skip
STATUSES = list(REASONS)
LISTED = 200  # of the best, at most


def captured(archives: Iterable[Path]) -> set[str]:
    """Keys of what the archives have a capture of."""
    keys = set()
    files = [each for path in archives for each in ([path], path.glob("*.gz"))[path.is_dir()]]
    for path in files:
        with path.open("rb") as file:
            for record in ArchiveIterator(file, arc2warc=True):
                uri = record.rec_headers.get_header("WARC-Target-URI") or ""
                if record.rec_type in ("response", "revisit", "resource") and "://" in uri:
                    keys.add(surt(uri))
    return keys


def line(status: int, uri: str) -> bytes:
    return f"2024-05-06T07:08:09.123Z {status:5} 10 {uri} L - text/html #001 - - - -".encode()


@pytest.mark.parametrize("name", CRAWLS)
def test_important_pages_that_are_missed(name: str, tmp_path: Path) -> None:
    archives = CRAWLS[name]
    if not all(path.exists() for path in archives):
        pytest.skip("no reference data here")
    work = finished(*archives, "--no-validate")
    ok("export", work, "--format", "jsonl", "--output", tmp_path / "pages.jsonl")
    rows = map(json.loads, (tmp_path / "pages.jsonl").read_bytes().splitlines())
    ranked, there = [row for row in rows if row["position"]], captured(archives)
    missed = [row for row in ranked if row["key"] not in there]
    important = [row["url"] for row in missed if row["class"] == 1]
    status = {row["url"]: STATUSES[n % len(STATUSES)] for n, row in enumerate(missed)}
    early = [line(-2, uri) for uri in [*status][::3] if status[uri] is not None]
    late = [line(code, uri) for uri, code in status.items() if code is not None]
    log = write(tmp_path / "crawl.log", early + late)

    options = "--crawl-log", log, "--top", LISTED, "--json", "-"
    report = json.loads(ok("report", work, *options).out)["missed"]
    assert important
    assert (report["pages"], report["important"]) == (len(missed), len(important))
    assert report["log_lines"] == len(early) + len(late)
    best = sorted(missed, key=lambda row: row["position"])[:LISTED]
    assert [(row["uri"], row["status"], row["reason"]) for row in report["best"]] == [
        (row["url"], status[row["url"]], REASONS[status[row["url"]]]) for row in best
    ]
    counts = Counter(REASONS[status[uri]] for uri in important)
    assert {row["reason"]: row["count"] for row in report["by_reason"]} == counts
    hosts = Counter(re.sub(r"^www\d*\.", "", urlsplit(uri).netloc) for uri in important)
    shown = {row["host"]: row["count"] for row in report["by_host"]}
    assert shown.items() <= hosts.items()
    assert sorted(shown.values()) == sorted(hosts.values())[-len(shown) :]
