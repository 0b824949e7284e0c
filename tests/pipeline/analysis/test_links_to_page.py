"""The counts of links to a page, against the links themselves and against the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from support.compared import opened
from support.crawls import INLINE
from support.drawing import examples
from support.paths import LOOPBACK, SAMPLES
from support.runs import finished

from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.lines import usable_key_function
from crawlrank.jobs.kernel.formats.rows import Link
from crawlrank.pipeline.analysis.compare.explain import explain, links_to_page

CRAWLS = {"loopback": LOOPBACK, "aut": SAMPLES / "aut-example.warc.gz"}
HOW = {"embedded": (), "inline": INLINE, "latest": ("--captures", "latest")}
NODES = {"linked": (), "all": ("--nodes", "all")}
#: every pair of a runner or option, the nodes and a crawl; the large crawl is slow
CASES = [
    ("embedded", "linked", "aut"),
    ("embedded", "all", "loopback"),
    ("inline", "all", "loopback"),
    ("inline", "linked", "loopback"),
    ("latest", "linked", "loopback"),
    pytest.param("latest", "all", "aut", marks=pytest.mark.slow),
]


@cache
def keys_of_links(archive: Path) -> list[tuple[str, str]]:
    """Target and source of each link that is extracted."""
    key_of = usable_key_function(www="strip")
    return [
        ((key_of(link.target) or b"").decode(), (key_of(link.source) or b"").decode())
        for link in links_of(archive)
    ]


def links_of(archive: Path) -> Iterator[Link]:
    with archive.open("rb") as stream:
        for item in extract(stream, archive.name, ExtractionOptions(), Counter()):
            if isinstance(item, Link):
                yield item


def counts_of(archive: Path, ranked: set[str]) -> dict[str, Counter[str]]:
    """By the key of the target, link by link."""
    counts: dict[str, Counter[str]] = {}
    sources: dict[str, set[str]] = {}
    for target, source in keys_of_links(archive):
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


@pytest.mark.slow
@pytest.mark.parametrize(("how", "nodes", "crawl"), CASES)
@pytest.mark.few(1)
def test_every_link_is_counted_once(how: str, nodes: str, crawl: str) -> None:
    work = finished(CRAWLS[crawl], *NODES[nodes], *HOW[how])
    with opened(work) as (run,):
        uri_of = dict(run.rows("SELECT key, uri FROM {nodes}"))
        counts = counts_of(CRAWLS[crawl], set(uri_of))
        most = sorted(uri_of, key=lambda key: -counts.get(key, Counter())["counted"])
        for key in (*most[: examples(25)], *most[-examples(10) :]):
            links = links_to_page(run, key)
            assert links is not None
            assert Counter(vars(links)) == counts.get(key, Counter())
            explained = explain(run, uri_of[key], key, top=0)
            assert explained.links == links.counting
            assert sum(spelling.links for spelling in explained.spellings) <= links.counted
