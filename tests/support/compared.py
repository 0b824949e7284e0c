"""Two crawls of one made site, each ranked by both engines; and their text files, read plainly."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished
from support.crawls import INLINE, datasets
from support.runs import finished, shared_warc

HOW = {"columns": (), "text": INLINE}
ROUNDS = 30  # so that scores are what their links give to many digits
PAGES, HOSTS, BINS = 60, 3, 6


def uri(page: int) -> str:
    return f"http://h{page % HOSTS}.example/page-{page}"


def made_web(seed: int, pages: int, missing: int) -> dict[str, list[str]]:
    """Pages with a few links each, some to pages that nobody captured; few of the links depend on
    the seed, so that two webs have most in common. missing: the last digit of pages
    that are not there."""
    steady, changing = random.Random(1), random.Random(seed)
    web = {}
    for page in range(pages):
        targets = [steady.randrange(PAGES + 10) for _ in range(steady.randrange(5))]
        targets += [changing.randrange(pages + 20) for _ in range(changing.randrange(2))]
        if page % 10 != missing:
            web[uri(page)] = [uri(target) for target in targets if target % 10 != missing]
    return web


def made_archives() -> list[Path]:
    webs = made_web(2, PAGES - 6, missing=7), made_web(3, PAGES, missing=1)
    return [shared_warc(f"{number}.warc.gz", web) for number, web in enumerate(webs)]


def made_works(crawls: int) -> dict[str, list[Path]]:
    """By engine, the work folders of the two crawls, or of the first alone; to read only."""
    archives, given = made_archives()[:crawls], ("--iterations", ROUNDS, "--bins", BINS)
    return {
        name: [finished(archive, *given, "--no-validate", *how) for archive in archives]
        for name, how in HOW.items()
    }


@contextmanager
def opened(*works: Path) -> Iterator[list[Finished]]:
    with (
        tempfile.TemporaryDirectory() as tmp,
        database(Path(tmp), budget=1 << 28, threads=2) as (db, near),
    ):
        yield [open_finished(work, db, near, f"w{n}") for n, work in enumerate(works)]


class Plain:
    """A text work folder as its lines say: what the commands must find."""

    def __init__(self, work: Path) -> None:
        text = {name: data.decode().splitlines() for name, data in datasets(work).items()}
        best = [line.split("\t") for line in text["scores"]]
        self.uri_of = {key: uri for _, uri, key in best}
        self.score_of = {key: float(score) for score, _, key in best}
        self.place_of = {key: place for place, (_, _, key) in enumerate(best, 1)}
        lines = dict(line.split(" ") for line in text["precedence.txt"])
        self.precedence_of = {uri: int(precedence) for uri, precedence in lines.items()}
        self.uris = [line.split("\t") for line in text["uris"]]
        self.sources_of: dict[str, set[str]] = {key: set() for key in self.score_of}
        self.targets_of: dict[str, set[str]] = {key: set() for key in self.score_of}
        for line in text["canonical_links"]:
            target, source = line.split(" ")
            if target != source and {target, source} <= self.score_of.keys():
                self.sources_of[target].add(source)
                self.targets_of[source].add(target)

    def class_of(self, key: str) -> int:
        return self.precedence_of[self.uri_of[key]]

    def gives(self, source: str) -> float:
        return 0.85 * self.score_of[source] / len(self.targets_of[source])
