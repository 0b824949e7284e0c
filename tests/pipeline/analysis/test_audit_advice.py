"""What `audit-precedence` advises on prepared crawls: the fault that each has, and no other.

A crawl is the fetches of 300 listed URIs of three hosts, 20 of them in each of 5 classes, mended or
broken in one way.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from support.crawls import ok
from support.inputs.crawl_logs import log, written

HOSTS = ("a.example", "b.example", "c.example")
CLASSES = range(1, 6)
LISTED = {
    f"http://{host}/c{number}/{page}": number
    for number in CLASSES
    for host in HOSTS
    for page in range(20)
}
FILE = "".join(f"{uri} {number}\n" for uri, number in LISTED.items())
BEST = list(LISTED)  # by class, then by host
NEW = [f"http://{host}/new/{page}" for host in HOSTS for page in range(10)]
Fetches = list[tuple[str, str]]


def seeds(uris: list[str]) -> Fetches:
    return [(uri, "-") for uri in uris]


def links(uris: list[str]) -> Fetches:
    return [(uri, "L") for uri in uris]


def shuffled(uris: list[str]) -> list[str]:
    return random.Random(3).sample(uris, len(uris))


def threads(uris: list[str]) -> list[str]:
    """Ten threads: the order holds within hosts, and between them roughly."""
    rng = random.Random(4)
    return sorted(uris, key=lambda uri: (LISTED[uri] * 60 + HOSTS.index(uri.split("/")[2]) * 5
                                         + int(uri.rsplit("/", 1)[1]), rng.random()))  # fmt: skip


def without(uris: list[str], *gone: str) -> list[str]:
    return [uri for uri in uris if uri not in gone]


TWIN = "http://a.example/c1/0"
LAST = [uri for uri in BEST if LISTED[uri] == 5]
UNLISTED_FIRST, HOSTS_IN_TURN = "Unlisted URIs came before", "Within hosts the order is kept"
NOT_LOADED, SPELLINGS = "The order has little to do with the file", "are other spellings"
ENDED, MISSING, SEEDS = (
    "likely ended too early",
    "A crawl fetches what it finds",
    "Give them as seeds",
)
OPEN = "has a log open"

#: crawl -> its fetches, and the advice that it gets: parts of its sentences
CRAWLS: dict[str, tuple[Fetches, set[str]]] = {
    "by the file": (seeds(BEST), set()),
    "by the file, links": (links(BEST), set()),
    "unlisted ones last": (seeds(BEST + NEW), set()),
    "ten threads": (seeds(threads(BEST)), set()),
    "two unlisted ones first": (seeds(NEW[:2] + BEST), set()),
    "four unlisted ones first": (seeds(NEW[:4] + BEST), set()),
    "no default precedence": (seeds(NEW + BEST), {UNLISTED_FIRST}),
    "not loaded, with unlisted ones": (seeds(shuffled(BEST + NEW)), {NOT_LOADED}),
    "no default precedence, links": (links(NEW + BEST), {UNLISTED_FIRST}),
    "unlisted seeds, then listed links": (seeds(NEW) + links(BEST), set()),
    "unlisted ones of a host of their own first": (
        seeds([uri.replace("a.example", "d.example") for uri in NEW[:10]] + BEST), set(),
    ),
    "no queue policy": (
        seeds(sorted(BEST, key=lambda uri: (uri.split("/")[2], LISTED[uri]))), {HOSTS_IN_TURN},
    ),
    "not loaded": (seeds(shuffled(BEST)), {NOT_LOADED}),
    "a twin with www": (
        seeds([TWIN.replace("//", "//www."), *without(BEST, TWIN)]), {SPELLINGS},
    ),
    "ended early": (seeds(BEST[:200]), {ENDED}),
    "ended early, links": (links(BEST[:170]), {ENDED}),
    "some of the last class not linked": (links(without(BEST, *LAST[:7])), {MISSING, SEEDS}),
    "most of the last class not linked": (links(without(BEST, *LAST[:50])), {MISSING, SEEDS}),
    "some seeds of the last class out of scope": (seeds(without(BEST, *LAST[:7])), {MISSING}),
    "some of the first class not linked": (links(without(BEST, *BEST[:7])), {MISSING, SEEDS}),
    "inferred and prerequisites first": (
        [(f"http://{host}/{name}", hop) for host in HOSTS
         for name, hop in (("robots.txt", "P"), ("favicon.ico", "I"))] * 4 + seeds(BEST), set(),
    ),
    "nothing unlisted, one class": (seeds([uri for uri in BEST if LISTED[uri] == 1]), {ENDED}),
}  # fmt: skip


def advice(file: Path, *logs: Path) -> list[str]:
    said: list[str] = json.loads(ok("audit-precedence", file, *logs, "--json", "-").out)["advice"]
    return said


@pytest.mark.parametrize("name", CRAWLS)
def test_each_crawl_gets_the_advice_that_it_needs(name: str, tmp_path: Path) -> None:
    fetches, expected = CRAWLS[name]
    file = written(tmp_path / "precedence.txt", FILE)
    said = advice(file, written(tmp_path / "crawl.log", log(fetches)))
    parts = {UNLISTED_FIRST, HOSTS_IN_TURN, NOT_LOADED, SPELLINGS, ENDED, MISSING, SEEDS, OPEN}
    assert {part for part in parts if any(part in sentence for sentence in said)} == expected
    assert len(said) == len(expected - {SEEDS})


@pytest.mark.parametrize("order", ["empty first", "empty last"])
def test_an_empty_log_among_others(order: str, tmp_path: Path) -> None:
    file = written(tmp_path / "precedence.txt", FILE)
    logs = [written(tmp_path / "1.log", ""), written(tmp_path / "2.log", log(seeds(BEST)))]
    assert advice(file, *(logs if order == "empty first" else reversed(logs))) == []


def test_a_log_that_is_open(tmp_path: Path) -> None:
    file = written(tmp_path / "precedence.txt", FILE)
    written(tmp_path / "crawl.log.lck", "")
    (only,) = advice(file, written(tmp_path / "crawl.log", log(seeds(BEST[:200]))))
    assert OPEN in only
