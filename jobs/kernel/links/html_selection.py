"""The elements and attributes of a page that are read: as few as possible for its links.

They are derived from jobs/kernel/links/link_rules.py once for all pages, as that takes longer than
parsing a small page.
"""

from __future__ import annotations

import re
from itertools import product
from typing import NamedTuple

from crawlrank.jobs.kernel.links.css_links import may_hold_links
from crawlrank.jobs.kernel.links.link_rules import (
    FORM_RULES,
    NAV_RULES,
    RULES,
    Reader,
    Rule,
)
from crawlrank.jobs.kernel.markup.html_tags import MARK
from crawlrank.jobs.kernel.markup.page_text import PageText

_BACKGROUND = re.compile(rb"background[\t\n\f\r ]*=").search
AttributeRule = tuple[str, str, str, Reader | None]  # attribute, context, hop, reader


class HtmlOptions(NamedTuple):
    """Which links of a page are read. forms: also addresses of forms. nav: only those of NAV_RULES,
    which takes a third less time. canonical: also the canonical address that the head names.
    as_heritrix: queries are in UTF-8 whatever the charset of the page, and hosts by IDNA 2003.
    scanned: pages are scanned as far as they can be, not all parsed. kinds: links have the kinds of
    their references.
    """

    forms: bool = False
    nav: bool = False
    canonical: bool = False
    as_heritrix: bool = False
    scanned: bool = True
    kinds: bool = False


DEFAULT_OPTIONS = HtmlOptions()


class Selection(NamedTuple):
    """rules: by element; names: of these elements. selector: of the same, which lexbor finds in a
    tenth of the time of a loop. marked: the same where elements of HTML have the prefix MARK.
    attributes: those that are read. styled: whether style sheets are read."""

    rules: dict[str, list[AttributeRule]]
    names: tuple[str, ...]
    selector: str
    marked: str
    attributes: frozenset[str]
    styled: bool


def _selection(
    rules: tuple[Rule, ...], special: tuple[str, ...], styled: bool = False
) -> Selection:
    by_element: dict[str, list[AttributeRule]] = {element: [] for element in special}
    for rule in rules:
        attribute_rule = (rule.attribute, rule.context, rule.hop, rule.read)
        by_element.setdefault(rule.element, []).append(attribute_rule)
    attributes = _ALWAYS_READ.union([rule.attribute for rule in rules], ["style"] * styled)
    names = [*by_element, "[style]"] if styled else [*by_element]
    marked = [*names, *[MARK + name for name in by_element]]
    return Selection(by_element, tuple(by_element), _any(names), _any(marked), attributes, styled)


def _any(names: list[str]) -> str:
    return f":is({','.join(names)})"


_ALWAYS_READ = frozenset(
    ("content", "href", "http-equiv", "method", "name", "rel", "srcdoc", "type")
)
_NAV_SPECIAL = ("base", "iframe", "meta")
SPECIAL = (*_NAV_SPECIAL, "style")
_NAV_SELECTION = _selection(NAV_RULES, _NAV_SPECIAL)
# Cells of tables, which may have a background, are many.
_WITHOUT_BACKGROUND = tuple(rule for rule in RULES if rule.attribute != "background")
_SELECTIONS = {
    (background, forms, styled): _selection(
        (RULES if background else _WITHOUT_BACKGROUND) + FORM_RULES * forms, SPECIAL, styled
    )
    for background, forms, styled in product((False, True), repeat=3)
}


def selection_for(page: PageText, options: HtmlOptions) -> Selection:
    """What to read of this page; most pages have neither backgrounds nor style sheets."""
    if options.nav:
        return _NAV_SELECTION
    lower = page.markup.lower()
    background = b"background" in lower and _BACKGROUND(lower) is not None
    return _SELECTIONS[background, options.forms, may_hold_links(lower)]
