"""Lines: what is written is read back, and what is no line is told apart with its reason."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.jobs.kernel.errors import BadLine
from crawlrank.jobs.kernel.formats import lines
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture, GraphLine, Link, UriRow

TEXT = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1).map(str.encode)
IDS = st.integers(0, 10**18 - 1).map(lambda number: b"%d" % number)
COUNTS = st.integers(0, 10**18 - 1)
TIMESTAMPS = st.one_of(st.just(b"-"), st.from_regex(rb"\A[0-9]{14}\Z"))
SCORES = st.floats(min_value=0, exclude_min=True, allow_nan=False, allow_infinity=False)


HOPS = st.sampled_from(sorted(lines.COUNTED.values()))
KINDS = st.lists(st.sampled_from([b"-", b"//", b"/", b"0.1", b"12.34", b"?", b"#"]), min_size=1)


@given(st.builds(Link, TEXT, TEXT, HOPS, TIMESTAMPS, KINDS.map(b",".join)))
def test_links_come_back(row: Link) -> None:
    assert lines.parse_link(lines.format_link(row)) == row


UNTITLED = st.just(UNKNOWN)


@given(st.builds(Capture, TEXT, TIMESTAMPS, *[TEXT] * 11, TIMESTAMPS, TIMESTAMPS, TEXT, UNTITLED))
def test_captures_come_back(row: Capture) -> None:
    assert lines.parse_capture(lines.format_capture(row, validators=True)) == row
    titled = row._replace(title=b"two words")
    assert lines.parse_capture(lines.format_capture(titled, titles=True)) == titled
    row = row._replace(modified=b"-", etag=b"-")
    assert lines.parse_capture(lines.format_capture(row)) == row


@given(st.builds(UriRow, TEXT, TEXT, COUNTS, COUNTS, TIMESTAMPS))
def test_uri_rows_come_back(row: UriRow) -> None:
    assert lines.parse_uri_row(lines.format_uri_row(row)) == row


@given(IDS, SCORES.filter(lambda score: score <= 1e18), st.lists(IDS, min_size=1, unique=True))
def test_graph_lines_come_back_with_every_bit_of_the_score(
    node: bytes, score: float, targets: list[bytes]
) -> None:
    row = GraphLine(node, score, [target for target in targets if target != node] or [b"dummy"])
    again = lines.parse_graph_line(lines.format_graph_line(row))
    assert again == row
    assert math.copysign(1, again.score) == 1


@pytest.mark.parametrize("blank", [b" ", b"\t"])
def test_one_blank_or_one_tab_separates(blank: bytes) -> None:
    link = Link(b"http://a/", b"http://b/", b"L")
    assert lines.parse_link(b"http://a/%shttp://b/" % blank) == link
    assert lines.parse_link(b"http://a/%shttp://b/%sR" % (blank, blank)).hop == b"R"
    assert lines.parse_link(b"http://a/%shttp://b/%sM" % (blank, blank)).hop == b"L"
    assert lines.parse_link(b"http://a/%shttp://b/%sS" % (blank, blank)).hop == b"S"
    assert lines.parse_canonical_link(b"a)/%sb)/" % blank) == (b"a)/", b"b)/")
    assert lines.parse_input_link(b"0%sa)/%sb)/" % (blank, blank)) == (b"0", b"a)/", b"b)/")
    assert lines.parse_map_row(b"17%sa)/" % blank) == (b"17", b"a)/")


def test_graph_lines_as_the_notes_write_them() -> None:
    row = GraphLine(b"1", 1.0, [b"2", b"30"])
    assert lines.parse_graph_line(b"1     1.0     O:2, 30") == row
    assert lines.parse_graph_line(b"1\t1.0 \tO:2,\t30  ") == row
    assert lines.parse_graph_line(b"dummy  1e0 O:dummy") == (b"dummy", 1.0, [b"dummy"])


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (b"0.5\thttp://A/\ta)/", (0.5, b"http://A/", b"a)/")),
        (b"2\thttp://www.example.com/", (2.0, b"http://www.example.com/", b"com,example)/")),
        (b"0.5\thttp://A/\ta)/\t0\t1\t2\t3\t-", (0.5, b"http://A/", b"a)/")),
    ],
)
def test_scores_of_two_three_and_eight_columns(line: bytes, row: tuple[object, ...]) -> None:
    assert lines.parse_score_row(line) == row


LINK = "`target source hop`"
GRAPH = "`id<TAB>score<TAB>targets` (targets: `O:id,id,…` or `O:dummy`)"
Case = tuple[Callable[[bytes], object], bytes, str, str]
BAD: list[Case] = [
    (lines.parse_link, b"", "an empty line", LINK),
    (lines.parse_link, b"http://a/", "'http://a/'", LINK),
    (lines.parse_link, b"http://a/  http://b/", "'http://a/  http://b/'", LINK),
    (lines.parse_link, b"http://a/\t\thttp://b/", "'http://a/\\t\\thttp://b/'", LINK),
    (lines.parse_link, b"http://a/ http://b/ ", "'http://a/ http://b/ '", LINK),
    (lines.parse_link, b"http://a/\thttp://b/ x", "'http://a/\\thttp://b/ x'", LINK),
    (lines.parse_link, b"a b L - / x", "'a b L - / x'", LINK),
    (lines.parse_link, b"a b L - x", "kinds of references 'x'", "`-`, `//`, `/`"),
    (lines.parse_link, b"a b L - /,", "kinds of references '/,'", "`-`, `//`, `/`"),
    (lines.parse_link, b"a b L x", "timestamp 'x'", "14 digits or `-`"),
    (lines.parse_link, b"a b l", "hop 'l'", "one of L, R, E, X, M, I, P, S, C"),
    (lines.parse_link, b"a b LE", "hop 'LE'", "one of L, R, E, X, M, I, P, S, C"),
    (lines.parse_link, b"a\x1b[2J b", "a control character in 'a\\x1b[2J b'", LINK),
    (lines.parse_link, b"a\xc2\x9b2J b", "a control character in", LINK),
    (lines.parse_link, b"a\r b", "a control character in 'a\\r b'", LINK),
    (lines.parse_capture, b"a\tb", "'a\\tb'", "10 columns with tabs"),
    (lines.parse_capture, b"a\t2024\t-\t-\t-\t-\t-\t-", "timestamp '2024'", "14 digits or `-`"),
    (lines.parse_capture, b"a\t-\t-\t\t-\t-\t-\t-", "'a\\t-\\t-\\t\\t-", "10 columns with tabs"),
    (lines.parse_canonical_link, b"a", "'a'", "`target_key source_key`"),
    (lines.parse_canonical_link, b"a b c", "'a b c'", "`target_key source_key`"),
    (lines.parse_uri_row, b"k\tu\t1\t2", "'k\\tu\\t1\\t2'", "5 columns with tabs"),
    (lines.parse_uri_row, b"k\tu\t-1\t2\t-", "'k\\tu\\t-1\\t2\\t-'", "5 columns with tabs"),
    (lines.parse_uri_row, b"k\tu\t1\t2\tnow", "'k\\tu\\t1\\t2\\tnow'", "5 columns with tabs"),
    (lines.parse_input_link, b"1 a", "'1 a'", "`id target_key source_key`"),
    (lines.parse_input_link, b"01 a b", "id '01' in '01 a b'", "`id target_key source_key`"),
    (lines.parse_input_link, b"-1 a b", "id '-1' in", "`id target_key source_key`"),
    (lines.parse_map_row, b"x a", "id 'x' in 'x a'", "`id key`"),
    (lines.parse_map_row, b"1" * 19 + b" a", "id '1111111111111111111' in", "`id key`"),
    (lines.parse_canonical_link, b"a b\xff", "key 'b\\ufffd'", "printable ASCII"),
    (lines.parse_uri_row, b"\xc3\xa9\tu\t1\t2\t-", "key '\\xe9'", "printable ASCII"),
    (lines.parse_input_link, b"1 a\xff b", "key 'a\\ufffd'", "printable ASCII"),
    (lines.parse_input_link, b"1 a b\xff", "key 'b\\ufffd'", "printable ASCII"),
    (lines.parse_map_row, b"1 a\xff", "key 'a\\ufffd'", "printable ASCII"),
    (lines.parse_graph_line, b"", "an empty line", GRAPH),
    (lines.parse_graph_line, b"1\t1.0", "'1\\t1.0'", GRAPH),
    (lines.parse_graph_line, b"a\t1.0\tO:1", "'a\\t1.0\\tO:1'", GRAPH),
    (lines.parse_graph_line, b"1\t1.0\tO:", "target '' of id 1", GRAPH),
    (lines.parse_graph_line, b"1\t1.0\tO:2,,3", "target '' of id 1", GRAPH),
    (lines.parse_graph_line, b"1\t1.0\tO:2 3", "target '2 3' of id 1", GRAPH),
    (lines.parse_graph_line, b"1\t1.0\tO:02", "target '02' of id 1", GRAPH),
    (lines.parse_graph_line, b"01\t1.0\tO:2", "id 01", "at most 18 digits, no leading zero"),
    (lines.parse_graph_line, b"1" * 300 + b"\t1.0\tO:2", "id " + "1" * 20, "at most 18 digits"),
    (lines.parse_graph_line, b"1\tone\tO:2", "score 'one' of id '1'", "a number of at least 0"),
    (lines.parse_graph_line, b"1\tnan\tO:2", "score 'nan' of id '1'", "a number of at least 0"),
    (lines.parse_graph_line, b"1\t-1.0\tO:2", "score '-1.0' of id '1'", "a number of at least 0"),
    (
        lines.parse_graph_line,
        b"1\t1e999\tO:2",
        "score inf of id 1",
        "a finite number of at least 0",
    ),
    (
        lines.parse_graph_line,
        b"1\t1e308\tO:2",
        "score 1e+308 of id 1",
        "a finite number of at least 0, at",
    ),
    (lines.parse_graph_line, b"dummy\t1.0\tO:1", "dummy with targets", "O:dummy alone"),
    (lines.parse_graph_line, b"1\t1.0\tO:2,dummy", "dummy beside other targets of id 1", "O:dummy"),
    (lines.parse_graph_line, b"1\t1.0\tO:2,1", "id 1 as a target of itself", "no self-loop"),
    (lines.parse_graph_line, b"1\t1.0\tO:2,2", "a target of id 1 twice", "every target once"),
    (lines.parse_score_row, b"1.0", "'1.0'", "`score<TAB>uri<TAB>key`"),
    (lines.parse_score_row, b"1\thttp://a/\ta\xff", "key 'a\\ufffd'", "printable ASCII"),
    (lines.parse_score_row, b"1e999\thttp://a/", "score inf", "a finite number of at least 0"),
    (lines.parse_score_row, b"-1\thttp://a/", "score '-1'", "a number of at least 0"),
    (lines.parse_score_row, b"x\thttp://a/", "score 'x'", "a number of at least 0"),
    (
        lines.parse_score_row,
        b"1\thttp://a:b/",
        "URI 'http://a:b/'",
        "an absolute http or https URI",
    ),
]


@pytest.mark.parametrize(("parse", "line", "found", "expected"), BAD)
def test_a_line_that_is_none(
    parse: Callable[[bytes], object], line: bytes, found: str, expected: str
) -> None:
    with pytest.raises(BadLine) as refused:
        parse(line)
    assert refused.value.found.startswith(found)
    assert refused.value.expected.startswith(expected)


def test_a_long_line_is_cut_in_the_message() -> None:
    with pytest.raises(BadLine) as refused:
        lines.parse_canonical_link(b"x" * 10_000)
    assert refused.value.found == "'" + "x" * 80 + "'…"


@given(st.binary(max_size=60))
def test_parsers_raise_nothing_else_and_messages_are_printable(line: bytes) -> None:
    for parse in (
        lines.parse_link,
        lines.parse_capture,
        lines.parse_canonical_link,
        lines.parse_uri_row,
        lines.parse_input_link,
        lines.parse_map_row,
        lines.parse_graph_line,
        lines.parse_score_row,
    ):
        try:
            row = parse(line)
        except BadLine as error:
            assert str(error).isprintable()
        else:
            assert all(field for field in row if isinstance(field, bytes))
