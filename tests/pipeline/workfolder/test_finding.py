"""Which archives a user means: checked against what `glob` and the eye find."""

from __future__ import annotations

import glob
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.crawls import WEB, crawlrank, ok, write_warc
from support.paths import LOOPBACK

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.cli.run import run
from crawlrank.pipeline.workfolder.finding import find_archives, matches, read_list, wacz_files

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
    fault = r"no archive among its files .1., the first logs/crawl\.log"
    with pytest.raises(BadInput, match=fault):
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


@pytest.mark.parametrize("url", ["ftp://h/k", "gs://b/k.warc.gz", "GS://b", "file://h/x"])
@pytest.mark.parametrize(
    "command", [("inspect",), ("run", "--work", "w"), ("inspect", "--log", "-")]
)
def test_urls_of_other_schemes(command: tuple[str, ...], url: str, tree: Path) -> None:
    said = crawlrank(*command, url)
    assert said.code == 3
    assert f"{url}: a URL of {url.partition(':')[0]}://, which is not read" in said.err
    assert "https://, s3://, hdfs:// or file:///" in said.err


def test_a_path_may_look_like_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ftp:/h").mkdir(parents=True)
    write_warc(Path("ftp:/h/a.warc.gz"), WEB)
    ok("inspect", "ftp://h/a.warc.gz")


def test_schemes_in_any_case(tree: Path) -> None:
    url = f"FILE://{LOOPBACK}"
    alone = json.loads(ok("inspect", url, "--json", "-").out)["archives"]
    assert alone[0]["path"] == f"file://{LOOPBACK}"
    Path("list").write_text(f"File://{LOOPBACK}\nS3://b/x.warc\nHTTPS://h/X.warc\n")
    expected = [f"file://{LOOPBACK}", "s3://b/x.warc", "https://h/X.warc"]
    assert read_list("list") == expected
    Path("list").write_text("x.warc\n")
    assert read_list("list", "HTTPS://h/D") == ["https://h/D/x.warc"]
    Path("m.json").write_text(json.dumps({"resources": [{"url": "HTTPS://h/X.wacz"}]}))
    assert wacz_files(Path("m.json")) == ["https://h/X.wacz"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_index_of_captures_may_have_the_name_of_a_multi_wacz(
    pack: Callable[[bytes], bytes], tree: Path
) -> None:
    line = b'{"urlkey": "h)/", "timestamp": "20240101000000", "url": "http://h/"}\n'
    Path("index.json").write_bytes(pack(line * 2))
    assert find_archives([Path("index.json")]).archives == [Path("index.json")]


def test_all_that_is_missing_is_named(tree: Path) -> None:
    Path("m.json").write_text(json.dumps({"resources": [{"path": "1.wacz"}, {"path": "2.wacz"}]}))
    here = LOOPBACK
    for names, missing in (
        (("no1.warc.gz", here, "no2.warc.gz"), ("no1.warc.gz", "no2.warc.gz")),
        (("m.json", here), ("1.wacz", "2.wacz")),
        (("no.warc.gz", "no-*.gz", here), ("no.warc.gz", "no-*.gz")),
        (("no-*.gz", "no/*.gz", "logs/"), ("no-*.gz", "no/*.gz")),
    ):
        said = crawlrank("run", *names, "--work", "w")
        assert said.code == 3
        assert f"{len(missing)} of " in said.err and "cannot be read" in said.err
        assert all(f"\n  {name}: " in said.err for name in missing), said.err
        assert str(here) not in said.err


def test_of_many_that_are_missing_twenty_are_named(tree: Path) -> None:
    said = crawlrank("run", *(f"no{number}.warc" for number in range(25)), "--work", "w")
    assert (said.err.count("\n  no"), "and 5 more" in said.err) == (20, True)
