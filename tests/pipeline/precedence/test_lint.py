"""The checker of precedence files: its verdict is the loader's, its cures are true."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.heritrix_cases import LINT_TXT, Case, written
from support.paths import HERITRIX

from crawlrank.jobs.kernel.keys.heritrix_form import heritrix_form, lookup_key
from crawlrank.pipeline.precedence import lint as module
from crawlrank.pipeline.precedence.heritrix_loader import (
    MAX_LINE,
    LoaderFails,
    load,
    read_entry,
    read_lines,
)
from crawlrank.pipeline.precedence.lint import PROBLEMS, Finding, LintSummary, lint

GOOD = "http://h.example/a 5"

# (a line, its problems in order, what one cure says)
LINES = [
    (GOOD, [], ""),
    ("http://h.example/a\t5", [], ""),
    ("https://u:p@h.example:8080/a?b=c 125", [], ""),
    ("http://h.example/a  5", ["double separator"], "one blank"),
    ("http://h.example/a\t 5", ["double separator"], "one blank"),
    ("", ["blank line"], "Remove"),
    (" \t", ["blank line"], "Remove"),
    ("# comment", ["comment"], "no comments"),
    ("#comment", ["comment"], "no comments"),
    ("# 7 pages", ["comment that loads"], "no comments"),
    (" http://h.example/a 5", ["blank at the start"], "Start"),
    (" 5", ["no URI"], "Start"),
    ("\ufeffhttp://h.example/a 5", ["byte order mark"], "without"),
    ("http://h.example/a", ["no precedence"], "a number after"),
    ("http://h.example/a ", ["no precedence"], "a number after"),
    ("http://h.example/a\xa05", ["separator that is none"], "plain blank"),
    ("http://h.example/a\u30005", ["separator that is none"], "plain blank"),
    ("http://h.example/a b 5", ["blank in the URI"], "%20"),
    ("http://h.example/a 5 b", ["third column"], "two columns"),
    ("http://h.example/a 5 7", ["third column"], "two columns"),
    ("http://h.example/a 5 ", ["blank at the end"], "Remove"),
    ("http://h.example/a 5.0", ["no integer"], "whole number"),
    ("http://h.example/a 1e1", ["no integer"], "whole number"),
    ("http://h.example/a high", ["no integer"], "whole number"),
    ("http://h.example/a 2147483648", ["number too large"], "whole number"),
    ("http://h.example/a +5", ["number in another spelling"], "Write 5"),
    ("http://h.example/a 007", ["number in another spelling"], "Write 7"),
    ("http://h.example/a \uff15", ["number in another spelling"], "Write 5"),
    ("http://h.example/a 0", ["zero"], "1 to 125"),
    ("http://h.example/a -1", ["minus one"], "1 to 125"),
    ("http://h.example/a -3", ["negative"], "1 to 125"),
    ("http://h.example/a 126", ["tie"], "1 to 125"),
    ("http://h.example/a 250", ["tie"], "1 to 125"),
    ("http://h.example/a 251", ["stalls the crawl"], "1 to 125"),
    ("http://h.example 5", ["no slash after the host"], "Write http://h.example/"),
    ("http://h.example?a 5", ["no slash after the host"], "Write http://h.example/?a"),
    ("http://h.example/a#top 5", ["fragment"], "Write http://h.example/a"),
    ("HTTP://h.example/A 5", ["upper case"], "Write http://h.example/A"),
    ("http://H.Example/A 5", ["upper case"], "Write http://h.example/A"),
    ("http://U:P@H.example/ 5", ["upper case"], "Write http://U:P@h.example/"),
    ("http://h.example:80/a 5", ["default port"], "Write http://h.example/a"),
    ("https://h.example:443/a 5", ["default port"], "Write https://h.example/a"),
    ("https://h.example:80/a 5", [], ""),
    ("http://h.example/b/../a 5", ["not in Heritrix form"], "Write http://h.example/a"),
    ("http://h.example./a 5", ["not in Heritrix form"], "Write http://h.example/a"),
    ("http://h.example/a? 5", ["not in Heritrix form"], "Write http://h.example/a"),
    ("http://h.example/a[1] 5", ["not in Heritrix form"], "Write http://h.example/a%5B1%5D"),
    ("http://h.example/caf\xe9 5", ["not ASCII"], "Write http://h.example/caf%C3%A9"),
    *(
        (f"http://h.example/a{separator}b 5", ["not ASCII"], f"Write http://h.example/a{escaped}b")
        for separator, escaped in (
            ("\x85", "%C2%85"),
            ("\u2028", "%E2%80%A8"),
            ("\u2029", "%E2%80%A9"),
        )
    ),
    ("http://a\x85b.example/ 5", ["rejected"], "Remove the line"),
    ("http://b\xfccher.example/ 5", ["not ASCII"], "Write http://xn--bcher-kva.example/"),
    ("http://h.example/a\0b 5", ["control character"], "Write http://h.example/a%00b"),
    ("http://[::1]:8080/a 5", ["rejected"], "Remove"),
    ("http://h.example:0/ 5", ["rejected"], "Remove"),
    ("h.example/a 5", ["no scheme"], "Write http://h.example/a"),
    ("h.example:8080/a 5", ["no scheme"], "Write http://h.example:8080/a"),
    ("nothing 5", ["no slash after the host"], "Write http://nothing/"),
    ("localhost:8080/a 5", ["port taken for a path"], "Write http://localhost:8080/a"),
    ("dns:h.example 5", ["other scheme"], "crawl.log"),
    ("ftp://h.example/ 5", ["other scheme"], "crawl.log"),
    (
        "http://H.example/a +300 x",
        ["upper case", "stalls the crawl", "number in another spelling", "third column"],
        "Write 300",
    ),
]


def problems(source: bytes | Path) -> list[str]:
    return [found.problem for found in lint(source)]


@pytest.mark.parametrize(("line", "expected", "cure"), LINES, ids=lambda value: ascii(value)[:40])
def test_each_problem_is_found(line: str, expected: list[str], cure: str) -> None:
    findings = list(lint(f"{line}\n".encode()))
    assert [found.problem for found in findings] == expected
    assert cure in " ".join(found.cure for found in findings)
    assert all(found.line == 1 for found in findings)


def test_every_problem_of_the_table_is_tested() -> None:
    of_files = {"not loaded", "empty file", "damaged", "gzip without .gz", "carriage return"}
    of_files |= {"duplicate", "not UTF-8", "line too long"}
    assert {name for _, names, _ in LINES for name in names} | of_files == set(PROBLEMS)


@pytest.mark.parametrize(("line", "expected", "cure"), LINES, ids=lambda value: ascii(value)[:40])
def test_a_cure_with_a_form_cures(line: str, expected: list[str], cure: str) -> None:
    for found in lint(f"{line}\n".encode()):
        if found.cure.startswith("Write http"):
            assert problems(found.cure.removeprefix("Write ").encode() + b" 5\n") == []


@pytest.mark.parametrize("case", LINT_TXT, ids=lambda case: case.name)
def test_the_verdict_is_the_loaders(case: Case, tmp_path: Path) -> None:
    summary = LintSummary()
    found = list(lint(written(case.name, case.file, tmp_path), summary))
    assert summary.accepted == (not case.exception)
    if summary.accepted:
        assert summary.entries == summary.lines == case.entries
    else:
        assert summary.errors
    assert len(found) == summary.errors + summary.warnings == sum(summary.problems.values())
    # no finding: every key is one that a crawl asks for
    if not found:
        assert all("#" not in key and "HTTP" not in key for key in case.stored)


@given(st.lists(st.sampled_from([line for line, _, _ in LINES]), max_size=5))
def test_the_verdict_on_mixed_lines_is_the_loaders(lines: list[str]) -> None:
    source = "\n".join(lines).encode()
    summary = LintSummary()
    list(lint(source, summary))
    try:
        load(source)
        assert summary.accepted
    except LoaderFails:
        assert not summary.accepted
    assert summary.lines == len(list(read_lines(source)))


@pytest.mark.slow
@given(st.sampled_from([line for line, _, _ in LINES]) | st.text(max_size=20))
def test_the_short_cut_agrees_with_the_model(line: str) -> None:
    if good := module._good_entry(line):
        assert read_entry(line) == good
        assert lookup_key(heritrix_form(good.uri)) == good.key


# ---- what concerns the whole file ------------------------------------------------------------


def test_duplicates_name_both_lines_and_the_last_wins() -> None:
    source = b"http://h.example/a 5\nhttp://h.example/b 1\nh.example/a 9\nhttp://h.example/a 7\n"
    found = [finding for finding in lint(source) if finding.problem == "duplicate"]
    assert [(finding.line, finding.text) for finding in found] == [
        (3, "precedence 9; line 1 has 5"),
        (4, "precedence 7; line 3 has 9"),
    ]
    assert load(source)["http://(example,h,)/a"] == 7


def test_duplicates_among_many() -> None:
    lines = [b"http://h.example/%d 5" % (number % 9000) for number in range(10_000)]
    found = list(lint(b"\n".join(lines)))
    assert [finding.line for finding in found] == list(range(9001, 10_001))
    assert found[0].cure == "Keep this line or line 1."


def test_missing_file_folder_and_empty_file(tmp_path: Path) -> None:
    summary = LintSummary()
    (found,) = lint(tmp_path / "none.txt", summary)
    assert (found.problem, found.line, summary.accepted) == ("not loaded", 0, False)
    assert problems(tmp_path) == ["not loaded"]
    assert problems(b"") == ["empty file"]


def test_gzip_by_name(tmp_path: Path) -> None:
    packed = gzip.compress(f"{GOOD}\n".encode(), mtime=0)  # times may look like ends of lines
    for name, expected in (("a.gz", []), ("a.GZ", []), ("a.txt", ["gzip without .gz"])):
        (tmp_path / name).write_bytes(packed)
        assert problems(tmp_path / name)[:1] == expected
    (tmp_path / "plain.gz").write_text(GOOD)
    assert problems(tmp_path / "plain.gz") == ["not loaded"]
    (tmp_path / "clipped.gz").write_bytes(packed[:-12])
    summary = LintSummary()
    assert "damaged" in [found.problem for found in lint(tmp_path / "clipped.gz", summary)]
    assert summary.accepted  # the loader reports success


def test_carriage_returns_are_reported_once() -> None:
    assert problems(b"http://h.example/a 5\r\nhttp://h.example/b 5\r\n") == ["carriage return"]
    assert problems(b"http://h.example/a 5\rhttp://h.example/b 5\r") == ["carriage return"]


def test_bytes_that_are_not_utf_8() -> None:
    assert problems(b"http://h.example/caf\xe9 5\n") == ["not UTF-8"]
    assert problems(b"http://caf\xe9.example/ 5\n") == ["not UTF-8"]


def test_byte_order_marks_of_files_put_together() -> None:
    assert problems(f"{GOOD}\n\ufeffhttp://h.example/b 5\n".encode()) == ["byte order mark"]


def test_heritrix_own_files_are_clean() -> None:
    assert problems(HERITRIX / "prec.txt") == []
    summary = LintSummary()
    list(lint(HERITRIX / "precedence2-selftest-rank.txt", summary))
    assert summary.accepted


# ---- hostile text ----------------------------------------------------------------------------


@pytest.mark.slow
@given(
    st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace"))
)
def test_nothing_but_printable_ascii_is_shown(source: bytes) -> None:
    for found in lint(source):
        for text in (found.text, found.consequence, found.cure, found.problem):
            assert re.fullmatch("[ -~]*", text)


def test_long_lines_are_shown_in_part() -> None:
    (found,) = lint(b"http://h.example/" + b"a" * 5000 + b" 5\n")
    assert found.problem == "rejected"
    assert len(found.text) < 120
    assert problems(b"http://h.example/" + b"a" * (MAX_LINE + 1)) == ["line too long"]
    (found,) = lint(b"#" + b"a" * 50_000 + b" 5\n")
    assert len(found.consequence) < 2200


def test_a_finding_is_a_value() -> None:
    (found,) = lint(b"http://H.example/ 5\n")
    assert isinstance(found, Finding)
    assert found.severity == "error"
    assert found == next(lint(b"http://H.example/ 5\n"))
