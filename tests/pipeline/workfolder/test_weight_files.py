"""Weight files and lists of seeds: what is read, and what is refused with its line."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.workfolder.weight_files import (
    WeightLine,
    read_heritrix_seeds,
    read_relevance,
    read_seeds,
    read_weights,
)

Reader = Callable[..., list[WeightLine]]
BOM = b"\xef\xbb\xbf"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "weights.txt"


def refused(path: Path, content: bytes, weighted: bool = True) -> BadInput:
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        read_weights(path, weighted=weighted)
    assert caught.value.where.startswith(str(path))
    assert caught.value.expected and caught.value.cure
    return caught.value


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("start", [b"", BOM])
def test_a_file_with_all_that_it_may_have(start: bytes, end: bytes, path: Path) -> None:
    lines = [
        b"# teleports", b"", b"http://a.example/#top 3 #a note", b"  \t ",
        b"org,archive)/about\t.5", "http://é.example/ \t 1e-3\t".encode(),
        b" http://b.example/,1;2  0", b"b.example 7.",
    ]  # fmt: skip
    path.write_bytes(start + end.join(lines))  # the last line has no end
    assert read_weights(path) == [
        WeightLine(3, "http://a.example/#top", 3.0), WeightLine(5, "org,archive)/about", 0.5),
        WeightLine(6, "http://é.example/", 0.001), WeightLine(7, "http://b.example/,1;2", 0.0),
        WeightLine(8, "b.example", 7.0),
    ]  # fmt: skip


def test_a_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "weights.txt.gz"
    path.write_bytes(gzip.compress(b"http://a.example/ 2\n"))
    assert read_weights(path) == [WeightLine(1, "http://a.example/", 2.0)]


@given(weights=st.lists(st.floats(0, 1e300), min_size=1, max_size=9).filter(any))
def test_weights_are_the_doubles_that_were_written(
    weights: list[float], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("weights") / "weights.txt"
    path.write_text("".join(f"http://a.example/{n} {w!r}\n" for n, w in enumerate(weights)))
    assert [line.weight for line in read_weights(path)] == weights


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("http://a.example/,3", "a comma"), ("com,a)/x,3.5", "a comma"),
        ('"http://a.example/","3"', "a comma"), ("http://a.example/, 3", "a comma"),
        ("http://a.example/ ,3", "a comma"), ("http://a.example/;3", "a semicolon"),
        ("http://a.example/;\t3", "a semicolon"), ("http://a.example/|3", "a bar"),
        ("http://a.example/\xa03", "a no-break space"),
        ("http://a.example/", "no weight"), ("http://a.example/ # 3", "no weight"),
        ("http://a.example/a b 3", "3 columns"),
        ("http://a.example/ -1", "the weight -1"), ("http://a.example/ -1e-300", "weight -1e-300"),
        ("http://a.example/ nan", "the weight nan"), ("http://a.example/ inf", "the weight inf"),
        ("http://a.example/ -inf", "the weight -inf"), ("http://a.example/ 1e999", "weight 1e999"),
        ("http://a.example/ 1,5", "the weight 1,5"), ("http://a.example/ 1_000", "weight 1_000"),
        ("http://a.example/ ٣", "the weight ٣"), ("http://a.example/ .", "the weight ."),
        ("http://a.example/ high", "the weight high"), ("http://a.example/\x1b 1", "0x1b"),
        ("http://a.example/\0 1", "0x00"), ("http://a.example/\r 1", "0x0d"),
    ],
)  # fmt: skip
def test_a_line_that_is_refused(line: str, what: str, path: Path) -> None:
    error = refused(path, f"# x\nhttp://ok.example/ 1\n{line}\n".encode())
    assert error.where == f"{path}, line 3"
    assert what in error.found


def test_other_texts_are_no_utf_8(path: Path) -> None:
    error = refused(path, b"http://a.example/ 1\nhttp://\xe9.example/ 1\n")
    assert (error.where, "0xe9" in error.found) == (f"{path}, line 2", True)
    error = refused(path, "http://a.example/ 1\n".encode("utf-16"))
    assert (error.where, "0xff" in error.found) == (f"{path}, line 1", True)


@pytest.mark.parametrize("read", [read_heritrix_seeds, read_seeds])
@given(kinds=st.lists(st.sampled_from(["seed", "comment", "behind", "damaged"]), max_size=8))
def test_a_byte_that_is_not_utf_8_costs_a_seed_at_most(
    read: Reader, kinds: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("seeds") / "seeds.txt"
    written = {
        "seed": b"http://a%d.example/", "comment": b"# M\xed %d", "damaged": b"http://\xe9%d.example/",
        "behind": b"http://a%d.example/ # M\xed",
    }  # fmt: skip
    lines = [written[kind] % number for number, kind in enumerate(kinds)]
    path.write_bytes(b"\n".join([*lines, b"http://last.example/"]))
    damaged = list[int]()
    pages = [line.page for line in read(path, damaged)]
    seeds = [n for n, kind in enumerate(kinds) if kind in ("seed", "behind")]
    assert pages == [*(f"http://a{n}.example/" for n in seeds), "http://last.example/"]
    assert damaged == [n + 1 for n, kind in enumerate(kinds) if kind == "damaged"]


def test_a_comment_that_is_not_utf_8_costs_no_weight(path: Path) -> None:
    path.write_bytes(b"# M\xed\nhttp://a.example/ 2 # \xe9\n")
    assert read_weights(path) == [WeightLine(2, "http://a.example/", 2.0)]


@pytest.mark.parametrize("read", [read_heritrix_seeds, read_seeds])
def test_seeds_in_utf_16_are_refused(read: Reader, path: Path) -> None:
    path.write_bytes("http://a.example/\r\nhttp://b.example/\r\n".encode("utf-16"))
    with pytest.raises(BadInput, match="no UTF-8"):
        read(path)


def test_minus_zero_is_zero(path: Path) -> None:
    path.write_text("http://a.example/ -0.0\nhttp://b.example/ 1\n")
    assert math.copysign(1, read_weights(path)[0].weight) == 1


def test_no_page_need_be_relevant(path: Path) -> None:
    path.write_text("http://a.example/ 0\nhttp://b.example/ 0\n")
    assert [line.weight for line in read_relevance(path)] == [0.0, 0.0]
    path.write_text("# none\n")
    with pytest.raises(BadInput, match="no pages"):
        read_relevance(path)


def test_weights_that_are_wrong_together(path: Path) -> None:
    assert "all 0" in refused(path, b"http://a.example/ 0\nhttp://b.example/ -0\n").found
    error = refused(path, b"http://a.example/ 1e308\nhttp://b.example/ 1.1e308\n")
    assert (error.where, "sum" in error.found) == (f"{path}, line 2", True)


@pytest.mark.parametrize("content", [b"", BOM, b"\n \n", b"# http://a.example/ 1\n"])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_file_without_pages(content: bytes, weighted: bool, path: Path) -> None:
    assert refused(path, content, weighted).found == "no pages"


def test_what_is_no_file(tmp_path: Path) -> None:
    for path, what in ((tmp_path, "a folder"), (tmp_path / "none", "no such file")):
        with pytest.raises(BadInput) as caught:
            read_weights(path)
        assert what in caught.value.found


def test_the_same_line_twice_counts_once(path: Path) -> None:
    path.write_text("http://a.example/ 2\nhttp://b.example/ 1\nhttp://a.example/\t2.0\n")
    assert [line.line for line in read_weights(path)] == [1, 2]


def test_a_page_with_two_weights(path: Path) -> None:
    error = refused(path, b"http://a.example/ 2\n\nhttp://a.example/ 3\n")
    assert error.where == f"{path}, line 3"
    assert error.found == "the weight 3 of a page that has 2 in line 1"


def test_seeds_weigh_one_each(path: Path) -> None:
    path.write_bytes(BOM + b"http://a.example/\r\n# x\r\ncom,b)/c,3\r\nhttp://a.example/ # y\r\n")
    seeds = [WeightLine(1, "http://a.example/", 1.0), WeightLine(3, "com,b)/c,3", 1.0)]
    assert read_seeds(path) == seeds
    assert refused(path, b"http://a.example/ 2\n", weighted=False).found == "2 columns"


def test_seeds_of_heritrix(path: Path) -> None:
    """What TextSeedModule of Heritrix 3.13 makes of such lines, by its source."""
    path.write_bytes(
        BOM + b"# Heritrix added seed\r\n\r\n"
        b"archive.org\r\n"  # 3
        b"  a.example:8080/x#part # a note\r\n"  # 4
        b"http://b.example#c d\r\n"  # 5: the word ends where a comment can begin
        b"HTTP://C.example:80/a b\r\n"  # 6: no entry at all
        b"+http://(org,archive,\r\n-x\r\n"  # 7, 8
        b"localhost:8080/x\r\n"  # 9: localhost is a scheme
        b"dns:archive.org\r\nftp://a.example/\r\n"  # 10, 11
        b"https://D.example/\xc3\xa9\r\n"  # 12
        b"http://archive.org/\r\n"  # 13, as line 3
        b"10.0.0.1\r\n"  # 14
    )
    pages = {line.line: line.page for line in read_heritrix_seeds(path)}
    assert pages == {
        3: "http://archive.org/", 4: "http://a.example:8080/x", 5: "http://b.example/",
        12: "https://d.example/%C3%A9", 14: "http://10.0.0.1/",
    }  # fmt: skip


def test_directives_alone_are_no_seeds(path: Path) -> None:
    path.write_text("+http://(org,archive,\n")
    with pytest.raises(BadInput, match="no seeds"):
        read_heritrix_seeds(path)
