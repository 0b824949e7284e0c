"""Rankings from one page down a long chain: their scores span more orders of magnitude than doubles
resolve, so that the bound of a single score is infinite. Every command reads them, and its JSON is
JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest
from support.crawls import crawlrank, ok

PAGES, ITEMS = 80, 20
SITE = "http://s.example"
RANKINGS = {"trust": (), "ten": ("--iterations", 10), "fifty": ("--iterations", 50)}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """List pages, each of which links to the next and to 20 items, ranked from the first."""
    folder = tmp_path_factory.mktemp("chain")
    links = [f"{SITE}/list/{page} {SITE}/list/{page + 1}\n" for page in range(PAGES)]
    for page in range(PAGES):
        links += [f"{SITE}/list/{page} {SITE}/item/{page}/{item}\n" for item in range(ITEMS)]
    (folder / "links.txt").write_text("".join(links))
    (folder / "seed.txt").write_text(f"{SITE}/list/0\n")
    work = folder / "work"
    ok(
        "step",
        "import-text",
        "--links",
        folder / "links.txt",
        "--order",
        "source-target",
        "--work",
        work,
    )
    ok("run", "--work", work, "--nodes", "all", "--no-validate")
    for name, options in {
        "trust": (),
        "ten": ("--iterations", 10),
        "fifty": ("--iterations", 50),
    }.items():
        seeds = ("--method", "trustrank", "--seeds", folder / "seed.txt")
        ok("rank", "--work", work, "--name", name, *seeds, *options)
    return work


def document(*args: object) -> Any:
    """What a command writes, by a reader that takes what the standard has alone."""

    def refuse(word: str) -> NoReturn:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(ok(*args, "--json", "-").out, parse_constant=refuse)


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKINGS)
def test_every_command_reads_them(work: Path, name: str, tmp_path: Path) -> None:
    ranking, page = work / "rankings" / name, tmp_path / "report.html"
    status = document("status", "--work", ranking)
    assert status["rounds"][-1]["eta"] is None
    assert document("explain", f"{SITE}/list/7", "--work", ranking)
    assert document("hosts", "--work", ranking)
    ok("report", "--work", ranking, "--output", page)
    assert "No single score is off by more than" in page.read_text()
    ok("export", "--work", ranking, "--output", tmp_path / "precedence.txt")


@pytest.mark.slow
def test_their_agreement_is_shown(work: Path) -> None:
    assert document("agree", work)


@pytest.mark.slow
def test_the_order_is_that_of_the_chain(work: Path) -> None:
    """No score is lost in the rounding: each list page is before the next one."""
    lines = (work / "rankings" / "trust" / "precedence.txt").read_text().splitlines()
    classes = {key: int(number) for key, number in (line.split() for line in lines)}
    of_lists = [classes[f"{SITE}/list/{page}"] for page in range(PAGES + 1)]
    assert of_lists == sorted(of_lists)


@pytest.mark.slow
def test_a_command_says_what_it_lacks(work: Path) -> None:
    assert crawlrank("explain", f"{SITE}/none", "--work", work / "rankings" / "trust").code == 3
