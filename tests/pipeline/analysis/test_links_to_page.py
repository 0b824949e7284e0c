"""The counts of links to a page, against the links themselves and against the graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.compared import opened
from support.crawls import INLINE, ok
from support.paths import LOOPBACK, SAMPLES

from jobs.kernel.formats.usable import usable_key_function
from pipeline.analysis.compare.explain import explain
from pipeline.analysis.compare.links_to_page import links_to_page

CRAWLS = {"loopback": (LOOPBACK,), "aut": (SAMPLES / "aut-example.warc.gz",)}


def counts_of(links: Path, ranked: set[str]) -> dict[str, Counter[str]]:
    """By the key of the target, line by line."""
    key_of = usable_key_function(keep_www=False)
    counts: dict[str, Counter[str]] = {}
    sources: dict[str, set[str]] = {}
    for line in links.read_bytes().splitlines():
        target, source = ((key_of(uri) or b"").decode() for uri in line.split()[:2])
        count = counts.setdefault(target, Counter())
        known = sources.setdefault(target, set())
        count["counted"] += 1
        if source == target:
            count["own"] += 1
        elif source not in ranked:
            count["unranked"] += 1
        else:
            count["repeated" if source in known else "counting"] += 1
            known.add(source)
    return counts


@pytest.mark.parametrize("crawl", CRAWLS)
@pytest.mark.parametrize("nodes", ["linked", "all"])
@pytest.mark.parametrize(
    "how", [(), INLINE, ("--captures", "latest")], ids=["embedded", "inline", "latest"]
)
def test_every_link_is_counted_once(
    how: tuple[str, ...], nodes: str, crawl: str, tmp_path: Path
) -> None:
    archives, work = CRAWLS[crawl], tmp_path / "work"
    ok("run", *archives, "--work", work, "--nodes", nodes, "--no-validate", "--quiet", *how)
    outputs = ("--output", tmp_path / "links.txt", "--captures", tmp_path / "captures.txt")
    ok("extract-links", *archives, *outputs, "--quiet")
    with opened(work) as (finished,):
        uri_of = dict(finished.rows("SELECT key, uri FROM {nodes}"))
        counts = counts_of(tmp_path / "links.txt", set(uri_of))
        most = sorted(uri_of, key=lambda key: -counts.get(key, Counter())["counted"])
        for key in (*most[:25], *most[-5:]):
            links = links_to_page(finished, key)
            assert links is not None
            assert Counter(vars(links)) == counts.get(key, Counter())
            explained = explain(finished, uri_of[key], key, top=0)
            assert explained.links == links.counting
            assert sum(spelling.links for spelling in explained.spellings) <= links.counted
