"""A ranking in a work folder whose run is made anew with other options is, when it is ranked again,
what it is in a new folder."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from support.crawls import MORE_WEB, WEB, ok
from support.runs import shared_warc
from support.work_folders import files_of

#: settings of a run, in an order in which each change adds or takes columns or links
SETTINGS: dict[str, tuple[str, ...]] = {
    "usual": (),
    "latest": ("--captures", "latest"),
    "all nodes": ("--nodes", "all"),
    "redirects": ("--fold", "redirects"),
    "hits": ("--method", "hits"),
    "canonical": ("--fold", "canonical"),
    "www": ("--keep-www",),
    "latest and redirects": ("--captures", "latest", "--fold", "redirects"),
    "all links": ("--links", "all"),
    "validators": ("--validators",),
    "titles": ("--titles",),
    "sites": ("--method", "site"),
}
CHANGES = [*pairwise(SETTINGS), ("latest", "usual"), ("redirects", "usual"), ("canonical", "hits")]
RESULTS = ("scores", "precedence.txt")


@pytest.mark.slow
@pytest.mark.few(3)
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_ranking_is_that_of_a_new_folder(before: str, after: str, tmp_path: Path) -> None:
    archives = shared_warc("web.warc.gz", WEB), shared_warc("more.warc.gz", MORE_WEB)
    old, new = tmp_path / "old", tmp_path / "new"
    brief = ("--quiet", "--jobs", 1)
    ok("run", *archives, "--work", old, *brief, *SETTINGS[before])
    ok("rank", "--work", old, "--name", "y", *brief)
    for work, force in ((old, ["--force"]), (new, [])):
        ok("run", *archives, "--work", work, *brief, *SETTINGS[after], *force)
        ok("rank", "--work", work, "--name", "y", *brief)
        ok("explain", "--work", work, "--ranking", "y", "http://a.example/about")
    found, expected = (files_of(work / "rankings" / "y") for work in (old, new))
    assert found.keys() == expected.keys()
    for name in expected:
        if name.startswith(RESULTS):
            assert found[name] == expected[name], name
