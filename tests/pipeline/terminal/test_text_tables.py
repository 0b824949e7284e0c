"""Tables of any contents on terminals of any width, and in pipes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from crawlrank.pipeline.terminal import TextTable
from crawlrank.pipeline.terminal.text import cut_apart, middle_cut, wrapped

LONG = "http://host.example/" + "folder/" * 280  # some 2,000 characters
WIDTHS = (80, 120, 200)
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60)
counts = st.integers(0, 10**12)


def table_of(rows: list[tuple[int, str, str, int]]) -> TextTable:
    table = TextTable("made", ">count", "URI", "~which is", ">links of all kinds")
    for row in rows:
        table.add(*row)
    return table


@given(st.lists(st.tuples(counts, texts, texts, counts), min_size=1), st.sampled_from(WIDTHS))
def test_no_line_is_wider_than_the_terminal_and_none_ends_with_blanks(
    rows: list[tuple[int, str, str, int]], width: int
) -> None:
    lines = list(table_of(rows).lines(width))
    assert max(map(cell_len, lines)) <= width
    assert not [line for line in lines if line != line.rstrip()]
    shown = " ".join(lines)
    assert all(f"{count:,}" in shown for row in rows for count in (row[0], row[3]))


@given(st.lists(st.tuples(counts, texts, texts, counts), min_size=1))
def test_a_pipe_has_a_line_for_each_row_with_whole_values(
    rows: list[tuple[int, str, str, int]],
) -> None:
    table = table_of(rows)
    lines = list(table.lines(None))
    assert len(lines) == 2 + len(rows)
    for line, cells in zip(lines[2:], table.rows, strict=True):
        assert line == line.rstrip()
        assert all(cell.rstrip() in line for cell in cells)


@given(st.sets(st.text("abc/", max_size=90), max_size=30), st.integers(12, 60))
def test_different_texts_look_different(made: set[str], room: int) -> None:
    shown = cut_apart(made, room)
    assert len(set(shown.values())) == len(made)
    assert all(cell_len(text) <= room for text in shown.values())


def test_uris_that_differ_far_inside_show_where() -> None:
    uris = [f"{LONG}{number}/{'x' * 900}" for number in range(30)]
    for width in WIDTHS:
        table = TextTable("made", ">score", "URI")
        for uri in uris:
            table.add("0.1", uri)
        rows = list(table.lines(width))[2:]
        assert len(set(rows)) == len(uris)
        for number, row in enumerate(rows):
            assert row.startswith("  0.1  http://host.example/"[:20])
            assert f"/{number}/xxx" in row


def test_a_single_long_uri_keeps_its_host_and_its_end() -> None:
    shown = middle_cut(f"{LONG}last.html", 40)
    assert len(shown) == 40
    assert shown.startswith("http://host.example/")
    assert shown.endswith("/last.html")


def test_more_numbers_than_fit_stand_in_blocks_that_name_their_rows() -> None:
    table = TextTable("sites", ">", "site", *(f">count of kind {number}" for number in range(30)))
    values = [10**9 + number for number in range(30)]
    table.add(1, "a.example", *values)
    table.add(2, "b.example", *values)
    lines = list(table.lines(80))
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines if "example" in line]
    numbers = [word for words in rows for word in words[2:] if words[1] == "a.example"]
    assert numbers == [f"{value:,}" for value in values]
    assert {tuple(words[:2]) for words in rows} == {("1", "a.example"), ("2", "b.example")}


def test_the_folder_that_paths_share_is_in_the_title_of_a_terminal_alone() -> None:
    paths = [f"/data/crawls/of a site/{'deep/' * 40}{number}.warc.gz" for number in range(3)]
    table = TextTable("archives (3)", "/archive", ">links")
    for path in paths:
        table.add(path, 7)
    piped, shown = list(table.lines(None)), list(table.lines(80))
    assert [line.partition("  ")[0] for line in piped[2:]] == paths
    assert [line.split() for line in shown[-3:]] == [[f"{n}.warc.gz", "7"] for n in range(3)]
    assert " ".join(shown).startswith("archives (3) in /data/crawls/of a site/")


def test_sentences_are_wrapped_between_words_and_keep_their_indentation() -> None:
    text = "  of them fetched after a later class, which is late"
    lines = wrapped(text, 20)
    assert max(map(len, lines)) <= 20
    assert all(re.match(r"  \S", line) for line in lines)
    assert " ".join(line.strip() for line in lines) == text.strip()


def test_what_could_control_a_terminal_is_shown_as_escapes() -> None:
    table = TextTable("a\x1b[31m title", "URI")
    table.add("http://a.example/\x1b]0;x\x07\n[bold]")
    for width in (None, 80):
        assert list(table.lines(width)) == [
            "a\\x1b[31m title",
            "URI",
            "http://a.example/\\x1b]0;x\\x07\\n[bold]",
        ]


@pytest.mark.parametrize("width", [None, 80])
def test_columns_without_a_word_are_left_out(width: int | None) -> None:
    """Columns of numbers stay, because an empty one says that there is none; the first names the
    rows."""
    table = TextTable("title", "name", ">count", "example", "~which is", "=kind")
    table.add("", None, "", None, "")
    table.add("", None)
    table.note("a note")
    assert list(table.lines(width)) == ["title", "name  count  kind", "", "", "a note"]
    assert [column.name for column in table.columns[2:4]] == ["example", "which is"]
    table.add("a", 1, None, "prose")
    shown = "\n".join(table.lines(width))
    assert "which is" in shown and "prose" in shown and "example" not in shown
