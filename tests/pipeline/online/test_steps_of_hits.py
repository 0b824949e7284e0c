"""The error that crawlfrontier's documents give, by its own matrices, on a small crawl."""

from __future__ import annotations

import numpy as np
import pytest
from online.compare_hits import Both, Links, crawl, distance

PAGES = 120


def random_links(seed: int) -> Links:
    draw = np.random.default_rng(seed)
    skewed = (PAGES * draw.random((4 * PAGES, 2)) ** 3).astype(int)  # few pages have many links
    pairs = np.unique(skewed, axis=0)
    sources, targets = pairs[pairs[:, 0] != pairs[:, 1]].T
    return Links(PAGES, sources, targets)


def matrices(links: Links) -> tuple[np.ndarray, np.ndarray]:
    """A column for each page: what it gives to authorities, and to hubs."""
    is_link = np.zeros((links.pages, links.pages))
    is_link[links.sources, links.targets] = 1
    return is_link.T / (is_link.sum(1) + 1), is_link / (is_link.sum(0) + 1)


def test_a_step_is_by_both_matrices_and_has_the_sum_1() -> None:
    links, draw = random_links(1), np.random.default_rng(2)
    to_authorities, to_hubs = matrices(links)
    scores = Both(*draw.random((2, PAGES)))
    step = links.step(scores)
    hub = to_hubs @ to_authorities @ scores.hub
    authority = to_authorities @ to_hubs @ scores.authority
    assert step.hub == pytest.approx(hub / hub.sum())
    assert step.authority == pytest.approx(authority / authority.sum())


def test_eigenvectors_stay_what_they_are() -> None:
    links = random_links(3)
    to_authorities, to_hubs = matrices(links)
    vectors = []
    for matrix in (to_hubs @ to_authorities, to_authorities @ to_hubs):
        values, columns = np.linalg.eig(matrix)
        vector = np.abs(columns[:, np.argmax(values.real)].real)
        vectors.append(vector / vector.sum())
    scores = Both(*vectors)
    assert max(distance(scores, links.step(scores)).values()) < 1e-9


def fixed_point(links: Links) -> Both:
    """With the virtual page, which gives all pages what it gets, as the same kind."""
    to_authorities, to_hubs = matrices(links)
    hub = authority = np.full(links.pages, 1.0)
    for _ in range(2000):
        kept_hub, kept_authority = 1 - to_authorities.sum(0), 1 - to_hubs.sum(0)
        hub, authority = (
            to_hubs @ authority + (kept_hub * hub).mean(),
            to_authorities @ hub + (kept_authority * authority).mean(),
        )
    return Both(hub / hub.sum(), authority / authority.sum())


def test_a_crawl_of_all_pages_knows_all_links_and_comes_to_the_fixed_point() -> None:
    links = random_links(4)
    grown, scores = crawl(links, window=3.0, fetched=10 * PAGES)
    assert grown.pages <= PAGES
    assert len(grown.sources) == len(links.sources)
    for column, other in zip(grown[1:], links[1:], strict=True):
        counts = (np.sort(np.bincount(numbers)[np.unique(numbers)]) for numbers in (column, other))
        assert np.array_equal(*counts)
    fixed = fixed_point(grown)
    for kind, column in scores._asdict().items():
        assert column.sum() == pytest.approx(1)
        assert np.corrcoef(column, getattr(fixed, kind))[0, 1] > 0.9
    few, of_few = crawl(links, window=3.0, fetched=10)
    assert few.pages < grown.pages
    assert len(of_few.hub) == few.pages
