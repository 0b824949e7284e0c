"""The rules for robots in a meta element or a header X-Robots-Tag: whether they say nofollow.

Rules are separated by commas, or by whatever else is in no name, as Heritrix reads them. A rule may
have a value after a colon, `max-image-preview:none`, which is no rule. In a header a name with a
colon that is no rule is a robot, to which what follows it is said, up to the next robot.

The `Sitemap:` lines of robots.txt give links of hop X, as they address robots and no reader sees
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
