"""Lines of Heritrix's crawl.log, as far as they are needed here."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Fetch(NamedTuple):
    """One line. status: HTTP's, or Heritrix's own below 0 and above 1000. hops: `-` for a seed."""

    status: int
    uri: str
    hops: str
    annotations: frozenset[str]


def read_log(path: Path) -> list[Fetch]:
    """The lines in the order in which Heritrix finished with their URIs."""
    rows = [line.split() for line in path.read_text("utf-8").splitlines()]
    return [Fetch(int(r[1]), r[3], r[4], frozenset(r[11].split(","))) for r in rows]


def pages(path: Path) -> list[Fetch]:
    """The fetches of http(s) URIs that answered, without robots.txt."""
    return [
        fetch
        for fetch in read_log(path)
        if 0 < fetch.status < 1000 and not fetch.uri.endswith("/robots.txt")
    ]
