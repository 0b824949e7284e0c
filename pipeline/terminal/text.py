"""Text that fits: cut in the middle, wrapped at words, measured in the cells of a terminal.

A URI is cut in its middle, as its host and its end tell it from others. Where two texts of a column
would then look the same, both show the part in which they differ.

URLs are shown without passwords, and without queries, which have keys.

JSON as other programs read it, which has no number for infinity: a bound that proves nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.cells import cell_len

ELLIPSIS = "…"
_PART = 3  # the part of the room that shows the beginning where texts differ further on


def printable(text: str) -> str:
    """The text with everything but printable characters and ends of lines as escapes."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def fit_head(text: str, room: int) -> str:
    """The longest beginning that fits into this number of cells."""
    if text.isascii():
        return text[: max(room, 0)]
    while cell_len(text) > room:
        text = text[:-1][:room]  # no character that is shown has less than one cell, but marks
    return text


def fit_tail(text: str, room: int) -> str:
    """The longest end that fits."""
    if text.isascii():
        return text[max(len(text) - room, 0) :] if room > 0 else ""
    while cell_len(text) > room:
        text = text[1:]
    return text


def middle_cut(text: str, room: int) -> str:
    """The text, without its middle if it is longer than the room."""
    if cell_len(text) <= room:
        return text
    head = fit_head(text, room // 2)
    return head + ELLIPSIS + fit_tail(text, room - 1 - cell_len(head))


def cut_apart(texts: Iterable[str], room: int) -> dict[str, str]:
    """Text -> its cut form. Different texts have different forms, from about ten cells on."""
    shown = {text: middle_cut(text, room) for text in texts}
    for group in _alike(shown, shown):
        shown.update(_show_difference(group, room))
    for group in _alike(shown, shown):  # hardly ever: parts that repeat
        for number, text in enumerate(group, 1):
            end = f"{ELLIPSIS}{number}"
            shown[text] = fit_head(shown[text], room - len(end)) + end
    return shown


def _alike(texts: Iterable[str], shown: dict[str, str]) -> list[list[str]]:
    """Texts that look the same, in groups."""
    ordered = sorted(texts, key=lambda text: shown[text])
    groups = (list(group) for _, group in groupby(ordered, key=lambda text: shown[text]))
    return [group for group in groups if len(group) > 1]


def _show_difference(group: list[str], room: int) -> dict[str, str]:
    """Forms with the characters after what all texts of the group begin with. Of several that are
    still alike fewer are, so this ends."""
    begin = shared(group)
    shown = {text: _from(text, begin, room) for text in group}
    for alike in _alike(group, shown):
        shown.update(_show_difference(alike, room))
    return shown


def shared(texts: Sequence[str]) -> int:
    """The number of characters with which all texts begin."""
    first, last = min(texts), max(texts)  # what these two share, all share
    return next((i for i, c in enumerate(first) if last[i : i + 1] != c), len(first))


def _from(text: str, begin: int, room: int) -> str:
    """The beginning of the text, and what it has at `begin`."""
    head = fit_head(text, room // _PART) + ELLIPSIS
    rest, left = text[max(begin - 1, 0) :], room - cell_len(head)
    return head + (rest if cell_len(rest) <= left else fit_head(rest, left - 1) + ELLIPSIS)


def wrapped(text: str, room: int) -> list[str]:
    """Lines of words; the blanks that begin the text begin every line. A word that is longer than
    the room is cut in the middle."""
    if cell_len(text) <= room:
        return [text]
    words = text.split()
    indent = text[: len(text) - len(text.lstrip())]
    return [indent + line for line in _filled(words, max(room - len(indent), 1))]


def _filled(words: Iterable[str], room: int) -> Iterator[str]:
    line = ""
    for word in words:
        shown = middle_cut(word, room)
        if line and cell_len(line) + 1 + cell_len(shown) > room:
            yield line
            line = shown
        else:
            line = f"{line} {shown}" if line else shown
    yield line


def longest_word(text: str) -> int:
    """The length in cells, with the blanks that begin the text."""
    indent = len(text) - len(text.lstrip())
    return indent + max(map(cell_len, text.split()), default=0)


def json_text(document: Any, **options: Any) -> str:
    """The document, with null for infinity and NaN. options: of json.dumps."""
    try:
        return json.dumps(document, allow_nan=False, **options)
    except ValueError:
        return json.dumps(_finite(document), allow_nan=False, **options)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [*map(_finite, value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


MASK = "***"
_USER = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s]*@")
_QUERY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(://[^?#\s]*)([?#])([^\s'\",]*)")
STANDARD_INPUT = "standard input"
_COPY = re.compile(rf"/[0-9a-f]{{12}}/{STANDARD_INPUT}\Z")  # pipeline/workfolder/received.py
_TEMPORARY = re.compile(r"\A/.*/crawlrank-away-[^/]+/")  # of storage/temporary.py
GLOBS = ("s3", "hdfs", "file")  # where `?` stands for a character of a name


def masked(text: str) -> str:
    """The text with credentials, queries and fragments of its URLs as `***`."""
    return _QUERY.sub(_without_query, _USER.sub(rf"\1{MASK}@", text))


def archive_name(path: str) -> str:
    """The name of an archive in tables and messages: its masked path, without a temporary folder,
    or STANDARD_INPUT for `-` and for a copy of that."""
    if path == "-" or _COPY.search(path):
        return STANDARD_INPUT
    return masked(_TEMPORARY.sub("", path))


def _without_query(match: re.Match[str]) -> str:
    scheme, before, sign, rest = match.groups()
    if not rest or (scheme.lower() in GLOBS and "=" not in rest):
        return match[0]
    return f"{scheme}{before}{sign}{MASK}"


def masked_all(words: Iterable[str]) -> list[str]:
    return [masked(word) for word in words]
