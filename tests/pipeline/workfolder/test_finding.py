"""Which archives a user means: checked against what `glob` and the eye find."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from jobs.kernel.errors import BadInput
from pipeline.cli.run import run
from pipeline.workfolder.finding import find_archives, matches

TREE = (
    "a.warc.gz", "b.arc", "logs/crawl.log", "logs/c.warc.wat.gz", "sub/d.warc.zst", "sub/E.WARC",
    "sub/deep/f.wacz", "sub/deep/.g.warc.gz", "sub/deep/h.warc.gz.open", "sub/[1].arc.gz", "warc",
)  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_of_a_folder_come_the_files_with_an_archives_name(tree: Path) -> None:
    found = find_archives([Path()])
    assert list(map(str, found.archives)) == [
        "a.warc.gz", "b.arc", "logs/c.warc.wat.gz", "sub/E.WARC", "sub/[1].arc.gz",
        "sub/d.warc.zst", "sub/deep/f.wacz",
    ]  # fmt: skip
    assert found.left_out == [
        "warc", "logs/crawl.log", "sub/deep/.g.warc.gz", "sub/deep/h.warc.gz.open",
    ]  # fmt: skip


def test_a_name_that_is_there_is_no_glob(tree: Path) -> None:
    assert find_archives([Path("sub/[1].arc.gz")]).archives == [Path("sub/[1].arc.gz")]


def test_what_a_glob_matches_is_taken_whatever_its_name(tree: Path) -> None:
    found = find_archives([Path("*"), Path("a.warc.gz")])
    assert list(map(str, found.archives))[:3] == ["a.warc.gz", "b.arc", "logs/c.warc.wat.gz"]
    assert Path("warc") in found.archives
    assert len(set(found.archives)) == len(found.archives)
    everywhere = find_archives([Path("**/*.gz")]).archives
    assert set(map(str, everywhere)) == {"a.warc.gz", "logs/c.warc.wat.gz", "sub/[1].arc.gz"}


@pytest.mark.parametrize("name", ["none-*.warc", "empty"])
def test_a_name_that_gives_nothing_is_an_error(tree: Path, name: str) -> None:
    (tree / "empty").mkdir()
    with pytest.raises(BadInput, match="no file"):
        find_archives([Path("a.warc.gz"), Path(name)])


def test_a_folder_without_archives_is_an_error(tree: Path) -> None:
    (tree / "logs/c.warc.wat.gz").unlink()
    with pytest.raises(BadInput, match=r"no archive among 1 files, the first logs/crawl\.log"):
        find_archives([Path("logs")])


@given(
    st.lists(
        st.sampled_from(["a", "ab", "b.c", "[x", "**", "*", "?", "a*", "[ab]", "[!a]b", ".*"]),
        min_size=1,
        max_size=4,
    ),
)
def test_globs_of_urls_match_what_globs_of_paths_do(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    names = [
        "a",
        "ab",
        "b.c",
        "a/a",
        "a/ab",
        "b/ab/a",
        "ab/b.c/cb/a",
        "b.d/[x",
        ".h",
        ".h/a",
        "a/.h",
    ]
    root = _ROOT.setdefault("root", tmp_path_factory.mktemp("globs"))
    for name in names:
        path = root / "f" / name.replace("/", "_d/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    asked = "/".join(pieces)
    there = [str(p.relative_to(root / "f")) for p in (root / "f").rglob("*") if p.is_file()]
    matched = {name for name in there if matches(name.split("/"), asked.split("/"))}
    by_glob = glob.glob(  # noqa: PTH207
        asked, root_dir=root / "f", recursive=True
    )
    assert matched == {name for name in by_glob if (root / "f" / name).is_file()}


_ROOT: dict[str, Path] = {}


def test_run_needs_an_archive_named_somewhere(tree: Path) -> None:
    told: Any = CliRunner().invoke(run, ["--work", "w"])
    assert told.exit_code == 2
    assert "ARCHIVES" in told.output
