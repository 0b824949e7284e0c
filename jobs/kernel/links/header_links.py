"""Links in the HTTP header: Location and Refresh (R), and Link by its relation, like `<link>`.

Location counts with the status codes at which clients follow it: 3xx and 201.

Rules for robots, in a meta element or a header X-Robots-Tag, say whether links are nofollow. They
are separated by commas, or by whatever else is in no name, as Heritrix reads them. A rule may have
a value after a colon, `max-image-preview:none`, which is no rule. In a header a name with a colon
that is no rule is a robot, and the rules up to the next robot are for it. The `Sitemap:` lines of
robots.txt give links of hop X, as they address robots and no reader sees them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawlrank.jobs.kernel.archive.record_headers import Fields, every, first
from crawlrank.jobs.kernel.formats.rows import CANONICAL_HOP
from crawlrank.jobs.kernel.links.link_rules import (
    Reference,
    names_canonical,
    refresh_target,
    relation_hop,
)

_SAY_NOFOLLOW = frozenset({"nofollow", "none"})
_WITH_DATE = "unavailable_after"  # a date may hold blanks and colons
_RULES = _SAY_NOFOLLOW | frozenset(
    f"{_WITH_DATE} all index follow noindex noarchive nocache nosnippet noimageindex notranslate"
    " noodp noydir nositelinkssearchbox indexifembedded noai noimageai max-snippet"
    " max-image-preview max-video-preview".split()
)
_parts = re.compile("[,;]").split
_words = re.compile(r"[\w*.\-]+|:").findall


def robots_nofollow(rules: str, *, robots: bool = False) -> bool:
    """Whether the rules for all robots say nofollow of all links. robots: whether they may begin
    with the name of a robot, as they do in a header."""
    for_all = True
    for part in _parts(rules.lower()):
        words = _words(part)
        if robots and words[1:2] == [":"] and _is_robot(words[0]):
            for_all = words[0] == "*"
            del words[:2]
        if for_all and not _SAY_NOFOLLOW.isdisjoint(_names(words)):
            return True
    return False


def _is_robot(word: str) -> bool:
    """Whether a word before a colon names a robot: a time in a date has a colon, too."""
    return word not in _RULES and (word[0].isalpha() or word == "*")


def _names(words: list[str]) -> Iterator[str]:
    """The rules of a part without a value."""
    at = 0
    while at < len(words):
        if words[at + 1 : at + 2] != [":"]:
            yield words[at]
            at += 1
        elif words[at] == _WITH_DATE:
            return
        else:
            at += 3


LONGEST_ROBOTS = 500 * 2**10  # bytes that robots read (RFC 9309)
_SITEMAP = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*([^ \t\n\v\f#]+)", re.IGNORECASE | re.MULTILINE)


def robots_references(text: str) -> Iterator[str]:
    return (match[1] for match in _SITEMAP.finditer(text.replace("\r", "\n")))


_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_TARGET = re.compile("<([^<>]*)>")
_UNQUOTED, _QUOTED_TEXT = re.compile('[^<,"]*'), re.compile(_QUOTED)
_PARAMETER = re.compile(rf';\s*([^\s;,="]+)\s*(?:=\s*(?:{_QUOTED}|([^\s;,"]+)))?|"[^"]*"')


def location(fields: Fields, status: int) -> Iterator[Reference]:
    target = first(fields, "location")
    if target and (300 <= status < 400 or status == 201):
        yield target, "R", "Location:"


def header_references(fields: Fields, *, canonical: bool = False) -> Iterator[Reference]:
    """The links of a header but Location. A `Link` with an anchor is left out, as its source is
    another resource. canonical: also the address that it names as canonical."""
    for reference, hop in refresh_target(first(fields, "refresh")):
        yield reference, hop, "Refresh:"
    for value in every(fields, "link"):
        for target, written in link_values(value):
            parameters = _parameters(written)
            relations = parameters.get("rel", "")
            if not target.strip() or "anchor" in parameters:
                continue
            if hop := relation_hop(relations):
                yield target, hop, "Link:"
            if canonical and names_canonical(relations):
                yield target, CANONICAL_HOP, "Link:"


def link_values(value: str) -> Iterator[tuple[str, str]]:
    """Each target of a header `Link`, and its parameters as they are written (RFC 8288, 3).

    Linear: if one quote is not closed, none after it is, as all of those are escaped.
    """
    at, closed = 0, True
    while match := _TARGET.search(value, at):
        at = begin = match.end()
        while plain := _UNQUOTED.match(value, at):
            at = plain.end()
            quoted = _QUOTED_TEXT.match(value, at) if closed and value[at : at + 1] == '"' else None
            if quoted is None:
                closed = closed and value[at : at + 1] != '"'
                break
            at = quoted.end()
        yield match[1], value[begin:at]


def _parameters(written: str) -> dict[str, str]:
    """The parameters by name in lower case; the first of each name counts."""
    parameters: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(written):
        parameters.setdefault(name.lower(), quoted or bare)
    return parameters


def header_nofollow(fields: Fields) -> bool:
    return any(robots_nofollow(value, robots=True) for value in every(fields, "x-robots-tag"))
