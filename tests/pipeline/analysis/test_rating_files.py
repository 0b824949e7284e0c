"""Files of ratings: what is read, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.analysis.compare.rating_files import Rating, read_ratings, table_of

BOM = b"\xef\xbb\xbf"
HEADER = "page,rater,rating\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("start", [b"", BOM])
def test_a_file_with_all_that_it_may_have(start: bytes, end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    lines = [
        b"Rating , page,RATER", b"", b'4,"http://a.example/?x=1,2",Anne', b"1, b.example , Bob",
        '2,"com,c)/""x""","Éve, the second"'.encode(), b",,", b"4,b.example,Anne",
    ]  # fmt: skip
    path.write_bytes(start + end.join(lines))
    assert read_ratings(path) == [
        Rating(3, "http://a.example/?x=1,2", "Anne", 4), Rating(4, "b.example", "Bob", 1),
        Rating(5, 'com,c)/"x"', "Éve, the second", 2), Rating(7, "b.example", "Anne", 4),
    ]  # fmt: skip


def test_the_table() -> None:
    rows = [Rating(2, "b", "z", 4), Rating(3, "a", "z", 1), Rating(4, "b", "y", 3)]
    table = table_of(rows)
    assert (table.pages, table.raters) == (("a", "b"), ("y", "z"))
    assert table.given.tolist() == [[0, 1], [3, 4]]


@pytest.mark.parametrize(
    ("content", "line", "what", "cure"),
    [
        ("page;rater;rating\na;b;1\n", 1, "semicolons", "commas"),
        ("page\trater\trating\n", 1, "tabs", "commas"),
        (HEADER + "a;b;1\n", 2, "semicolons", "commas"),
        ("http://a.example/,Anne,4\n", 1, "the column http://a.example/", "first line"),
        ("page,rater,rating,note\n", 1, "the column note", "leave other"),
        ("page,rater,rating,\n", 1, "the column without a name", "leave other"),
        ("page,rater\n", 1, "no column rating", "first line"),
        ("page,rater,rating,page\n", 1, "the column page twice", "leave other"),
        (HEADER + "a,b\n", 2, "2 fields", "Quote"),
        (HEADER + "com,a)/,b,3\n", 2, "4 fields", "Quote"),
        (HEADER + '"a,b,3\n', 2, "no row of CSV", "quote"),
        (HEADER + '"a"x,b,3\n', 2, "no row of CSV", "quote"),
        (HEADER + ",b,3\n", 2, "no page", "Add"), (HEADER + "a, ,3\n", 2, "no rater", "Add"),
        *((HEADER + f"\na,b,{rating}\n", 3, f"the rating {rating}", "Leave")
          for rating in ("0", "5", "-1", "2.5", "4.0", "nan", "٣", "1_0", "good")),
        (HEADER + "a,b,\n", 2, "the rating is empty", "Leave"),
        (HEADER + "a,b,1\nc,b,1\na,b,1\n", 4, "of a by b, after that in line 2", "Leave"),
        (HEADER + "a\0,b,1\n", 2, "0x00", "UTF-8"),
    ],
)  # fmt: skip
def test_what_is_refused(content: str, line: int, what: str, cure: str, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(content)
    with pytest.raises(BadInput) as caught:
        read_ratings(path)
    assert caught.value.where == f"{path}, line {line}"
    assert what in caught.value.found
    assert caught.value.expected and cure in caught.value.cure


@pytest.mark.parametrize("content", ["", HEADER, "\n\n" + HEADER + "\n,,\n"])
def test_a_file_without_ratings(content: str, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(content)
    with pytest.raises(BadInput, match="no ratings"):
        read_ratings(path)
