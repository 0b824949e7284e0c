"""What a crawler prefers, and the log of its order, as the options of the laboratory give them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

Weighted = tuple[str, float]


@dataclass(frozen=True)
class CrawlPreferences:
    """patterns: regular expressions, looked for in URIs, each with its weight. words: files of
    words, one a line; each with the weight of the pages that a link with one of them leads to.
    anchors: the dataset with the words of links. logs: crawl logs to replay."""

    patterns: tuple[Weighted, ...] = ()
    words: tuple[Weighted, ...] = ()
    anchors: Path | None = None
    logs: tuple[Path, ...] = ()


NONE_PREFERRED = CrawlPreferences()
