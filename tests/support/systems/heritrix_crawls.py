"""Shared by the tests that crawl with a real Heritrix: where it is, what it crawls and
what it noted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fetching import Unavailable
from heritrix.distribution import heritrix_home
from heritrix.log import Fetch
from heritrix.serving import Served, serving
from heritrix.site_parts import make_site


@pytest.fixture(scope="module")
def home() -> Path:
    """The folder of the distribution, fetched when it is not there."""
    try:
        return heritrix_home()
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A made site on loopback."""
    with serving(make_site) as server:
        yield server


def noted(fetch: Fetch) -> int:
    """The precedence that Heritrix itself had given to the URI."""
    (note,) = [text for text in fetch.annotations if text.startswith("precedence:")]
    return int(note.partition(":")[2])
