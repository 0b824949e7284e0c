"""Weights of pages and lists of seeds, as users and Heritrix write them.

A weight file has a page and its weight a line, with a tab or blanks between them:

    # teleports
    http://a.example/    3
    org,archive)/about   0.5

A page is a URI or a key (SURT). A weight is a decimal number of at least 0. `#` at the start of a
line or after a blank begins a comment. Files are UTF-8, with or without a byte order mark, with
LF or CRLF, plain or .gz. A list of seeds has a page a line, and each weighs 1.

Heritrix reads its seeds.txt in org.archive.modules.seeds.TextSeedModule (3.13): a line is one word
with an optional comment. A word that begins with a letter or a digit is a seed, and one without a
scheme gets `http://`. All other words go to the scope, such as `+http://(org,archive,`.

Bytes that are not UTF-8 cost nothing in a comment. A seed that has some is left out and counted:
Heritrix takes U+FFFD for them, which is no page that anybody meant. In a page that has a weight, a
relevance or ratings they are refused, as the others would weigh more without it.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.reading import is_utf_16, read_lines
from crawlrank.jobs.kernel.keys.heritrix_form import HeritrixRejects, heritrix_form
from crawlrank.jobs.kernel.storage.opening import require_file, require_text
from crawlrank.pipeline.ranking.inputs import WeightLine
from crawlrank.pipeline.ranking.topic_words import folded

SHAPE = "a page and its weight, with a tab or blanks between them"
ALONE = "one page a line, without a weight"
TAB = "Write a word or phrase a line, and a tab before its weight."
_SAVE = "Save it as plain text in UTF-8."
NUMBER = "a decimal number of at least 0 such as 3 or 0.5"

_CONTROL = re.compile("[\0-\x08\x0a-\x1f\x7f]").search  # a tab is none of them
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch
_SEPARATORS = {",": "a comma", ";": "a semicolon", "|": "a bar", "\xa0": "a no-break space"}
_OTHERWISE = re.compile(r'.+?"?([,;|\xa0])"?[+-]?\.?[0-9][0-9.eE+-]*"?').fullmatch

_STRAY = re.compile("[\udc80-\udcff]").search  # a byte that is not UTF-8

# what TextSeedModule and RegexLineIterator of Heritrix match lines with
_IGNORED = re.compile(r"\s*(#.*)?", re.ASCII).fullmatch
_ENTRY = re.compile(r"[\s\ufeff]*(\S+)\s*(#.*)?", re.ASCII).fullmatch
_WITH_SCHEME = re.compile(r"[a-zA-Z][\w+\-]+:.*", re.ASCII).fullmatch


def read_weights(
    path: Path, damaged: list[int] | None = None, *, weighted: bool = True, zeros: bool = False
) -> list[WeightLine]:
    """The lines of a weight file, each page once. weighted: False for a list of pages, which all
    weigh 1 and have no second column. zeros: whether all weights may be 0. damaged: gets the
    numbers of lines without a weight that are not UTF-8, which are left out.

    Raises BadInput with file and line for another shape, for weights that are no finite numbers of
    at least 0 and for a page with two weights; and for a file without pages, with zeros only
    unless they may be, or with a sum above all doubles.
    """
    lines, left_out = _Lines(path), [] if damaged is None else damaged
    for number, text in numbered_texts(path):
        if fields := _fields(text):
            where, words = f"{path}, line {number}", " ".join(fields)
            if weighted:
                require_utf_8(where, words)
            elif _STRAY(words):
                left_out.append(number)
                continue
            parse = _parse_weighted if weighted else _parse_alone
            lines.add(WeightLine(number, *parse(where, fields)))
    return lines.checked("pages", zeros)


def read_seeds(path: Path, damaged: list[int] | None = None) -> list[WeightLine]:
    """A list of pages, one a line, each with the weight 1. Raises BadInput as `read_weights`."""
    return read_weights(path, damaged, weighted=False)


def read_relevance(path: Path, damaged: list[int] | None = None) -> list[WeightLine]:
    """Read relevances as `read_weights` does; pages without any relevance may be all that is
    listed."""
    return read_weights(path, damaged, zeros=True)


def read_heritrix_seeds(path: Path, damaged: list[int] | None = None) -> list[WeightLine]:
    """The seeds that Heritrix reads from a file, in Heritrix form, each with the weight 1. Lines
    that are no http or https seed are left out. damaged: see `read_weights`.

    Raises BadInput for a file that cannot be read or has no seed.
    """
    lines, left_out = _Lines(path), [] if damaged is None else damaged
    for number, text in numbered_texts(path):
        entry = None if _IGNORED(text) else _ENTRY(text)
        if entry and _STRAY(entry[1]):
            left_out.append(number)
        elif entry and entry[1][0].isalnum():
            uri = entry[1] if _WITH_SCHEME(entry[1]) else f"http://{entry[1]}"
            with contextlib.suppress(HeritrixRejects):
                lines.add(WeightLine(number, heritrix_form(uri), 1.0))
    return lines.checked("seeds")


MOST_WEIGHT = 1_000_000  # of a word


def read_words(path: Path) -> list[tuple[str, float]]:
    """Words and phrases of a topic as `folded` has them, with their weights: one a line, with a tab
    before the weight, which is 1 otherwise. `#` at the start of a line begins a comment.

    Raises BadInput with file and line for a phrase without a word or with two weights, and for
    another weight than a number above 0 and up to MOST_WEIGHT; and for a file without any.
    """
    phrases: dict[str, float] = {}
    for number, text in numbered_texts(path, "a text file with a word or phrase a line"):
        if not text.strip() or text.startswith("#"):
            continue
        where = f"{path}, line {number}"
        require_utf_8(where, text)
        phrase, _, weight = text.rstrip().partition("\t")
        if not (words := folded(phrase)):
            raise BadInput(where, f"{phrase!r}, which has no letter or digit", "a word or phrase")
        value = float(weight) if _DECIMAL(weight or "1") and weight else 1.0 if not weight else 0.0
        if not 0 < value <= MOST_WEIGHT:
            expected = f"a number above 0, {MOST_WEIGHT:,} at most"
            raise BadInput(where, f"the weight {weight!r}", expected, TAB)
        if words in phrases:
            raise BadInput(where, f"{phrase!r} once more", "each word or phrase once", TAB)
        phrases[words] = value
    if not phrases:
        raise BadInput(str(path), "no word", "words and phrases, one a line")
    return [*phrases.items()]


def numbered_texts(
    path: Path, expected: str = "a text file with a page a line"
) -> Iterator[tuple[int, str]]:
    """(number, text without its end) of every line; a byte that is not UTF-8 is a surrogate in it.
    Raises BadInput for a file that cannot be read, or is in UTF-16, and for a line with a control
    character."""
    require_file(path, expected)
    require_text(path, expected)
    if path.is_dir():
        raise BadInput(str(path), "a folder", expected, "Give one file.")
    for _, number, line in read_lines(path):
        text = line.decode(errors="surrogateescape")
        if number == 1 and is_utf_16(line):
            require_utf_8(f"{path}, line {number}", text)
        if control := _CONTROL(text):
            what = f"the control character 0x{ord(control[0]):02x}"
            raise BadInput(f"{path}, line {number}", what, "text in UTF-8", _SAVE)
        yield number, text


def require_utf_8(where: str, text: str) -> None:
    """Raises BadInput for a line of `numbered_texts` that was not UTF-8."""
    if stray := _STRAY(text):
        what = f"the byte 0x{ord(stray[0]) & 0xFF:02x}, which is no UTF-8"
        raise BadInput(where, what, "text in UTF-8", _SAVE)


def _fields(text: str) -> list[str]:
    """The columns of a line, without its comment."""
    fields = text.replace("\t", " ").split(" ")
    behind = next((at for at, word in enumerate(fields) if word.startswith("#")), len(fields))
    return [word for word in fields[:behind] if word]


def _parse_weighted(where: str, fields: list[str]) -> tuple[str, float]:
    page, *others = fields
    if separator := _other_separator(fields):
        what, cure = f"{_SEPARATORS[separator]} between page and weight", "Write a tab instead."
        if page.endswith(separator):
            cure += f" As a part of the page write it as %{ord(separator):02X}."
        raise BadInput(where, what, SHAPE, cure)
    if not others:
        cure = "Add the weight, or give the file as seeds, which all weigh 1."
        raise BadInput(where, "no weight", SHAPE, cure)
    if len(others) > 1:
        cure = "Write a blank within a URI as %20."
        raise BadInput(where, f"{len(fields)} columns", SHAPE, cure)
    return page, _weight(where, others[0])


def _other_separator(fields: list[str]) -> str | None:
    """What stands between page and weight where it is no blank."""
    page, *others = fields
    if not others:
        match = _OTHERWISE(page)
        return match[1] if match else None
    at_edge = (s for s in _SEPARATORS if page.endswith(s) or others[0].startswith(s))
    return next(at_edge, None)


def _parse_alone(where: str, fields: list[str]) -> tuple[str, float]:
    if len(fields) > 1:
        cure = "Give a file with weights as weights; write a blank within a URI as %20."
        raise BadInput(where, f"{len(fields)} columns", ALONE, cure)
    return fields[0], 1.0


def _weight(where: str, text: str) -> float:
    """Raises BadInput for what is no finite number of at least 0."""
    weight = float(text) if _DECIMAL(text) else math.nan
    if 0 <= weight < math.inf:
        return weight + 0.0  # of -0 too
    if weight < 0:
        cure = "Leave the page out, or give it 0."
    elif weight == math.inf:
        cure = "Divide all weights by one number."
    else:
        cure = (
            "Write a decimal point." if "," in text else "Leave the page out if it has no weight."
        )
    raise BadInput(where, f"the weight {text}", f"{NUMBER}, not infinite", cure)


class _Lines:
    """The lines of one file, by page. Raises BadInput for what no line alone shows."""

    def __init__(self, path: Path) -> None:
        self._path, self._lines = path, dict[str, WeightLine]()

    def add(self, line: WeightLine) -> None:
        earlier = self._lines.setdefault(line.page, line)
        if earlier.weight != line.weight:
            what = f"the weight {line.weight:g} of a page that has {earlier.weight:g} in line"
            raise BadInput(
                f"{self._path}, line {line.line}", f"{what} {earlier.line}",
                "one weight for each page", "Leave one of the two lines out.",
            )  # fmt: skip

    def checked(self, kind: str, zeros: bool = False) -> list[WeightLine]:
        lines = list(self._lines.values())
        if not lines:
            raise BadInput(str(self._path), f"no {kind}", f"{kind}, one a line", "Add them.")
        heaviest = max(lines, key=lambda line: line.weight)
        if heaviest.weight == 0 and not zeros:
            cure = "Give at least one page a weight above 0."
            raise BadInput(str(self._path), "weights that are all 0", "one above 0", cure)
        if not sum(line.weight for line in lines) < math.inf:
            what = f"the largest of weights whose sum is above all doubles, {heaviest.weight:g}"
            where, cure = f"{self._path}, line {heaviest.line}", "Divide all weights by one number."
            raise BadInput(where, what, "weights with a finite sum", cure)
        return lines
