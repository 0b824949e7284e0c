"""Lines of a crawl.log as Heritrix 3 writes them, and logs made of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

START = datetime(2026, 11, 21, 9, 0, tzinfo=timezone.utc)


class Fetch(NamedTuple):
    uri: str
    hops: str = "-"
    status: int = 200
    took: int = 5  # ms
    given: int | None = None  # the precedence that Heritrix noted


def line(fetch: Fetch, begin: datetime) -> str:
    end = begin + timedelta(milliseconds=fetch.took)
    written = end.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    via = "-" if fetch.hops == "-" else "http://via.example/"
    digits = begin.strftime("%Y%m%d%H%M%S") + f"{begin.microsecond // 1000:03d}"
    began = f"{digits}+{fetch.took}" if fetch.status > 0 else "-"
    note = "" if fetch.given is None else f"precedence:{fetch.given},"
    return (
        f"{written} {fetch.status:5d} {'-' if fetch.status <= 0 else 100:>10} {fetch.uri}"
        f" {fetch.hops} {via} text/html #001 {began} sha1:AAAA - {note}2t"
    )


def log(fetches: Iterable[Fetch | str | tuple[object, ...]]) -> str:
    """One after the other, 10 ms each; a text is the URI of a seed, others are fields of Fetch."""
    lines = []
    for number, given in enumerate(fetches):
        fetch = Fetch(given) if isinstance(given, str) else Fetch(*given)
        lines.append(line(fetch, START + timedelta(milliseconds=10 * number)))
    return "".join(f"{text}\n" for text in lines)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
