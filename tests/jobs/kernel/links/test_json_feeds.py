"""Links of JSON feeds: each member, version 1, and what is no feed."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from crawlrank.jobs.kernel.links.body_links import JSON_FEED_RULES, json_feed_references


def read(feed: Any) -> list[tuple[str, str, str]]:
    return list(json_feed_references(json.dumps(feed), Counter()))


def test_a_number_of_many_digits() -> None:
    feed = '{"icon": "/x", "n": ' + "1" * 5000 + "}"
    assert list(json_feed_references(feed, Counter())) == [("/x", "E", "icon")]


def test_every_member() -> None:
    values = {
        prefix: {name: f"/{prefix}{name}" for name in members}
        for prefix, members in JSON_FEED_RULES.items()
    }
    item = {
        **values["items/"],
        "authors": [values["authors/"]],
        "attachments": [values["attachments/"], 7],
    }
    feed = {**values[""], "hubs": [values["hubs/"]], "items": [item], "authors": []}
    expected = {
        (f"/{prefix}{name}", hop, prefix + name)
        for prefix, members in JSON_FEED_RULES.items()
        for name, hop in members.items()
    }
    assert len(read(feed)) == len(expected)
    assert set(read(feed)) == expected


def test_the_author_of_version_1() -> None:
    assert read({"author": {"url": "/a"}}) == [("/a", "L", "authors/url")]


@pytest.mark.parametrize(
    "feed", [{}, {"items": {}}, {"items": [[]]}, {"items": [{"url": 1}]}, {"icon": " "}]
)
def test_what_has_no_links(feed: Any) -> None:
    assert read(feed) == []


@pytest.mark.parametrize("text", ["{", "{" * 10_000, "{" + "[" * 2_000_000, '{"icon": "/x"'])
def test_what_is_no_json_is_counted(text: str) -> None:
    counters = Counter[str]()
    assert list(json_feed_references(text, counters)) == []
    assert counters == {"dropped.json": 1}
