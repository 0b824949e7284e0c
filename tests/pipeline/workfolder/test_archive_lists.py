"""Lists of archives: what they may hold, and that all that is wrong in one is named."""

from __future__ import annotations

import gzip
import io
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawls import WEB, crawlrank, ok, write_warc
from support.runs import finished, shared_warc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.workfolder.finding import LONGEST, NAMED, read_list

DATA = (
    b"\xef\xbb\xbfa b.warc.gz\r\n\n# a comment\n \ns3://crawl/a//b.warc\n\xff.arc\nno-*.warc\n"
    b"./#c\nhttps://h/x.wacz?a=b\nhdfs://n/x.warc"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (b"a b.warc.gz", b"\xff.arc", b"#c"):
        with open(name, "wb"):  # noqa: PTH123 (a name of bytes)
            pass
    return tmp_path


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_list_has_paths_and_urls_as_they_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pack: Any
) -> None:
    (folder / "list").write_bytes(pack(DATA))
    names = read_list(str(folder / "list"))
    assert bytes(names[2]) == b"\xff.arc"  # type: ignore[arg-type]
    del names[2]
    assert names == [
        Path("a b.warc.gz"), "s3://crawl/a//b.warc", Path("no-*.warc"), Path("./#c"),
        "https://h/x.wacz?a=b", "hdfs://n/x.warc",
    ]  # fmt: skip
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack(DATA))))
    assert len(read_list("-")) == 7


def test_a_prefix_goes_before_each_line(folder: Path) -> None:
    (folder / "list").write_text("crawl-data/a.warc.gz\n# x\n\ncrawl-data/b c.warc.gz\n")
    paths = ["crawl-data/a.warc.gz", "crawl-data/b c.warc.gz"]
    for prefix in ("s3://commoncrawl", "s3://commoncrawl/"):
        expected = ["s3://commoncrawl/" + path for path in paths]
        assert read_list("list", prefix) == expected
    (folder / "list").write_text("crawl-data/a.warc.gz\n")
    assert read_list("list", "https://h") == ["https://h/crawl-data/a.warc.gz"]
    (folder / "sub").mkdir()
    (folder / "sub/x.warc").touch()
    (folder / "list").write_text("x.warc\n")
    assert read_list("list", "sub") == [Path("sub/x.warc")]


@pytest.mark.parametrize(
    ("line", "prefix", "why"),
    [
        ("no.warc", "", "no such file (no.warc)"),
        (" https://h/a", "", "no URL of"),
        ("ftp://h/a.warc", "", "no URL of https://, s3://, hdfs:// or file:///"),
        ("file://h/a.warc", "", "no URL of"),
        ("http://h/a.warc", "", "not encrypted"),
        ("https:///a.warc", "", "no host"),
        ("https://u:pw@h/a.warc", "", "password"),
        ("https://h/a b.warc", "", "a blank in a URL"),
        ("a\0b", "", r"a control character (a\x00b)"),
        ("a\x1b[1mb", "", r"a control character (a\x1b[1mb)"),
        ("x" * (LONGEST + 1), "", "longer than"),
        ("x" * 100_000, "", "longer than"),
        ("https://h/a", "https://i", "a URL, in spite of --prefix"),
        ("/a", "https://i", "a slash at its beginning"),
    ],
)
def test_a_wrong_line_is_named(folder: Path, line: str, prefix: str, why: str) -> None:
    good = "crawl/a.warc" if prefix else "s3://b/a.warc"
    (folder / "list").write_text(f"{good}\n#\n{line}\n{good}\n")
    with pytest.raises(BadInput) as caught:
        read_list("list", prefix)
    assert str(caught.value).startswith("list: 1 wrong line: line 3: ")
    assert why in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("form", "count"),
    [
        ("plain", 10_000),
        ("gzip", 10_000),
        pytest.param("plain", 300_000, marks=pytest.mark.slow),
        pytest.param("gzip", 300_000, marks=pytest.mark.slow),
    ],
)
def test_three_wrong_lines_of_many(folder: Path, form: str, count: int) -> None:
    lines = [f"crawl-data/CC-MAIN-2026-30/{n:07}.warc.gz" for n in range(count)]
    for number, line in ((1, "ftp://h/x"), (count // 2, "/x"), (count, "a\tb")):
        lines[number - 1] = line
    text = "\n".join(lines).encode()
    (folder / "list").write_bytes(gzip.compress(text, 1) if form == "gzip" else text)
    begin = time.process_time()
    with pytest.raises(BadInput) as caught:
        read_list("list", "https://data.commoncrawl.org/")
    assert time.process_time() - begin < 60
    for words in ("3 wrong lines", "line 1: ", f"line {count // 2:,}: ", f"line {count:,}: "):
        assert words in str(caught.value)


def test_so_many_wrong_lines_are_named_and_the_others_counted(folder: Path) -> None:
    (folder / "list").write_text("none\n" * 1000)
    with pytest.raises(BadInput) as caught:
        read_list("list")
    assert str(caught.value).count("line ") == NAMED
    assert f"line {NAMED}: " in str(caught.value)
    assert f"and {1000 - NAMED} more" in str(caught.value)


@pytest.mark.slow
def test_a_bomb_takes_no_memory(folder: Path) -> None:
    (folder / "list").write_bytes(gzip.compress(bytes(60_000_000)))
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match="1 wrong line"):
            read_list("list")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "data", [b"", b"\n \n", b"# x\n", b"a\0b\n", gzip.compress(b"a\n", mtime=0)[:-9]]
)
def test_a_list_of_nothing_is_an_error(folder: Path, data: bytes) -> None:
    (folder / "list").write_bytes(data)
    with pytest.raises(BadInput):
        read_list(str(folder / "list"))
    with pytest.raises(BadInput, match="cannot be read"):
        read_list(str(folder / "no list"))


@given(st.binary(max_size=300))
def test_any_bytes_are_a_list_or_bad_input(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("lists") / "list"
    path.write_bytes(data)
    try:
        names = read_list(str(path), "s3://b/")
    except BadInput as error:
        assert str(error).isprintable()
    else:
        assert all(str(name).startswith("s3://b/") for name in names)


def test_prefixes_on_the_command_line(folder: Path) -> None:
    write_warc(folder / "web.warc.gz", WEB)
    (folder / "list").write_text("web.warc.gz\n")
    ok("inspect", "--archives-from", "list", "--prefix", folder)
    said = crawlrank("inspect", "web.warc.gz", "--prefix", "x")
    assert (said.code, "--prefix is for --archives-from" in said.err) == (2, True)
    said = crawlrank("inspect", "--archives-from", "list", "--prefix", "gopher://h")
    assert (said.code, "no URL of" in said.err) == (3, True)


@pytest.mark.slow
def test_a_list_from_s3(bucket: Any, folder: Path) -> None:
    """Common Crawl has such lists: gzip, with paths from the root of its bucket."""
    path = shared_warc("web.warc.gz", WEB)
    bucket.put_object(Bucket="crawl", Key="data/web.warc.gz", Body=path.read_bytes())
    listed = gzip.compress(b"data/web.warc.gz\n")
    bucket.put_object(Bucket="crawl", Key="warc.paths.gz", Body=listed)
    given = ("--archives-from", "s3://crawl/warc.paths.gz", "--prefix", "s3://crawl/")
    ok("run", *given, "--work", folder / "there", "--jobs", 1, "--no-validate")
    there, here = folder / "there", finished(path)
    assert (there / "precedence.txt").read_bytes() == (here / "precedence.txt").read_bytes()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_archive_or_a_table_is_no_list(folder: Path, pack: Any) -> None:
    write_warc(folder / "a.warc.gz", WEB)
    warc = gzip.decompress((folder / "a.warc.gz").read_bytes())
    (folder / "x").write_bytes(pack(warc))
    pq.write_table(pa.table({"a": [1]}), folder / "a.parquet")
    (folder / "t").write_bytes(pack((folder / "a.parquet").read_bytes()))
    (folder / "b").write_bytes(pack(bytes(range(256))))
    for name, found, cure in (
        ("x", "a WARC file, not a list", "Leave out --archives-from"),
        ("t", "a table in Parquet, not text", "Write the names"),
        ("b", "bytes that are no text", "Write the names"),
    ):
        said = crawlrank("run", "--archives-from", name, "--work", "w")
        assert said.code == 3
        assert said.err.startswith(f"crawlrank: {name}: {found}") and cure in said.err
        assert said.err.isascii() and "\\x" not in said.err and "wrong line" not in said.err


@pytest.mark.parametrize("command", [("run", "--work", "w", "--jobs", 1), ("inspect", "--jobs", 1)])
def test_bytes_of_no_archive_are_not_shown(command: tuple[object, ...], folder: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), folder / "a.parquet")
    (folder / "r.warc.gz").write_bytes(bytes(range(1, 256)) * 9)
    (folder / "r.warc").write_bytes(bytes(range(1, 256)) * 9)
    for name, found in (
        ("a.parquet", "a table in Parquet"),
        ("r.warc.gz", "no gzip, although its name ends in .gz"),
        ("r.warc", "bytes that are no text"),
    ):
        said = crawlrank(*command, name, "-q")
        assert (said.code, f"{name}: {found}" in said.err) == (3, True), said.err
        assert "\\x" not in said.err and "PAR1" not in said.err
