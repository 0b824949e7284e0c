"""Metadata records (application/warc-fields, text/anvl): fields, and the outlinks of Heritrix.

Lines are `name: value` and end with CRLF or LF. A line that begins with a blank continues the one
before it. Heritrix writes a line `outlink: URI HOP CONTEXT` for each link.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple

from crawlrank.jobs.kernel.archive.record_headers import BLANKS
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.keys.uris import as_text

MEDIA_TYPES = ("application/warc-fields", "text/anvl")
LONGEST_LINE = 2**14
_FIELDS = 2**16  # bytes in which the fields of a capture are looked for

# Heritrix gives some of these hop L, but they are guesses from a value, or the base, and no links.
_GUESSED = frozenset(
    {"option", "option/@value", "param", "param/@value", "input/@value", "base/@href"}
)


class Outlink(NamedTuple):
    """uri: as Heritrix wrote it. hop: one capital letter. context: such as `a/@href`; may be ''."""

    uri: str
    hop: str
    context: str


class Field(NamedTuple):
    """Any other line."""

    name: str
    value: str


class Junk(NamedTuple):
    """A line that is no field and no outlink, continues no line, or is too long."""

    beginning: str


def is_metadata(record: Record) -> bool:
    """Whether it describes a capture in lines, not in JSON as a WAT does."""
    return record.kind == "metadata" and record.media_type.lower().startswith(MEDIA_TYPES)


def read_metadata(body: bytes) -> Iterator[Outlink | Field | Junk]:
    """The lines of a metadata record's body in order, one at a time, whatever is in it."""
    for line in _unfolded(body):
        name, colon, value = line.partition(":")
        name, value = name.rstrip(BLANKS), value.strip(BLANKS)
        if not colon or not name or " " in name or len(line) > LONGEST_LINE:
            yield Junk(line[:60])
        elif name.lower() != "outlink":
            yield Field(name, value)
        else:
            yield _outlink(value) or Junk(line[:60])


def provenance(body: bytes) -> tuple[str, str]:
    """(via, hopsFromSeed) of a metadata record, '' if missing; they come before the outlinks."""
    values: dict[str, str] = {}
    for line in read_metadata(body[:_FIELDS]):
        if isinstance(line, Outlink):
            break
        if isinstance(line, Field):
            values.setdefault(line.name.lower(), line.value)
    return values.get("via", ""), values.get("hopsfromseed", "")


def _unfolded(body: bytes) -> Iterator[str]:
    """Lines with their continuations and without line ends; empty ones are left out."""
    line = ""
    for raw in io.BytesIO(body):
        part = raw[: LONGEST_LINE + 1].rstrip()
        if not part:
            continue
        if line and part[:1] in (b" ", b"\t"):
            line += (" " + as_text(part.lstrip())) if len(line) <= LONGEST_LINE else ""
            continue
        if line:
            yield line
        line = as_text(part)
    if line:
        yield line


def _outlink(value: str) -> Outlink | None:
    """`URI HOP CONTEXT`. The URI may contain blanks, so the hop is the first lone capital."""
    words = value.split(" ")
    for index, word in enumerate(words[1:], 1):
        if len(word) == 1 and "A" <= word <= "Z":
            context = " ".join(words[index + 1 :])
            hop = "X" if context.lower() in _GUESSED else word
            return Outlink(" ".join(words[:index]), hop, context)
    return None
