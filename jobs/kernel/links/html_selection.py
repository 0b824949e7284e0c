"""Which elements and attributes of a page are read: as few as its links may be in.

Made of jobs/kernel/links/link_rules.py once for all pages: it takes longer than to parse a small
page.
"""

from __future__ import annotations

import re
from itertools import product
from typing import NamedTuple

from jobs.kernel.links.css_links import may_hold_links
from jobs.kernel.links.link_rules import (
    CANONICAL_RULES,
    FORM_RULES,
    NAV_RULES,
    RULES,
    Reader,
    Rule,
)
from jobs.kernel.markup.html_tags import MARK

_BACKGROUND = re.compile(rb"background[\t\n\f\r ]*=").search
Row = tuple[str, str, str, Reader | None]
_Rules = dict[str, list[Row]]


class Selection(NamedTuple):
    """What to read: by element, for each of its rules, attribute, context, hop and reader; and
    the selector of these elements, as lexbor finds them in a tenth of the time of a loop."""

    rules: _Rules
    selector: str
    marked: str  # the same where elements of HTML are marked
    attributes: frozenset[str]  # that are read
    styled: bool


def _selection(
    rules: tuple[Rule, ...], special: tuple[str, ...], styled: bool = False
) -> Selection:
    table: _Rules = {element: [] for element in special}
    for rule in rules:
        row = (rule.attribute, rule.context, rule.hop, rule.read)
        table.setdefault(rule.element, []).append(row)
    attributes = _READ.union([rule.attribute for rule in rules], ["style"] * styled)
    names = [*table, "[style]"] if styled else [*table]
    marked = [*names, *[MARK + name for name in table]]
    return Selection(table, _any(names), _any(marked), attributes, styled)


def _any(names: list[str]) -> str:
    return f":is({','.join(names)})"


_READ = frozenset(("content", "href", "http-equiv", "method", "name", "rel", "srcdoc", "type"))
SPECIAL = ("base", "iframe", "meta", "style")
_PIECES = ("base", "iframe", "meta")
_NAV = _selection(NAV_RULES, _PIECES)
_NAV_CANONICAL = _selection(NAV_RULES + CANONICAL_RULES, _PIECES)
_PLAIN = tuple(rule for rule in RULES if rule.attribute != "background")
# cells of tables, which may have a background, are many
_SELECTIONS = {
    (background, form, style, canonical): _selection(
        (RULES if background else _PLAIN) + FORM_RULES * form + CANONICAL_RULES * canonical,
        SPECIAL,
        style,
    )
    for background, form, style, canonical in product((False, True), repeat=4)
}


def nav_selection(canonical: bool) -> Selection:
    """What NAV_RULES read. canonical: also what a page names as its canonical address."""
    return _NAV_CANONICAL if canonical else _NAV


def selection_for(page: bytes, forms: bool, canonical: bool) -> Selection:
    """For a page: most have neither backgrounds, forms to read nor styles."""
    lower = page.lower()
    background = b"background" in lower and _BACKGROUND(lower) is not None
    return _SELECTIONS[background, forms, may_hold_links(lower), canonical]
