"""Checks a precedence file against what Heritrix's PrecedenceLoader does with it.

A line is judged by the model of the loader (heritrix_loader.py) and by the form of its URI
(jobs/kernel/keys/heritrix_form.py). An error is a file that does not load, or a line without the
effect that it seems to have. A warning is a line that works, but perhaps not as intended.

The table of problems says what each means for Heritrix, and what to do about it.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from crawlrank.jobs.kernel.keys.heritrix_form import (
    MAX_LENGTH,
    HeritrixRejects,
    heritrix_form,
    java_int,
    lookup_key,
)
from crawlrank.pipeline.precedence.heritrix_loader import (
    BreaksOff,
    HistoryEntry,
    Line,
    LoaderFails,
    LoaderSource,
    load,
    pieces_of,
    read_entry,
    read_lines,
    with_scheme,
)

__all__ = ["Finding", "LintSummary", "lint", "load"]

LAST_CLASS = 125  # with the bean's base of 1, the last precedence that is no tie
LAST_CRAWLED = 250  # above, a queue can reach Heritrix's floor of 255 and stall the crawl


@dataclass
class LintSummary:
    """What the loader makes of a file; `lint` fills it line by line.

    lines: all lines. entries: those that load on their own. accepted: whether the loader reaches
    the end; if not, it stores nothing. problems: number of findings by problem.
    """

    lines: int = 0
    entries: int = 0
    accepted: bool = True
    errors: int = 0
    warnings: int = 0
    problems: Counter[str] = field(default_factory=Counter)

    def note(self, problem: Finding) -> None:
        self.problems[problem.problem] += 1
        if problem.severity == "error":
            self.errors += 1
        else:
            self.warnings += 1


def lint(source: LoaderSource, summary: LintSummary | None = None) -> Iterator[Finding]:
    """The findings, in the order of the lines; duplicates, found by sorting, come last.

    source: a path, or the bytes of a plain file. summary: complete at the end. The file is read
    once; memory: 20 bytes a line, about 60 while they are sorted. A missing or empty file is a
    finding, not an exception.
    """
    summary = LintSummary() if summary is None else summary
    for problem in _findings(source, summary):
        summary.note(problem)
        yield problem


def _findings(source: LoaderSource, summary: LintSummary) -> Iterator[Finding]:
    seen = _Seen()
    try:
        for line in read_lines(source):
            summary.lines += 1
            yield from _line_findings(line, summary, seen)
    except LoaderFails as error:
        summary.accepted = False
        problem = "line too long" if error.line else "not loaded"
        yield finding(problem, error.line, detail=error.exception)
        return
    except BreaksOff as error:
        yield finding("damaged", summary.lines, detail=str(error))
    if not summary.lines:
        yield finding("empty file", 0)
    yield from seen.duplicates()


def _line_findings(line: Line, summary: LintSummary, seen: _Seen) -> Iterator[Finding]:
    if line.end.startswith("\r") and not seen.carriage_return:
        seen.carriage_return = True
        yield finding("carriage return", line.number, line.text)
    entry, findings = examine(line)
    if entry is None:
        summary.accepted = False
    else:
        summary.entries += 1
        seen.add(line.number, entry)
    yield from findings


def examine(line: Line) -> tuple[HistoryEntry | None, list[Finding]]:
    """The entry of a line, None if the line ends the loader, and the findings about the line."""
    if good := _good_entry(line.text):
        return good, []
    findings = []
    if line.number == 1 and line.text.startswith("\x1f\ufffd"):
        findings.append(finding("gzip without .gz", 1))
    try:
        entry = read_entry(line.text)
    except LoaderFails as error:
        why = _why_it_fails(line.text)
        return None, [*findings, finding(why, line.number, line.text, error.exception)]
    if line.text.startswith("#"):
        return entry, [*findings, finding("comment that loads", line.number, line.text, entry.key)]
    if problem := uri_problem(entry):
        findings.append(finding(problem[0], line.number, line.text, problem[1]))
    for name in _column_problems(line.text, entry):
        findings.append(finding(name, line.number, line.text, str(entry.precedence)))
    return entry, findings


_GOOD = re.compile(r"(\S+) ([1-9][0-9]{0,2})\Z", re.ASCII)


def _good_entry(text: str) -> HistoryEntry | None:
    """The entry of a line without problems, as most lines are."""
    match = _GOOD.match(text)
    if not match or int(match[2]) > LAST_CLASS:
        return None
    uri = match[1]
    try:
        is_form = heritrix_form(uri) == uri
    except HeritrixRejects:
        return None
    return HistoryEntry(uri, lookup_key(uri), int(match[2])) if is_form else None


# ---- lines that fail -------------------------------------------------------------------------


def _why_it_fails(text: str) -> str:
    """The problem of a line that ends the loader with an exception."""
    pieces = pieces_of(text)
    if not pieces or text == "":
        return "blank line"
    if text.startswith("#"):
        return "comment"
    if pieces[0] == "":
        return "blank at the start"
    if len(pieces) == 1:
        return "separator that is none" if re.search(r"\s", text.strip()) else "no precedence"
    if pieces[1] == "":
        return "double separator"
    if any(java_int(piece) is not None for piece in pieces[2:]):
        return "blank in the URI"
    return "number too large" if re.fullmatch(r"[-+]?\d+", pieces[1]) else "no integer"


# ---- the URI of an entry ---------------------------------------------------------------------


def uri_problem(entry: HistoryEntry) -> tuple[str, str] | None:
    """The problem of the URI and what to write instead; None if a crawl finds the entry."""
    if not entry.uri:
        return "no URI", ""
    if entry.uri.startswith("\ufeff"):
        return "byte order mark", ""
    has_scheme = re.match("https?://", entry.uri, re.IGNORECASE)  # hidden or not from the loader
    uri = entry.uri if has_scheme else with_scheme(entry.uri)
    if not re.match("https?:", uri, re.IGNORECASE):
        host_and_port = re.match(r"\w+:\d+(?:/|\Z)", uri)
        return ("port taken for a path", f"http://{uri}") if host_and_port else ("other scheme", "")
    try:
        form = heritrix_form(uri)
    except HeritrixRejects as error:
        return ("not UTF-8", "") if "\ufffd" in uri else ("rejected", str(error))
    if form is uri or lookup_key(form) == entry.key:
        return None if uri == entry.uri else ("no scheme", form)
    return _difference(uri), form


_DIFFERENCES = (
    ("not UTF-8", re.compile("\ufffd")),
    ("not ASCII", re.compile(r"[^\x00-\x7f]")),
    ("control character", re.compile(r"[\x00-\x1f\x7f]")),
    ("fragment", re.compile("#")),
    ("upper case", re.compile(r"\A(?:\w*[A-Z]|\w+://(?:[^/?#@]*@)?[^/?#@]*[A-Z])")),
    ("default port", re.compile(r"\A(?:http://[^/?#]*:0*80|https://[^/?#]*:0*443)(?:[/?]|\Z)")),
    ("no slash after the host", re.compile(r"\A\w+://[^/?#]*(?:\?|\Z)")),
)


def _difference(uri: str) -> str:
    """The first problem that keeps the URI from being in Heritrix form."""
    names = (name for name, pattern in _DIFFERENCES if pattern.search(uri))
    return next(names, "not in Heritrix form")


# ---- the columns of an entry -----------------------------------------------------------------


def _column_problems(text: str, entry: HistoryEntry) -> Iterator[str]:
    if problem := _value_problem(entry.precedence):
        yield problem
    pieces = pieces_of(text)
    if pieces[1] != str(entry.precedence):
        yield "number in another spelling"
    if len(pieces) > 2:
        yield "third column"
    elif text[-1:].isspace():
        yield "blank at the end"


def _value_problem(precedence: int) -> str:
    if precedence < -1:
        return "negative"
    if precedence == -1:
        return "minus one"
    if precedence == 0:
        return "zero"
    if precedence > LAST_CRAWLED:
        return "stalls the crawl"
    return "tie" if precedence > LAST_CLASS else ""


# ---- duplicates ------------------------------------------------------------------------------


class _Seen:
    """A 64-bit hash, a line number and a precedence per entry; whether a CR was reported.

    Python salts its hashes, so no file can be made to collide. Two of 50 million keys collide with
    a probability of 1 in 10,000.
    """

    def __init__(self) -> None:
        self.hashes, self.lines, self.values = array("q"), array("q"), array("i")
        self.carriage_return = False

    def add(self, line: int, entry: HistoryEntry) -> None:
        self.hashes.append(hash(entry.key))
        self.lines.append(line)
        self.values.append(entry.precedence)

    def duplicates(self) -> Iterator[Finding]:
        """One finding for each entry whose key an earlier entry has, by line."""
        hashes = np.asarray(self.hashes, dtype=np.int64)
        order = np.argsort(hashes, kind="stable")
        again = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]]) + 1
        again = again[np.argsort(order[again])]
        for later, earlier in zip(order[again], order[again - 1], strict=True):
            line, precedence = self.lines[earlier], self.values[earlier]
            text = f"precedence {self.values[later]}; line {line} has {precedence}"
            yield finding("duplicate", self.lines[later], text, str(line))


Severity = Literal["error", "warning"]
SHOWN = 100  # characters of a line in a finding
DETAIL = MAX_LENGTH  # characters of a detail, which may be a form


@dataclass(frozen=True)
class Finding:
    """One problem of a line or of the file; every text is printable ASCII.

    line: from 1, 0 for the file. problem: a name from PROBLEMS. text: the line, shortened.
    """

    line: int
    problem: str
    consequence: str
    cure: str
    severity: Severity
    text: str


class LintProblem(NamedTuple):
    """`{}` in consequence or cure is filled with the detail: a form, a reason, a line number."""

    severity: Severity
    consequence: str
    cure: str


_STOPS = "The loader stops here ({}) and stores nothing of the whole file."
_NO_EFFECT = "It loads, but the crawl never asks for this key: the line has no effect."
_INTEGER = "Write a whole number from 1 to 125."
_FORM = "Write {}"

PROBLEMS: dict[str, LintProblem] = {
    # the file
    "not loaded": LintProblem(
        "error",
        "The loader does not read this file ({}); nothing is stored.",
        "Give a file that is there, plain or a whole .gz.",
    ),
    "empty file": LintProblem(
        "error", "It loads, and no URI gets a precedence.", "Run the export again."
    ),
    "damaged": LintProblem(
        "error",
        "The loader stops here without an error and keeps only what came before ({}).",
        "Copy or make the file again.",
    ),
    "line too long": LintProblem(
        "error",
        f"It is {{}}, and not read on here; no URI of Heritrix has more than {MAX_LENGTH}.",
        "Look for lost line ends.",
    ),
    "gzip without .gz": LintProblem(
        "error", "The loader inflates only files whose name ends in .gz.", "Rename the file."
    ),
    "carriage return": LintProblem(
        "warning",
        "The loader takes a carriage return as the end of a line; other tools see it as text.",
        "End lines with a line feed alone.",
    ),
    # lines that end the loader
    "blank line": LintProblem("error", _STOPS, "Remove the line, also at the end of the file."),
    "comment": LintProblem("error", _STOPS, "Remove the line: the format has no comments."),
    "blank at the start": LintProblem("error", _STOPS, "Start the line with the URI."),
    "separator that is none": LintProblem(
        "error", _STOPS, "Put one plain blank between the columns."
    ),
    "no precedence": LintProblem("error", _STOPS, "Put one blank and a number after the URI."),
    "double separator": LintProblem("error", _STOPS, "Leave one blank between URI and precedence."),
    "blank in the URI": LintProblem("error", _STOPS, "Write %20 for a blank in a URI."),
    "number too large": LintProblem("error", _STOPS, _INTEGER),
    "no integer": LintProblem("error", _STOPS, _INTEGER),
    # URIs that no crawl asks for
    "no URI": LintProblem("error", _NO_EFFECT, "Start the line with the URI."),
    "byte order mark": LintProblem("error", _NO_EFFECT, "Save the file without a byte order mark."),
    "port taken for a path": LintProblem("error", _NO_EFFECT, _FORM),
    "rejected": LintProblem(
        "error", "Heritrix never crawls it ({}); the line has no effect.", "Remove the line."
    ),
    "not UTF-8": LintProblem(
        "error", _NO_EFFECT, "Escape bytes above 127 as in crawl.log, e.g. %E9."
    ),
    "not ASCII": LintProblem("error", _NO_EFFECT, _FORM),
    "control character": LintProblem("error", _NO_EFFECT, _FORM),
    "fragment": LintProblem("error", _NO_EFFECT, _FORM),
    "upper case": LintProblem("error", _NO_EFFECT, _FORM),
    "default port": LintProblem("error", _NO_EFFECT, _FORM),
    "no slash after the host": LintProblem("error", _NO_EFFECT, _FORM),
    "not in Heritrix form": LintProblem("error", _NO_EFFECT, _FORM),
    # lines that work, perhaps not as meant
    "comment that loads": LintProblem(
        "warning",
        "It is stored as a URI with the key {}.",
        "Remove the line: the format has no comments.",
    ),
    "no scheme": LintProblem("warning", "The loader puts http:// in front.", _FORM),
    "other scheme": LintProblem(
        "warning",
        "Not an http or https URI: its form is not checked.",
        "Compare it with crawl.log.",
    ),
    "third column": LintProblem(
        "warning",
        "The second column ({}) is the precedence, what follows is ignored; a blank in the URI?",
        "Keep two columns; write %20 for a blank in a URI.",
    ),
    "blank at the end": LintProblem("warning", "It is ignored.", "Remove it."),
    "number in another spelling": LintProblem("warning", "It is read as {}.", "Write {}"),
    "duplicate": LintProblem(
        "warning", "The last line of a URI counts.", "Keep this line or line {}."
    ),
    # values
    "zero": LintProblem(
        "warning",
        "It comes before 1; with a base precedence of 0 it counts as not listed.",
        _INTEGER,
    ),
    "minus one": LintProblem("error", "With the base of 1 it counts as not listed.", _INTEGER),
    "negative": LintProblem("error", "Below -1 it comes last in its queue, not first.", _INTEGER),
    "tie": LintProblem(
        "warning", "In a queue 126 and all above are one class: Heritrix clips at 127.", _INTEGER
    ),
    "stalls the crawl": LintProblem(
        "error",
        "Alone in a queue it reaches Heritrix's floor: it is not crawled, the job does not end.",
        _INTEGER,
    ),
}


def printable(text: str) -> str:
    """The text in printable ASCII: control characters, separators and all others escaped."""
    return ascii(text)[1:-1]


def finding(problem: str, line: int, text: str = "", detail: str = "") -> Finding:
    """A finding of PROBLEMS; detail fills the `{}` in its texts.

    The text is shortened; a form as detail is not, so that it can be copied.
    """
    severity, consequence, cure = PROBLEMS[problem]
    detail = printable(detail[:DETAIL])
    return Finding(
        line,
        problem,
        consequence.replace("{}", detail),
        cure.replace("{}", detail),
        severity,
        printable(text[:SHOWN]) + ("..." if len(text) > SHOWN else ""),
    )
