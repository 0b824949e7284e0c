"""The sample crawl gives the recipe's files that are kept beside it, byte for byte."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from crawls import DAMAGED, INLINE, SAMPLES, crawlrank

EXPECTED = SAMPLES / "expected"
ARCHIVES = [str(SAMPLES / name) for name in ("aut-example.arc.gz", "aut-example.warc.gz")]
NAMES = (
    "canonicalized_links.txt",
    "input_links.txt",
    "links.txt",
    "map.txt",
    "pr.txt",
    "pr0.txt",
    "pr10.txt",
    "precedence.txt",
    "score_uri.txt",
)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipe's files of a fresh run of ten rounds."""
    place = tmp_path_factory.mktemp("sample")
    work, out = str(place / "work"), place / "text"
    done = crawlrank("run", *ARCHIVES, "--work", work, "--iterations", "10", *INLINE, "--quiet")
    assert done.code == 0, done.err
    assert crawlrank("export-text", "--work", work, "--out", str(out)).code == 0
    return out


def test_the_files_are_those_of_the_recipe(text: Path) -> None:
    assert sorted(path.name for path in text.iterdir()) == list(NAMES)
    assert sorted(path.name for path in EXPECTED.iterdir()) == [f"{name}.gz" for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_a_fresh_run_gives_the_expected_bytes(text: Path, name: str) -> None:
    with gzip.open(EXPECTED / f"{name}.gz") as expected:
        assert (text / name).read_bytes() == expected.read()


def test_one_crawl_as_arc_and_as_warc_gives_the_same_links(tmp_path: Path) -> None:
    found = []
    for number, archive in enumerate(ARCHIVES):
        links, captures = tmp_path / f"links{number}.txt", tmp_path / f"captures{number}.txt"
        done = crawlrank(
            "extract-links", archive, "--output", str(links), "--captures", str(captures),
            "--outlinks", "html", *INLINE,
        )  # fmt: skip
        assert done.code == 0, done.err
        found.append(sorted(links.read_bytes().splitlines()))
    assert found[0] == found[1]
    assert len(found[0]) > 20_000


@pytest.mark.parametrize("archive", sorted(DAMAGED.iterdir()), ids=lambda path: path.name)
def test_damage_is_counted_and_what_is_readable_is_kept(archive: Path, tmp_path: Path) -> None:
    captures = tmp_path / "captures.txt"
    done = crawlrank(
        "extract-links", str(archive), "--output", str(tmp_path / "links.txt"),
        "--captures", str(captures), *INLINE,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "damage" in done.err
    assert captures.read_bytes().count(b"\n") >= 1
