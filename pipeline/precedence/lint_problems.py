"""The problems of a precedence file: what each means to Heritrix, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]
SHOWN = 100  # characters of a line in a finding
DETAIL = 2083  # of a detail; no form is longer


@dataclass(frozen=True)
class Finding:
    """One problem at one place; every text is printable ASCII.

    line: from 1, 0 for the file. problem: a name from PROBLEMS. text: the line, shortened.
    """

    line: int
    problem: str
    consequence: str
    cure: str
    severity: Severity
    text: str


class Problem(NamedTuple):
    """`{}` in consequence or cure is filled with the detail: a form, a reason, a line number."""

    severity: Severity
    consequence: str
    cure: str


_STOPS = "The loader stops here ({}) and stores nothing of the whole file."
_NO_EFFECT = "It loads, but the crawl never asks for this key: the line has no effect."
_INTEGER = "Write a whole number from 1 to 125."
_FORM = "Write {}"

PROBLEMS: dict[str, Problem] = {
    # the file
    "not loaded": Problem(
        "error",
        "The loader does not read this file ({}); nothing is stored.",
        "Give a file that is there, plain or a whole .gz.",
    ),
    "empty file": Problem(
        "error", "It loads, and no URI gets a precedence.", "Run the export again."
    ),
    "damaged": Problem(
        "error",
        "The loader stops here without an error and keeps only what came before ({}).",
        "Copy or make the file again.",
    ),
    "line too long": Problem(
        "error",
        "It is {}, and not read on here; no URI of Heritrix has more than 2083.",
        "Look for lost line ends.",
    ),
    "gzip without .gz": Problem(
        "error", "The loader inflates only files whose name ends in .gz.", "Rename the file."
    ),
    "carriage return": Problem(
        "warning",
        "The loader takes a carriage return as the end of a line; other tools see it as text.",
        "End lines with a line feed alone.",
    ),
    # lines that end the loader
    "blank line": Problem("error", _STOPS, "Remove the line, also at the end of the file."),
    "comment": Problem("error", _STOPS, "Remove the line: the format has no comments."),
    "blank at the start": Problem("error", _STOPS, "Start the line with the URI."),
    "separator that is none": Problem("error", _STOPS, "Put one plain blank between the columns."),
    "no precedence": Problem("error", _STOPS, "Put one blank and a number after the URI."),
    "double separator": Problem("error", _STOPS, "Leave one blank between URI and precedence."),
    "blank in the URI": Problem("error", _STOPS, "Write %20 for a blank in a URI."),
    "number too large": Problem("error", _STOPS, _INTEGER),
    "no integer": Problem("error", _STOPS, _INTEGER),
    # URIs that no crawl asks for
    "no URI": Problem("error", _NO_EFFECT, "Start the line with the URI."),
    "byte order mark": Problem("error", _NO_EFFECT, "Save the file without a byte order mark."),
    "port taken for a path": Problem("error", _NO_EFFECT, _FORM),
    "rejected": Problem(
        "error", "Heritrix never crawls it ({}); the line has no effect.", "Remove the line."
    ),
    "not UTF-8": Problem("error", _NO_EFFECT, "Escape bytes above 127 as in crawl.log, e.g. %E9."),
    "not ASCII": Problem("error", _NO_EFFECT, _FORM),
    "control character": Problem("error", _NO_EFFECT, _FORM),
    "fragment": Problem("error", _NO_EFFECT, _FORM),
    "upper case": Problem("error", _NO_EFFECT, _FORM),
    "default port": Problem("error", _NO_EFFECT, _FORM),
    "no slash after the host": Problem("error", _NO_EFFECT, _FORM),
    "not in Heritrix form": Problem("error", _NO_EFFECT, _FORM),
    # lines that work, perhaps not as meant
    "comment that loads": Problem(
        "warning",
        "It is stored as a URI with the key {}.",
        "Remove the line: the format has no comments.",
    ),
    "no scheme": Problem("warning", "The loader puts http:// in front.", _FORM),
    "other scheme": Problem(
        "warning",
        "Not an http or https URI: its form is not checked.",
        "Compare it with crawl.log.",
    ),
    "third column": Problem(
        "warning",
        "The second column ({}) is the precedence, what follows is ignored; a blank in the URI?",
        "Keep two columns; write %20 for a blank in a URI.",
    ),
    "blank at the end": Problem("warning", "It is ignored.", "Remove it."),
    "number in another spelling": Problem("warning", "It is read as {}.", "Write {}"),
    "duplicate": Problem("warning", "The last line of a URI counts.", "Keep this line or line {}."),
    # values
    "zero": Problem(
        "warning",
        "It comes before 1; with a base precedence of 0 it counts as not listed.",
        _INTEGER,
    ),
    "minus one": Problem("error", "With the base of 1 it counts as not listed.", _INTEGER),
    "negative": Problem("error", "Below -1 it comes last in its queue, not first.", _INTEGER),
    "tie": Problem(
        "warning", "In a queue 126 and all above are one class: Heritrix clips at 127.", _INTEGER
    ),
    "stalls the crawl": Problem(
        "error",
        "Alone in a queue it reaches Heritrix's floor: it is not crawled, the job does not end.",
        _INTEGER,
    ),
}


def printable(text: str) -> str:
    """The text in printable ASCII: control characters, separators and all others escaped."""
    return ascii(text)[1:-1]


def finding(problem: str, line: int, text: str = "", detail: str = "") -> Finding:
    """A finding of PROBLEMS; detail fills what its words leave open.

    The text is shortened; a form as detail never is, so that it can be copied.
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
