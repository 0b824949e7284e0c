"""The names of elements and attributes that a scan of a page looks for, as tables of numbers.

A name is its first and its last 8 bytes and its length, which tells all names apart that are here:
none has more than 16 bytes. Tables are filled to a quarter at most.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TypeAlias

from crawlrank.jobs.kernel.markup.html_tokens import BREAKOUT, RAW, TABLE_PARTS

BITS = 9
SLOTS = 1 << BITS
FACTOR = 0x9E3779B97F4A7C15  # of Fibonacci hashing
# Of the plan of a scan: how many attributes there are, and whether `style` and the words of links
# are read
ATTRIBUTES, WITH_STYLE, WITH_WORDS = range(3)
PLAN = 3
# Of its state: what is open, what was seen, the number of rows (negative if the page cannot be
# decided), whether `style` is read, how many rows are not of plain anchors, and where the contents
# of the first title begin and end (0 without one)
IN_SELECT, IN_FORM, TABLES, IN_CELL, NESTED, BODIES, BASES, FOREIGN, TEXT_ONLY = range(9)
COUNT, STYLED, TAGS, TITLE_BEGIN, TITLE_END = 9, 10, 11, 12, 13
# And of the words of links: whether they are read, whether a link is open, how many tables are in
# it, where its line begins, where the lines end, and how many have words
WORDS, IN_LINK, TABLES_IN_LINK, LINE, END, WORDED = range(14, 20)
STATE = 20
# What TEXT_ONLY says of an element of SVG that holds no tags
SHOWN_TEXT, HIDDEN_TEXT = 1, 2
DEEPEST = 64  # elements of SVG in each other
Table: TypeAlias = "array[int]"  # SLOTS rows of four: first bytes, last bytes, length, meaning

# Forms of references (scan_rows.py). OTHER_FORM is left to joining; the others have the
# directory, the host or nothing before them, or a directory above (UP and the two after it), or
# are the page itself.
OTHER_FORM, RELATIVE, ROOTED, ABSOLUTE, UP, _, _, PAGE = range(8)
MOST_UP = 3

# What the name of an element means to a scan, besides its number in the lowest 8 bits.
WANTED, KNOWN = 1 << 8, 1 << 9
IS_RAW, IS_SCRIPT, IS_PLAINTEXT, IS_STYLE = 1 << 10, 1 << 11, 1 << 12, 1 << 13
IS_SELECT, OF_SELECT, IS_SVG, UNDECIDED = 1 << 14, 1 << 15, 1 << 16, 1 << 17
IS_FORM, IS_BASE, IS_TABLE, IS_PART, IS_CELL = 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22
IS_BODY, ENDS_SVG, TEXT_IN_SVG, LINKS_IN_SVG = 1 << 23, 1 << 24, 1 << 25, 1 << 26
IS_NOTHING, IS_IMAGE, IS_ANCHOR = 1 << 27, 1 << 28, 1 << 29
MATTERS, END_MATTERS = 1 << 30, 1 << 31  # outside SVG and select
IS_META, IS_TITLE = 1 << 32, 1 << 33
HAS_ALT, IS_SHOWN, IS_HIDDEN = 1 << 34, 1 << 35, 1 << 36
HAS_TEXT = IS_RAW | IS_SCRIPT | IS_PLAINTEXT

_HIDDEN = (b"iframe", b"noembed", b"noframes", b"script", b"style")  # contents that nobody sees
_MEANINGS = {
    IS_RAW: RAW - {b"script"},
    IS_SCRIPT: (b"script",),
    IS_PLAINTEXT: (b"plaintext",),
    IS_STYLE: (b"style",),
    IS_SELECT: (b"select",),
    OF_SELECT: (b"option", b"optgroup"),
    IS_SVG: (b"svg",),
    # A template's contents are not of the page; a frameset replaces the body; MathML has rules of
    # its own.
    UNDECIDED: (b"template", b"frameset", b"math"),
    IS_FORM: (b"form",),
    IS_BASE: (b"base",),
    IS_TABLE: (b"table",),
    IS_PART: TABLE_PARTS,
    IS_CELL: (b"td", b"th", b"caption"),
    IS_BODY: (b"html", b"head", b"body"),  # a second tag means little
    ENDS_SVG: BREAKOUT | {b"font", b"foreignobject"},
    TEXT_IN_SVG: (b"title", b"desc", *_HIDDEN),
    LINKS_IN_SVG: (b"a", b"image", b"use"),
    IS_NOTHING: (b"frame",),  # outside a frameset
    IS_IMAGE: (b"image",),  # outside SVG it is an `img`, of which lexbor makes none in a table
    IS_ANCHOR: (b"a",),
    IS_META: (b"meta",),
    IS_TITLE: (b"title",),
    HAS_ALT: (b"img", b"image"),
    IS_SHOWN: (b"plaintext", b"textarea", b"title", b"xmp"),  # of those with HAS_TEXT
    IS_HIDDEN: _HIDDEN,
}


def element_table(wanted: Mapping[str, int], *, tables: bool) -> Table:
    """wanted: the number of each element whose attributes are read. tables: whether attributes of
    parts of tables are among these."""
    meanings: dict[bytes, int] = {}
    for meaning, elements in _MEANINGS.items():
        for element in elements:
            meanings[element] = meanings.get(element, KNOWN) | meaning
    for name, number in wanted.items():
        element = name.encode()
        meanings[element] = meanings.get(element, KNOWN) | WANTED | number
    both = IS_SELECT | (IS_FORM if "form" in wanted else 0)
    both |= IS_FORM | IS_TABLE | IS_PART if tables else 0
    starts = both | IS_IMAGE | WANTED | HAS_TEXT | IS_SVG | UNDECIDED
    for element, meaning in meanings.items():
        matters = MATTERS * bool(meaning & starts) | END_MATTERS * bool(meaning & both)
        meanings[element] = meaning | matters
    return _table(meanings)


def attribute_table(attributes: Mapping[str, int]) -> Table:
    """attributes: the number of each, from 0; the table has it plus 1."""
    return _table({name.encode(): number + 1 for name, number in attributes.items()})


def _table(meanings: Mapping[bytes, int]) -> Table:
    table = array("Q", bytes(SLOTS * 4 * 8))
    for name, meaning in meanings.items():
        last = int.from_bytes(name[-8:], "big")
        slot = (last * FACTOR) % 2**64 >> 64 - BITS
        while table[4 * slot + 3]:
            slot = (slot + 1) % SLOTS
        first = int.from_bytes(name[:8], "big")
        table[4 * slot : 4 * slot + 4] = array("Q", [first, last, len(name), meaning])
    return table
