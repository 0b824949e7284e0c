"""The neighbourhood of a page against a search over the text of a work folder, on both engines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from support.compared import HOW, Plain, made_works, opened, uri
from support.drawing import examples
from support.runs import finished, shared_warc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.lab.watch import Drawn, best, drawn_around, drawn_best
from crawlrank.pipeline.workfolder.results.weights import NotAURI

Works = dict[str, list[Path]]
ENGINES = pytest.mark.parametrize("engine", ["columns", "text"])


@pytest.fixture(scope="module")
def works() -> Works:
    return made_works(1)


def links_in(plain: Plain) -> set[tuple[str, str]]:
    return {(source, key) for key, sources in plain.sources_of.items() for source in sources}


def nearest(plain: Plain, start: str, most: int) -> list[str]:
    """Keys by distance, then score, then key."""
    chosen, links = [start], links_in(plain)
    far = {start: 0}
    while new := {b for pair in links for a, b in (pair, pair[::-1]) if a in far} - far.keys():
        far |= dict.fromkeys(new, max(far.values()) + 1)
    chosen = sorted(far, key=lambda key: (far[key], -plain.score_of[key], key))
    return chosen[:most]


def require_same(drawn: Drawn, keys: Sequence[str], plain: Plain) -> None:
    assert list(drawn.names) == [plain.uri_of[key] for key in keys]
    shown = {
        (keys[page], keys[target]) for page, each in enumerate(drawn.targets) for target in each
    }
    links, inside = links_in(plain), {*keys}
    assert shown == {(a, b) for a, b in links if a in inside and b in inside}
    assert drawn.outside == (
        sum(a in inside and b not in inside for a, b in links),
        sum(a not in inside and b in inside for a, b in links),
    )
    assert all(list(each) == sorted(each) for each in drawn.targets)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("engine", "most"), [("text", 2), ("columns", 7), ("text", 30), ("columns", 300)]
)
def test_the_nearest_pages_in_both_directions(most: int, engine: str, works: Works) -> None:
    plain = Plain(works["text"][0])
    with opened(works[engine][0]) as (run,):
        for key in Random(most).sample(sorted(plain.score_of), examples(10)):
            drawn = drawn_around(run, plain.uri_of[key], most)
            require_same(drawn, nearest(plain, key, most), plain)
            assert drawn.start == 0
            assert drawn_around(run, key, most).names == drawn.names


@pytest.mark.parametrize(("engine", "most"), [("columns", 2), ("text", 13), ("columns", 300)])
def test_the_best_pages(most: int, engine: str, works: Works) -> None:
    plain = Plain(works["text"][0])
    keys = sorted(plain.score_of, key=lambda key: (-plain.score_of[key], key))[:most]
    with opened(works[engine][0]) as (run,):
        drawn = drawn_best(run, most)
        require_same(drawn, keys, plain)
        assert drawn.start is None


@ENGINES
def test_links_of_nodes_are_those_of_the_graph(engine: str, works: Works) -> None:
    plain = Plain(works["text"][0])
    with opened(works[engine][0]) as (run,):
        keys = dict(run.rows("SELECT id, key FROM {mapped}"))
        for chosen in ([], [0], [3, 1, 20]):
            found = run.links_of(chosen)
            pairs = list(zip(found.targets.tolist(), found.sources.tolist(), strict=True))
            assert pairs == sorted(pairs)
            wanted = {
                (a, b) for a, b in links_in(plain) if {a, b} & {keys[node] for node in chosen}
            }
            assert {(keys[source], keys[target]) for target, source in pairs} == wanted
            assert len(pairs) == len(wanted)


def test_best_of_equal_scores_are_the_first() -> None:
    scores = np.array([1.0, 3.0, 2.0, 3.0, 1.0, 2.0])
    assert best(scores, 3) == [1, 3, 2]
    assert best(scores, 9) == [1, 3, 2, 5, 0, 4]
    assert best(np.ones(50), 4) == [0, 1, 2, 3]


@ENGINES
def test_pages_that_are_none(engine: str, works: Works) -> None:
    with opened(works[engine][0]) as (run,):
        with pytest.raises(BadInput, match=r"Did you mean http://h1\.example/page-"):
            drawn_around(run, "http://h1.example/page-1000", 9)
        with pytest.raises(BadInput, match="No host has a similar name"):
            drawn_around(run, "http://elsewhere.test/", 9)
        with pytest.raises(NotAURI):
            drawn_around(run, "page-1", 9)


@pytest.mark.few(1)
@ENGINES
def test_pages_that_fold_and_pages_without_score(engine: str) -> None:
    """A page nobody links to has none; another spelling of a page is that page."""
    web = {uri(0): [uri(1)], uri(1): [uri(2)], uri(2): [uri(1)]}
    given = "--no-validate", "--iterations", 3, *HOW[engine]
    with opened(finished(shared_warc("few.warc.gz", web), *given)) as (run,):
        with pytest.raises(BadInput, match=r"no node of the graph.*crawlrank explain"):
            drawn_around(run, uri(0), 9)
        assert drawn_around(run, uri(2).replace("h2", "H2") + "#x", 9).names[0] == uri(2)
