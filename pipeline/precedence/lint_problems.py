"""The problems of a precedence file: what each means for Heritrix, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from crawlrank.jobs.kernel.keys.heritrix_form import MAX_LENGTH

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
