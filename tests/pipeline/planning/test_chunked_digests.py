"""Digests of pages that were sent in chunks: drawn captures of known contents, on runs of both
engines. A page changes where its content does, however it was sent and whatever was digested."""

from __future__ import annotations

import random
from base64 import b32encode
from collections import defaultdict
from datetime import datetime, timezone
from hashlib import sha1
from itertools import pairwise
from pathlib import Path

import pytest
from support.crawls import ok, write_records
from support.drawing import examples

from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.planning.visits import named, read_visits
from crawlrank.pipeline.workfolder.results.opened import open_finished

NOW = datetime(2024, 6, 1, tzinfo=timezone.utc)
HOST = "http://a.example"
Spans = dict[str, list[tuple[int, bool]]]  # by path: days between visits, and whether it changed


def digest(body: bytes) -> str:
    return "sha1:" + b32encode(sha1(body).digest()).decode()


class Capture:
    """A capture of a content on a day, in a form that is drawn: as it is or in chunks, with the
    digest of the payload, of the body or none, or a revisit with a digest of an earlier capture."""

    def __init__(self, rng: random.Random, path: str, day: int, content: str, stated: str) -> None:
        payload = f"<p>{content}</p>".encode() * 9
        self.content, self.day, self.kind = content, day, "revisit" if stated else "response"
        fields, body = b"", payload
        if self.kind == "response" and rng.random() < 0.7:
            size = rng.randint(1, 60)
            parts = [payload[at : at + size] for at in range(0, len(payload), size)]
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
            fields = b"Transfer-Encoding: chunked\r\n"
        chosen = digest(payload) if body is payload else rng.choice([digest(payload), digest(body)])
        self.stated = stated or chosen
        none = body is not payload and rng.random() < 0.2
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + fields + b"\r\n"
        block += b"" if stated else body
        lines = [
            "WARC/1.1", f"WARC-Type: {self.kind}", f"WARC-Target-URI: {HOST}{path}",
            f"WARC-Date: 2024-05-{day:02}T00:00:00Z", f"Content-Length: {len(block)}",
            *([] if none else [f"WARC-Payload-Digest: {self.stated}"]),
            "Content-Type: application/http; msgtype=response", "", "",
        ]  # fmt: skip
        self.stated = "" if none else self.stated
        self.record = "\r\n".join(lines).encode() + block + b"\r\n\r\n"


def history(rng: random.Random, path: str) -> list[Capture]:
    captures: list[Capture] = []
    for day in sorted(rng.sample(range(1, 28), 6)):
        before = rng.choice(captures) if captures and rng.random() < 0.4 else None
        if before is not None and before.stated:
            captures.append(Capture(rng, path, day, before.content, before.stated))
        else:
            captures.append(Capture(rng, path, day, rng.choice("abc"), ""))
    return captures


def spans_of(works: list[Path], tmp: Path) -> Spans:
    with database(tmp, budget=1 << 30, threads=1) as (db, near):
        finished = [open_finished(work, db, near, f"w{n}") for n, work in enumerate(works)]
        ranking = open_finished(works[-1], db, near, "ranking")
        (near / "numbers").mkdir()
        made = read_visits(db, finished, ranking, NOW, near / "numbers")
        rows = db.sql(f"SELECT row, uri FROM ({named(made.file, made.spelled)})").fetchall()
    paths, spans = dict(rows), defaultdict[str, list[tuple[int, bool]]](list)
    columns = (made.spans.pages, made.spans.days, made.spans.is_change)
    for row, days, is_change in zip(*(column.tolist() for column in columns), strict=True):
        spans[paths[row].removeprefix(HOST)].append((round(days), is_change))
    return dict(spans)


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["embedded", "inline"])
def test_a_page_changes_where_its_content_does(tmp_path: Path, runner: str) -> None:
    rng = random.Random(11)
    pages = {f"/{number}": history(rng, f"/{number}") for number in range(examples(100))}
    works = [tmp_path / "first", tmp_path / "second"]
    for number, work in enumerate(works):  # a revisit may be in another crawl than its original
        days = range(1, 15) if number == 0 else range(15, 28)
        records = [one.record for each in pages.values() for one in each if one.day in days]
        archive = write_records(tmp_path / f"{number}.warc", records)
        options = ("--runner", runner, "--nodes", "all", "--no-validate", "--quiet")
        ok("run", archive, "--work", work, *options, "--iterations", 1)
    right = {
        path: [
            (after.day - before.day, after.content != before.content)
            for before, after in pairwise(captures)
        ]
        for path, captures in pages.items()
    }
    assert spans_of(works, tmp_path) == right
