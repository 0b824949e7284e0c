"""What a line is that is none of ours: names for lists of links as other programs write them.

SNAP begins its lists with comments (`# FromNodeId ToNodeId`), KONECT and Matrix Market with `%`.
Gephi and pandas write a line of names. Many lists have a weight behind the two nodes. PowerShell 5
writes UTF-16 where a command's output goes to a file.
"""

from __future__ import annotations

import re
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput, BadLine

_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, little and big end first
_NAMES = {b"source", b"target", b"from", b"to", b"fromnodeid", b"tonodeid", b"src", b"dst", b"id"}
_NUMBER = rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_WEIGHTED = re.compile(rb"[^ \t]+[ \t]+[^ \t]+[ \t]+(" + _NUMBER + rb")[ \t]*\Z")
_UTF_16 = (
    "text in UTF-16, as PowerShell writes it",
    "Write it in UTF-8: `Get-Content FILE | Set-Content -Encoding utf8 OTHER`, or"
    " `iconv -f UTF-16 -t UTF-8 FILE > OTHER`.",
)


def is_utf_16(line: bytes) -> bool:
    """Whether a file that begins with the line is in UTF-16, with a byte order mark or without."""
    return line.startswith(_MARKS) or (len(line) > 3 and 3 * line.count(0) > len(line))


def foreign_line(line: bytes, *, is_refused: bool) -> tuple[str, str] | None:
    """What a line is, and the cure; None for what has no name here. is_refused: whether it is no
    line of two columns, so that a whole number in the third one can be a weight only."""
    if is_utf_16(line):
        return _UTF_16
    if line.startswith((b"#", b"%")):
        what = "a comment, as SNAP and KONECT begin their lists"
        return what, "Take comments out: `grep -v '^[#%]' FILE > OTHER`."
    if {*line.lower().split()} <= _NAMES and line.strip():
        return "a line with the names of the columns", "Take it out: `tail -n +2 FILE > OTHER`."
    match = _WEIGHTED.match(line)
    if match and (is_refused or not match[1].lstrip(b"-+").isdigit()):
        cure = "Keep the two columns of the nodes: `awk '{print $1, $2}' FILE > OTHER`."
        return f"the weight {match[1][:20].decode()} in the third column", cure
    return None


def bad_line(path: Path, number: int, line: bytes, error: BadLine) -> BadInput:
    """What to say of a line that a parser refused."""
    has_two_columns = "`id" not in error.expected
    where, named = f"{path}, line {number}", foreign_line(line, is_refused=has_two_columns)
    if named:
        return BadInput(where, named[0], error.expected, named[1])
    return BadInput(where, error.found, error.expected)


def refuse_foreign_start(path: Path, line: bytes, expected: str) -> None:
    """Raises BadInput for a first line that could pass as one of the dataset and is another."""
    if named := foreign_line(line, is_refused=False):
        raise BadInput(f"{path}, line 1", named[0], expected, named[1])
